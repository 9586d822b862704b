import { type Parts, zipParts } from '../../sheets/workbook.ts'

const transitionalRelationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const transitionalMain = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
export const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'

export interface BookSheet {
  name: string
  /** XML inside the element `worksheet`. */
  content: string
  state?: string
}

export interface Book {
  sheets: BookSheet[]
  /** The XML inside each shared string (the elements `si`). */
  strings?: string[]
  /** XML inside the element `styleSheet`. */
  styles?: string
  /** XML before the element `sheets` of the workbook. */
  before?: string
  /** XML after the element `sheets`. */
  after?: string
  /** Attributes of the elements `worksheet` and `workbook`, which declare namespaces. */
  namespaces?: string
  otherParts?: Parts
  /** The namespaces of the relationships and of the sheets. Without them, those of Transitional Open XML. */
  relationshipsNamespace?: string
  mainNamespace?: string
}

/** Creates a workbook whose parts are in the order in which Excel and similar programs write them. */
export function createBook({
  sheets,
  strings = [],
  styles = '',
  before = '',
  after = '',
  namespaces = '',
  otherParts = {},
  relationshipsNamespace = transitionalRelationships,
  mainNamespace = transitionalMain,
}: Book) {
  const id = (at: number): string => `rId${String(at + 1)}`
  const partPath = (at: number): string => `worksheets/sheet${String(at + 1)}.xml`
  const relationship = (key: string, kind: string, target: string): string =>
    `<Relationship Id="${key}" Type="${relationshipsNamespace}/${kind}" Target="${target}"/>`
  const relations = [
    ...sheets.map((_, at) => relationship(id(at), 'worksheet', partPath(at))),
    relationship('rIdS', 'styles', 'styles.xml'),
    ...(strings.length === 0 ? [] : [relationship('rIdT', 'sharedStrings', 'sharedStrings.xml')]),
  ]
  const sheetElements = sheets.map(
    ({ name, state }, at) =>
      `<sheet name="${name}" sheetId="${String(at + 1)}"${state === undefined ? '' : ` state="${state}"`} r:id="${id(at)}"/>`,
  )
  const parts: Parts = {
    '[Content_Types].xml': `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    '_rels/.rels': `${xml}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relationship('rId3', 'extended-properties', 'docProps/app.xml')}${relationship('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `${xml}<workbook xmlns="${mainNamespace}" xmlns:r="${relationshipsNamespace}"${namespaces}>${before}<sheets>${sheetElements.join('')}</sheets>${after}</workbook>`,
    'xl/_rels/workbook.xml.rels': `${xml}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join('')}</Relationships>`,
    'xl/styles.xml': `${xml}<styleSheet xmlns="${mainNamespace}">${styles}</styleSheet>`,
  }
  for (const [at, { content }] of sheets.entries()) {
    parts[`xl/${partPath(at)}`] =
      `${xml}<worksheet xmlns="${mainNamespace}" xmlns:r="${relationshipsNamespace}"${namespaces}>${content}</worksheet>`
  }
  if (strings.length > 0) {
    const items = strings.map((inside) => `<si>${inside}</si>`).join('')
    parts['xl/sharedStrings.xml'] =
      `${xml}<sst xmlns="${mainNamespace}" count="${String(strings.length)}" uniqueCount="${String(strings.length)}">${items}</sst>`
  }
  return zipParts({ ...parts, ...otherParts })
}

/** Returns the XML of a cell with the shared string at `index`. */
export const sharedTextCell = (name: string, index: number, style = ''): string =>
  `<c r="${name}"${style === '' ? '' : ` s="${style}"`} t="s"><v>${String(index)}</v></c>`

export const plainTexts = (...texts: string[]): string[] => texts.map((each) => `<t>${each}</t>`)

/** Styles 0 to 5: General, a short date, text (@), a custom date, a phone number, and text with a quote prefix. */
export const excelStyles =
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="dd/mm/yyyy;@"/><numFmt numFmtId="165" formatCode="0000\\ 000\\ 000"/></numFmts>' +
  '<fonts count="1"><font><sz val="11"/><name val="Aptos Narrow"/><family val="2"/></font></fonts>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
  '<cellXfs count="6"><xf numFmtId="0" xfId="0"/><xf numFmtId="14" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" xfId="0" quotePrefix="1"/></cellXfs>'
