import { posix } from 'node:path'

import { beyondLimitError, limits, refusal } from '../sheet.ts'
import {
  type Archive,
  type Attributes,
  isPropertySet,
  isTrue,
  readXml,
  requireFewSheets,
  unescapeText,
} from '../book.ts'

export interface SheetPart {
  name: string
  part: string
  isHidden: boolean
}

export interface WorkbookParts {
  sheets: SheetPart[]
  from1904: boolean
  /**
   * Whether the workbook was saved for formulas to be computed when it is opened: their saved values are not valid.
   */
  isUncomputed: boolean
  /** Names of the parts with the shared strings, the styles and the theme; undefined for a part that is missing. */
  stringsPart: string | undefined
  stylesPart: string | undefined
  themePart: string | undefined
}

/** Finds the parts of a workbook. Throws an InvalidInputError if the archive is not an XLSX workbook. */
export async function findWorkbookParts(archive: Archive, name: string): Promise<WorkbookParts> {
  const rootRelations = await readRelations(archive, '', name)
  const workbook = [...rootRelations.values()].find(
    ({ type, isExternal }) => !isExternal && type.endsWith('/officeDocument'),
  )?.target
  if (workbook === undefined || !archive.has(workbook)) throw notWorkbookError(archive, name)
  if (workbook.endsWith('.bin')) {
    throw refusal(name, 'it is a binary workbook (.xlsb)', 'Save it as "Excel workbook (.xlsx)".')
  }
  const workbookRelations = await readRelations(archive, workbook, name)
  const sheets: SheetPart[] = []
  let from1904 = false
  let isUncomputed = false
  await readXml(archive, workbook, name, {
    open(tag, attributes) {
      if (tag === 'workbookPr') from1904 = isTrue(attributes['date1904'])
      if (tag === 'calcPr') isUncomputed = isTrue(attributes['fullCalcOnLoad'])
      if (tag !== 'sheet') return
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1]
      const relation = workbookRelations.get(id ?? '')
      if (relation?.isExternal !== false || !relation.type.endsWith('/worksheet')) return
      const { name: title = '', state = 'visible' } = attributes
      sheets.push({ name: unescapeText(title), part: relation.target, isHidden: state !== 'visible' })
      requireFewSheets(sheets.length, name)
    },
  })
  const partOf = (kind: string): string | undefined =>
    [...workbookRelations.values()].find(({ type, target }) => type.endsWith(kind) && archive.has(target))
      ?.target
  return {
    sheets,
    from1904,
    isUncomputed,
    stringsPart: partOf('/sharedStrings'),
    stylesPart: partOf('/styles'),
    themePart: partOf('/theme'),
  }
}

export interface Relation {
  type: string
  target: string
  /** Whether the target is an address outside the workbook. */
  isExternal: boolean
}

/** Reads the relations of the part `source`, by id; internal targets are names of parts. */
export async function readRelations(
  archive: Archive,
  source: string,
  name: string,
): Promise<Map<string, Relation>> {
  const part = posix.join(posix.dirname(source), '_rels', `${posix.basename(source)}.rels`)
  const relations = new Map<string, Relation>()
  if (!archive.has(part)) return relations
  await readXml(archive, part, name, {
    open(tag, { Id = '', Type = '', Target = '', TargetMode = '' }) {
      if (tag !== 'Relationship') return
      const isExternal = TargetMode === 'External'
      const targetPart = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(source), Target)
      relations.set(Id, { type: Type, target: isExternal ? Target : targetPart, isExternal })
      if (relations.size > limits.relations) {
        throw beyondLimitError(
          name,
          `its part ${part} has more than ${limits.relations} relations, the limit`,
        )
      }
    },
  })
  return relations
}

function notWorkbookError(archive: Archive, name: string) {
  const hasPart = (text: string): boolean => archive.names().some((part) => part.includes(text))
  const [what, hint] = hasPart('Index/')
    ? ['it is a Numbers file', 'Export it to Excel from the File menu.']
    : ['it is a zip archive, not a workbook', 'Unpack it and give the file inside.']
  return refusal(name, what, hint)
}

export interface SharedStrings {
  texts: string[]
  /** Indexes of the texts of which any span is struck through. */
  struckTexts: ReadonlySet<number>
  /** Colours of the spans of texts that set one, by index of the text. */
  spanColours: ReadonlyMap<number, readonly Attributes[]>
  /** Whether a span of any text sets a font. */
  hasRichText: boolean
}

/** Reads the shared strings of the cells. The spans of rich text are joined, and phonetic guides are left out. */
export async function readSharedStrings(
  archive: Archive,
  part: string | undefined,
  name: string,
): Promise<SharedStrings> {
  const texts: string[] = []
  const struckTexts = new Set<number>()
  const colours = new SpanColours()
  let hasRichText = false
  if (part === undefined) return { texts, struckTexts, spanColours: colours.byText, hasRichText }
  let text = ''
  let isInText = false
  let phoneticDepth = 0
  await readXml(archive, part, name, {
    open(tag, attributes) {
      if (tag === 'si') text = ''
      else if (tag === 'rPh') phoneticDepth += 1
      else if (tag === 't') isInText = phoneticDepth === 0
      else if (tag === 'rPr') hasRichText = true
      else if (tag === 'strike' && isPropertySet(attributes)) struckTexts.add(texts.length)
      else if (tag === 'color') colours.add(texts.length, attributes)
    },
    close(tag) {
      if (tag === 'si') texts.push(unescapeText(text))
      else if (tag === 'rPh') phoneticDepth -= 1
      else if (tag === 't') isInText = false
      if (texts.length > limits.sharedTexts) {
        throw beyondLimitError(name, `its part ${part} has more than ${limits.sharedTexts} texts, the limit`)
      }
    },
    text(piece) {
      if (isInText) text += piece
    },
  })
  return { texts, struckTexts, spanColours: colours.byText, hasRichText }
}

/** Collects the colours of the spans of each text. */
class SpanColours {
  readonly byText = new Map<number, readonly Attributes[]>()
  /** Equal lists of colours are stored once, because there may be millions of texts. */
  readonly #sharedLists = new Map<string, readonly Attributes[]>()

  add(text: number, { rgb, theme, indexed, tint }: Attributes): void {
    const existing = this.byText.get(text) ?? []
    const isSame = (each: Attributes): boolean =>
      each['rgb'] === rgb && each['theme'] === theme && each['indexed'] === indexed && each['tint'] === tint
    if (existing.length === maxColours || existing.some(isSame)) return
    const attributes = Object.entries({ rgb, theme, indexed, tint }).filter(
      ([, value]) => value !== undefined,
    )
    const extended = [...existing, Object.fromEntries(attributes) as Attributes]
    const key = JSON.stringify(extended)
    const sharedList = this.#sharedLists.get(key) ?? extended
    this.#sharedLists.set(key, sharedList)
    this.byText.set(text, sharedList)
    if (this.#sharedLists.size > maxColourLists) throw new Error('its texts have too many colours')
  }
}

/** Colours of one text; a text with more is a picture made of text. */
const maxColours = 20
const maxColourLists = 10_000
