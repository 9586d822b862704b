import { SaxesParser } from 'saxes'

import { InvalidInputError } from '../../errors/kinds.ts'
import { limits } from '../limits.ts'
import { beyondLimit, refusal } from '../refusal.ts'
import type { Archive } from './archive.ts'

export type Attributes = Readonly<Record<string, string>>

export function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true'
}

/** A property that is there and not switched off. */
export function isOn({ val }: Attributes): boolean {
  return val === undefined || isTrue(val)
}

/** What is listened to. Elements of other namespaces are passed over, with their names and ends. */
export interface XmlHandlers {
  /** Namespaces that are listened to, and the prefix their names come with. */
  spaces?: ReadonlyMap<string, string>
  open?: (name: string, attributes: Attributes) => void
  close?: (name: string) => void
  text?: (text: string) => void
}

/** Of workbooks and their relations, transitional and strict; names come bare. */
const workbookSpaces: ReadonlyMap<string, string> = new Map(
  [
    'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
    'http://purl.oclc.org/ooxml/spreadsheetml/main',
    'http://schemas.openxmlformats.org/package/2006/relationships',
  ].map((space) => [space, '']),
)

/** Of sheets: rules of Excel 2010 and later besides. */
export const sheetSpaces: ReadonlyMap<string, string> = new Map([
  ...workbookSpaces,
  ['http://schemas.microsoft.com/office/spreadsheetml/2009/9/main', 'x14:'],
  ['http://schemas.microsoft.com/office/excel/2006/main', 'xm:'],
])

/** Stops the reading from inside a handler. */
export class EnoughRead extends Error {}

/** Reads a part to its end. */
export async function readXml(
  archive: Archive,
  part: string,
  name: string,
  handlers: XmlHandlers & { largest?: number },
): Promise<void> {
  for await (const _ of xmlChunks(archive, part, name, handlers, handlers.largest));
}

/** The same in steps: gives control back after each chunk. No document type is taken, so no entity grows. */
export async function* xmlChunks(
  archive: Archive,
  part: string,
  name: string,
  handlers: XmlHandlers,
  largest?: number,
): AsyncGenerator<void> {
  const size = new XmlSize(part, name)
  const parser = listening(handlers, size)
  let decoder: InstanceType<typeof TextDecoder> | undefined
  try {
    for await (const bytes of archive.read(part, largest)) {
      decoder ??= new TextDecoder(encodingOf(bytes), { fatal: true })
      const text = decoder.decode(bytes, { stream: true })
      parser.write(text)
      size.countCharacters(text.length)
      yield
    }
    parser.write(decoder?.decode() ?? '')
    parser.close()
    yield
  } catch (error) {
    if (error instanceof InvalidInputError || error instanceof EnoughRead) throw error
    const why = error instanceof Error ? error.message.slice(0, 120) : 'unknown'
    throw refusal(
      name,
      `its part ${part} is not sound XML (${why})`,
      'Open it in a spreadsheet program and save it again.',
      error,
    )
  }
}

/** Refuses what the parser would collect without end before it hands it over. */
class XmlSize {
  readonly #part: string
  readonly #name: string
  #attributes = 0
  #characters = 0

  constructor(part: string, name: string) {
    this.#part = part
    this.#name = name
  }

  /** The parser has handed over what it had collected. */
  reset(): void {
    this.#attributes = 0
    this.#characters = 0
  }

  countAttribute(): void {
    this.#attributes += 1
    this.#characters = 0
    this.#check('an element', 'attributes', this.#attributes, limits.attributes)
  }

  /** Characters that the parser was given after it handed over something, or more. */
  countCharacters(count: number): void {
    this.#characters += count
    this.#check('a text', 'characters', this.#characters, limits.xmlCharacters)
  }

  #check(what: string, unit: string, count: number, max: number): void {
    if (count > max)
      throw beyondLimit(
        this.#name,
        `its part ${this.#part} has ${what} with more than ${String(max)} ${unit}, the limit`,
      )
  }
}

function listening(handlers: XmlHandlers, size: XmlSize): SaxesParser<{ xmlns: false }> {
  const { spaces = workbookSpaces, open, close, text } = handlers
  const parser = new SaxesParser({ position: false, xmlns: false })
  const names = new Names(spaces)
  let depth = 0
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw new Error('a document type has no place in a workbook')
  })
  parser.on('attribute', () => size.countAttribute())
  parser.on('opentag', (tag) => {
    size.reset()
    depth += 1
    if (depth > limits.nesting) {
      throw new Error(`elements are nested deeper than ${String(limits.nesting)} levels`)
    }
    names.declare(tag.attributes, depth)
    const own = names.own(tag.name)
    if (own !== undefined) open?.(own, tag.attributes)
  })
  parser.on('closetag', (tag) => {
    size.reset()
    const own = names.own(tag.name)
    if (own !== undefined) close?.(own)
    names.undeclare(depth)
    depth -= 1
  })
  if (text !== undefined) {
    parser.on('text', text)
    parser.on('cdata', text)
  }
  return parser
}

/** Which namespace a name is of, at a cost that a million cells can bear. */
class Names {
  readonly #spaces: ReadonlyMap<string, string>
  /** By prefix, '' the default one: what is declared now. */
  readonly #declared = new Map<string, string>()
  /** What was declared before, to go back to at the end of an element. */
  readonly #before: { depth: number; prefix: string; space: string | undefined }[] = []
  readonly #known = new Map<string, string | undefined>()

  constructor(spaces: ReadonlyMap<string, string>) {
    this.#spaces = spaces
  }

  /** The name with the prefix it is listened to by; undefined for one of another namespace. */
  own(name: string): string | undefined {
    if (this.#known.has(name)) return this.#known.get(name)
    const colon = name.indexOf(':')
    const space = this.#declared.get(colon === -1 ? '' : name.slice(0, colon))
    // What is declared nowhere is taken by its bare name, as it always was.
    const prefix = space === undefined ? '' : this.#spaces.get(space)
    const own = prefix === undefined ? undefined : prefix + name.slice(colon + 1)
    if (this.#known.size < 1000) this.#known.set(name, own)
    return own
  }

  declare(attributes: Attributes, depth: number): void {
    for (const key in attributes) {
      if (!key.startsWith('xmlns')) continue
      const prefix = key === 'xmlns' ? '' : key.startsWith('xmlns:') ? key.slice(6) : undefined
      if (prefix === undefined) continue
      this.#before.push({ depth, prefix, space: this.#declared.get(prefix) })
      this.#declared.set(prefix, attributes[key] ?? '')
      this.#known.clear()
    }
  }

  undeclare(depth: number): void {
    for (let last = this.#before.at(-1); last?.depth === depth; last = this.#before.at(-1)) {
      this.#before.pop()
      if (last.space === undefined) this.#declared.delete(last.prefix)
      else this.#declared.set(last.prefix, last.space)
      this.#known.clear()
    }
  }
}

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}
