import { posix } from 'node:path'

import { limits } from '../limits.ts'
import { refusal } from '../refusal.ts'
import type { Archive } from './archive.ts'
import { isDateFormat } from './dates.ts'
import { unescaped } from './escapes.ts'
import { type Attributes, readXml } from './xml.ts'

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
}

/** Where the parts of a workbook are. */
export async function workbookParts(archive: Archive, name: string): Promise<WorkbookParts> {
  const root = await relations(archive, '', name)
  const workbook = [...root.values()].find(({ type }) => type.endsWith('/officeDocument'))?.target
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
      if (relation?.type.endsWith('/worksheet') !== true) return
      const { name: title = '', state = 'visible' } = attributes
      sheets.push({ name: unescaped(title), part: relation.target, hidden: state !== 'visible' })
    },
  })
  const partOf = (kind: string): string | undefined =>
    [...related.values()].find(({ type, target }) => type.endsWith(kind) && archive.has(target))?.target
  return { sheets, from1904, uncomputed, strings: partOf('/sharedStrings'), styles: partOf('/styles') }
}

interface Relation {
  type: string
  target: string
}

/** What a part refers to, by id; targets as names of parts. */
async function relations(archive: Archive, of: string, name: string): Promise<Map<string, Relation>> {
  const part = posix.join(posix.dirname(of), '_rels', `${posix.basename(of)}.rels`)
  const found = new Map<string, Relation>()
  if (!archive.has(part)) return found
  await readXml(archive, part, name, {
    open(tag, { Id = '', Type = '', Target = '', TargetMode = '' }) {
      if (tag !== 'Relationship' || TargetMode === 'External') return
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(of), Target)
      found.set(Id, { type: Type, target })
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

export interface CellFormat {
  code: string
  date: boolean
  struck: boolean
}

/** The format of each cell style, by its index. */
export async function cellFormats(
  archive: Archive,
  part: string | undefined,
  name: string,
): Promise<CellFormat[]> {
  if (part === undefined) return []
  const codes = new Map<number, string>()
  const formats: CellFormat[] = []
  const struckFonts: boolean[] = []
  let within: 'fonts' | 'cellXfs' | undefined
  await readXml(archive, part, name, {
    open(tag, attributes) {
      if (tag === 'fonts' || tag === 'cellXfs') within = tag
      else if (tag === 'numFmt') codes.set(idOf(attributes['numFmtId']), attributes['formatCode'] ?? '')
      else if (tag === 'font' && within === 'fonts') struckFonts.push(false)
      else if (tag === 'strike' && within === 'fonts') struckFonts[struckFonts.length - 1] = isOn(attributes)
      else if (tag === 'xf' && within === 'cellXfs') {
        const id = idOf(attributes['numFmtId'])
        formats.push({
          ...formatOf(id, codes.get(id)),
          struck: struckFonts[idOf(attributes['fontId'])] === true,
        })
      }
      if (formats.length > limits.styles) throw new Error('it has too many styles')
    },
    close(tag) {
      if (tag === within) within = undefined
    },
  })
  return formats
}

const idOf = (text = '0'): number => Number(text)

function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true'
}

/** A property that is there and not switched off. */
function isOn({ val }: Attributes): boolean {
  return val === undefined || isTrue(val)
}

/** Built-in formats that have a code of their own in every language. */
const builtInCodes: Record<number, string> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd hh:mm',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  49: '@',
}

function formatOf(id: number, code: string | undefined): Omit<CellFormat, 'struck'> {
  const date = isDateFormat(id, code ?? '')
  return { code: code ?? builtInCodes[id] ?? (date ? 'yyyy-mm-dd' : 'General'), date }
}

export interface CommonTexts {
  texts: string[]
  /** Those of which a part is struck through. */
  struck: ReadonlySet<number>
}

/** The texts that cells have in common: rich text joined, how it is to be read aloud left out. */
export async function sharedStrings(
  archive: Archive,
  part: string | undefined,
  name: string,
): Promise<CommonTexts> {
  const texts: string[] = []
  const struck = new Set<number>()
  if (part === undefined) return { texts, struck }
  let text = ''
  let inText = false
  let aloud = 0
  await readXml(archive, part, name, {
    open(tag, attributes) {
      if (tag === 'si') text = ''
      else if (tag === 'rPh') aloud += 1
      else if (tag === 't') inText = aloud === 0
      else if (tag === 'strike' && isOn(attributes)) struck.add(texts.length)
    },
    close(tag) {
      if (tag === 'si') texts.push(unescaped(text))
      else if (tag === 'rPh') aloud -= 1
      else if (tag === 't') inText = false
      if (texts.length > limits.texts) throw new Error('it has too many texts')
    },
    text(piece) {
      if (inText) text += piece
    },
  })
  return { texts, struck }
}
