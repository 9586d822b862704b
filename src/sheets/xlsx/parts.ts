import { posix } from 'node:path'

import { beyondLimit, limits, refusal } from '../sheet.ts'
import {
  type Archive,
  type Attributes,
  isOn,
  isTrue,
  readXml,
  requireFewSheets,
  unescapeText,
} from '../book.ts'

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
      sheets.push({ name: unescapeText(title), part: relation.target, hidden: state !== 'visible' })
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
        throw beyondLimit(name, `its part ${part} has more than ${limits.relations} relations, the limit`)
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
      if (tag === 'si') texts.push(unescapeText(text))
      else if (tag === 'rPh') aloud -= 1
      else if (tag === 't') inText = false
      if (texts.length > limits.texts) {
        throw beyondLimit(name, `its part ${part} has more than ${limits.texts} texts, the limit`)
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
  /** What many texts have in common is stored once: there may be millions of them. */
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
