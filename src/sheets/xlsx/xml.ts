import { posix } from 'node:path'

import { SaxesParser } from 'saxes'

import { escapeXml } from '../../domain/wording/escape-xml.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { beyondLimit, limits, refusal } from '../limits.ts'
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
interface XmlHandlers {
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
class EnoughRead extends Error {}

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

/**
 * ST_Xstring (ECMA-376 part 1, 22.9.2.19): what XML cannot hold is written `_xHHHH_`, and so is the
 * underscore of a text that looks like that itself.
 */
const escape = /_x([\dA-Fa-f]{4})_/g

export function unescaped(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(escape, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

const unsafe = /_(?=x[\dA-Fa-f]{4}_)|(?![\t\n])\p{Cc}|\p{Cs}|[\uFFFE\uFFFF]/gu

/** A text as element content or in a quoted attribute. */
export function escaped(text: string): string {
  return escapeXml(
    text.replaceAll(
      unsafe,
      (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    ),
  )
}

export interface SheetPart {
  name: string
  part: string
  hidden: boolean
}

export interface WorkbookParts {
  sheets: SheetPart[]
  from1904: boolean
  /** Whether formulas were saved for the program that opens them to compute: their values are no one's. */
  uncomputed: boolean
  strings: string | undefined
  styles: string | undefined
  theme: string | undefined
}

/** Where the parts of a workbook are. */
export async function workbookParts(archive: Archive, name: string): Promise<WorkbookParts> {
  const root = await relations(archive, '', name)
  const workbook = [...root.values()].find(
    ({ type, external }) => !external && type.endsWith('/officeDocument'),
  )?.target
  if (workbook === undefined || !archive.has(workbook)) throw notWorkbook(archive, name)
  if (workbook.endsWith('.bin')) {
    throw refusal(name, 'it is a binary workbook (.xlsb)', 'Save it as "Excel workbook (.xlsx)".')
  }
  const related = await relations(archive, workbook, name)
  const sheets: SheetPart[] = []
  let from1904 = false
  let uncomputed = false
  await readXml(archive, workbook, name, {
    open(tag, attributes) {
      if (tag === 'workbookPr') from1904 = isTrue(attributes['date1904'])
      if (tag === 'calcPr') uncomputed = isTrue(attributes['fullCalcOnLoad'])
      if (tag !== 'sheet') return
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1]
      const relation = related.get(id ?? '')
      if (relation?.external !== false || !relation.type.endsWith('/worksheet')) return
      const { name: title = '', state = 'visible' } = attributes
      sheets.push({ name: unescaped(title), part: relation.target, hidden: state !== 'visible' })
      requireFewSheets(sheets.length, name)
    },
  })
  const partOf = (kind: string): string | undefined =>
    [...related.values()].find(({ type, target }) => type.endsWith(kind) && archive.has(target))?.target
  return {
    sheets,
    from1904,
    uncomputed,
    strings: partOf('/sharedStrings'),
    styles: partOf('/styles'),
    theme: partOf('/theme'),
  }
}

export function requireFewSheets(count: number, name: string): void {
  if (count > limits.sheets)
    throw beyondLimit(name, `it has more than ${String(limits.sheets)} sheets, the limit`)
}

export interface Relation {
  type: string
  target: string
  /** Whether it leads out of the workbook; the target is an address then. */
  external: boolean
}

/** What a part refers to, by id; targets as names of parts. */
export async function relations(archive: Archive, of: string, name: string): Promise<Map<string, Relation>> {
  const part = posix.join(posix.dirname(of), '_rels', `${posix.basename(of)}.rels`)
  const found = new Map<string, Relation>()
  if (!archive.has(part)) return found
  await readXml(archive, part, name, {
    open(tag, { Id = '', Type = '', Target = '', TargetMode = '' }) {
      if (tag !== 'Relationship') return
      const external = TargetMode === 'External'
      const inside = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(of), Target)
      found.set(Id, { type: Type, target: external ? Target : inside, external })
      if (found.size > limits.relations) {
        throw beyondLimit(
          name,
          `its part ${part} has more than ${String(limits.relations)} relations, the limit`,
        )
      }
    },
  })
  return found
}

function notWorkbook(archive: Archive, name: string) {
  const has = (text: string): boolean => archive.names().some((part) => part.includes(text))
  const [what, hint] = has('Index/')
    ? ['it is a Numbers file', 'Export it to Excel from the File menu.']
    : ['it is a zip archive, not a workbook', 'Unpack it and give the file inside.']
  return refusal(name, what, hint)
}

export interface CommonTexts {
  texts: string[]
  /** Those of which a part is struck through. */
  struck: ReadonlySet<number>
  /** Colours of parts of texts, as far as they have one of their own. */
  colours: ReadonlyMap<number, readonly Attributes[]>
  /** Whether a part of any of them has a font of its own. */
  rich: boolean
}

/** The texts that cells have in common: rich text joined, how it is to be read aloud left out. */
export async function sharedStrings(
  archive: Archive,
  part: string | undefined,
  name: string,
): Promise<CommonTexts> {
  const texts: string[] = []
  const struck = new Set<number>()
  const colours = new Colours()
  let rich = false
  if (part === undefined) return { texts, struck, colours: colours.of, rich }
  let text = ''
  let inText = false
  let aloud = 0
  await readXml(archive, part, name, {
    open(tag, attributes) {
      if (tag === 'si') text = ''
      else if (tag === 'rPh') aloud += 1
      else if (tag === 't') inText = aloud === 0
      else if (tag === 'rPr') rich = true
      else if (tag === 'strike' && isOn(attributes)) struck.add(texts.length)
      else if (tag === 'color') colours.note(texts.length, attributes)
    },
    close(tag) {
      if (tag === 'si') texts.push(unescaped(text))
      else if (tag === 'rPh') aloud -= 1
      else if (tag === 't') inText = false
      if (texts.length > limits.texts) {
        throw beyondLimit(name, `its part ${part} has more than ${String(limits.texts)} texts, the limit`)
      }
    },
    text(piece) {
      if (inText) text += piece
    },
  })
  return { texts, struck, colours: colours.of, rich }
}

/** Colours of the parts of a text. */
class Colours {
  readonly of = new Map<number, readonly Attributes[]>()
  /** What many texts have in common is kept once: there may be millions of them. */
  readonly #colour = new Map<string, readonly Attributes[]>()

  note(text: number, { rgb, theme, indexed, tint }: Attributes): void {
    const own = this.of.get(text) ?? []
    const same = (each: Attributes): boolean =>
      each['rgb'] === rgb && each['theme'] === theme && each['indexed'] === indexed && each['tint'] === tint
    if (own.length === maxColours || own.some(same)) return
    const attributes = Object.entries({ rgb, theme, indexed, tint }).filter(
      ([, value]) => value !== undefined,
    )
    const all = [...own, Object.fromEntries(attributes) as Attributes]
    const key = JSON.stringify(all)
    const colour = this.#colour.get(key) ?? all
    this.#colour.set(key, colour)
    this.of.set(text, colour)
    if (this.#colour.size > maxColourings) throw new Error('its texts have too many colours')
  }
}

/** Of one text; one with more is a picture of it. */
const maxColours = 20
const maxColourings = 10_000
