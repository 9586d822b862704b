import { type Parts, zipParts } from '../../sheets/workbook.ts'

const transitional = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const transitionalMain = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
export const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'

export interface BookSheet {
  name: string
  /** Inside of `worksheet`. */
  inside: string
  state?: string
}

export interface Book {
  sheets: BookSheet[]
  /** Inside of each `si`. */
  strings?: string[]
  /** Inside of `styleSheet`. */
  styles?: string
  /** Stands before `sheets` in the workbook. */
  before?: string
  /** Stands after it. */
  after?: string
  /** Attributes of `worksheet` and `workbook`. */
  spaces?: string
  more?: Parts
  /** Namespaces of relationships and of the sheets. */
  family?: string
  main?: string
}

/** A workbook in the order of parts that Excel and similar programs write. */
export function book({
  sheets,
  strings = [],
  styles = '',
  before = '',
  after = '',
  spaces = '',
  more = {},
  family: office = transitional,
  main = transitionalMain,
}: Book) {
  const id = (at: number): string => `rId${String(at + 1)}`
  const part = (at: number): string => `worksheets/sheet${String(at + 1)}.xml`
  const relation = (key: string, kind: string, target: string): string =>
    `<Relationship Id="${key}" Type="${office}/${kind}" Target="${target}"/>`
  const relations = [
    ...sheets.map((_, at) => relation(id(at), 'worksheet', part(at))),
    relation('rIdS', 'styles', 'styles.xml'),
    ...(strings.length === 0 ? [] : [relation('rIdT', 'sharedStrings', 'sharedStrings.xml')]),
  ]
  const listed = sheets.map(
    ({ name, state }, at) =>
      `<sheet name="${name}" sheetId="${String(at + 1)}"${state === undefined ? '' : ` state="${state}"`} r:id="${id(at)}"/>`,
  )
  const parts: Parts = {
    '[Content_Types].xml': `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    '_rels/.rels': `${xml}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation('rId3', 'extended-properties', 'docProps/app.xml')}${relation('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `${xml}<workbook xmlns="${main}" xmlns:r="${office}"${spaces}>${before}<sheets>${listed.join('')}</sheets>${after}</workbook>`,
    'xl/_rels/workbook.xml.rels': `${xml}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join('')}</Relationships>`,
    'xl/styles.xml': `${xml}<styleSheet xmlns="${main}">${styles}</styleSheet>`,
  }
  for (const [at, { inside }] of sheets.entries()) {
    parts[`xl/${part(at)}`] =
      `${xml}<worksheet xmlns="${main}" xmlns:r="${office}"${spaces}>${inside}</worksheet>`
  }
  if (strings.length > 0) {
    const each = strings.map((inside) => `<si>${inside}</si>`).join('')
    parts['xl/sharedStrings.xml'] =
      `${xml}<sst xmlns="${main}" count="${String(strings.length)}" uniqueCount="${String(strings.length)}">${each}</sst>`
  }
  return zipParts({ ...parts, ...more })
}

/** A cell of shared text. */
export const text = (name: string, index: number, style = ''): string =>
  `<c r="${name}"${style === '' ? '' : ` s="${style}"`} t="s"><v>${String(index)}</v></c>`

export const plainStrings = (...texts: string[]): string[] => texts.map((each) => `<t>${each}</t>`)

/** Number formats by style: General, a short date, @, a date of its own, and a phone's. */
export const excelStyles =
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="dd/mm/yyyy;@"/><numFmt numFmtId="165" formatCode="0000\\ 000\\ 000"/></numFmts>' +
  '<fonts count="1"><font><sz val="11"/><name val="Aptos Narrow"/><family val="2"/></font></fonts>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="6"><xf numFmtId="0" xfId="0"/><xf numFmtId="14" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" xfId="0" quotePrefix="1"/></cellXfs>'
