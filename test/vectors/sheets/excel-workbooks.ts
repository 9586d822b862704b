import { createBook, excelStyles, plainTexts, sharedTextCell, xml } from './parts.ts'
import type { Vector } from './vector.ts'

const namespaces =
  ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="x14ac" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"'
const workbookViews =
  '<fileVersion appName="xl" lastEdited="7" lowestEdited="7" rupBuild="28526"/><workbookPr defaultThemeVersion="202300"/><bookViews><workbookView xWindow="-108" yWindow="-108" windowWidth="23256" windowHeight="12456"/></bookViews>'
const sheetViews =
  '<sheetPr filterMode="1"/><dimension ref="A1:F5"/><sheetViews><sheetView tabSelected="1" workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="14.4" x14ac:dyDescent="0.3"/><cols><col min="1" max="1" width="12" customWidth="1"/></cols>'
const row = (number: number, cells: string, more = ''): string =>
  `<row r="${String(number)}" spans="1:6"${more} x14ac:dyDescent="0.3">${cells}</row>`
const sheetData = (...rows: string[]): string => `${sheetViews}<sheetData>${rows.join('')}</sheetData>`
const pageMargins = '<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>'

const excelParts = { before: workbookViews, namespaces, styles: excelStyles }
const headersAndAnn = plainTexts('name', 'phone', 'Ann')
const header = row(1, sharedTextCell('A1', 0) + sharedTextCell('B1', 1))
const rowOfAnn = (cell: string): string => row(2, sharedTextCell('A2', 2) + cell)

/** Creates a vector whose cell below "phone" is `cell`, with the text that has to be read from it. */
const createCellVector = (file: string, description: string, cell: string, expected: string): Vector => ({
  file,
  description,
  bytes: () =>
    createBook({ ...excelParts, strings: headersAndAnn, sheets: [{ name: 'Sheet1', content: sheetData(header, rowOfAnn(cell)) + pageMargins }] }),
  table: [
    ['name', 'phone'],
    ['Ann', expected],
  ],
})

/** Workbooks as Excel saves them. */
export const excelWorkbooks: Vector[] = [
  {
    file: 'excel.xlsx',
    description:
      'Excel 365: shared texts, numbers, dates by style, booleans, a filter with hidden rows, styled empty rows',
    bytes: () =>
      createBook({
        ...excelParts,
        after:
          '<definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">Sheet1!$A$1:$F$4</definedName></definedNames><calcPr calcId="191029"/>',
        strings: plainTexts(
          'name',
          'phone',
          'born',
          'paid',
          'income',
          'id',
          'Zoë',
          '+61412345678',
          '007',
          'O’Neil',
        ),
        sheets: [
          {
            name: 'Sheet1',
            content: `${sheetData(
              row(1, [0, 1, 2, 3, 4, 5].map((at) => sharedTextCell(`${'ABCDEF'.charAt(at)}1`, at)).join('')),
              row(
                2,
                `${sharedTextCell('A2', 6)}${sharedTextCell('B2', 7, '2')}<c r="C2" s="1"><v>32993</v></c><c r="D2" t="b"><v>1</v></c><c r="E2"><v>85000.5</v></c>${sharedTextCell('F2', 8, '5')}`,
              ),
              row(
                3,
                `${sharedTextCell('A3', 9)}<c r="B3" s="4"><v>412345678</v></c><c r="C3" s="3"><v>36526</v></c><c r="D3" t="b"><v>0</v></c><c r="E3"><v>0.1</v></c>`,
                ' hidden="1"',
              ),
              row(4, '<c r="A4" s="2"/><c r="B4" s="2"/>'),
              row(5, '<c r="A5" s="2"/>'),
            )}<autoFilter ref="A1:F3"><filterColumn colId="0"><filters><filter val="Zoë"/></filters></filterColumn></autoFilter>${pageMargins}`,
          },
        ],
      }),
    table: [
      ['name', 'phone', 'born', 'paid', 'income', 'id'],
      ['Zoë', '+61412345678', '1990-04-30', 'true', '85000.5', '007'],
      ['O’Neil', '412345678', '2000-01-01', 'false', '0.1', ''],
    ],
  },
  {
    file: 'excel-table.xlsx',
    description: 'Excel: a table with a part of its own, and a comment',
    bytes: () =>
      createBook({
        ...excelParts,
        strings: headersAndAnn,
        sheets: [
          {
            name: 'People',
            content: `${sheetData(header, rowOfAnn('<c r="B2" t="inlineStr"><is><t>0412</t></is></c>'))}${pageMargins}<legacyDrawing r:id="rId1"/><tableParts count="1"><tablePart r:id="rId2"/></tableParts>`,
          },
        ],
        otherParts: {
          'xl/tables/table1.xml': `${xml}<table xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" id="1" name="Table1" displayName="Table1" ref="A1:B2" totalsRowShown="0"><autoFilter ref="A1:B2"/><tableColumns count="2"><tableColumn id="1" name="name"/><tableColumn id="2" name="phone"/></tableColumns></table>`,
        },
      }),
    table: [
      ['name', 'phone'],
      ['Ann', '0412'],
    ],
  },
  {
    file: 'excel-ja.xlsx',
    description: 'Excel ja-JP: names with their pronunciation, and rich text in several runs',
    bytes: () =>
      createBook({
        ...excelParts,
        strings: [
          '<t>name</t><phoneticPr fontId="1"/>',
          '<t>phone</t>',
          '<t>山田</t><rPh sb="0" eb="2"><t>ヤマダ</t></rPh><phoneticPr fontId="1"/>',
          '<r><rPr><b/><sz val="11"/></rPr><t xml:space="preserve">+81 </t></r><r><t>90</t></r>',
        ],
        sheets: [{ name: 'Sheet1', content: sheetData(header, row(2, sharedTextCell('A2', 2) + sharedTextCell('B2', 3))) + pageMargins }],
      }),
    table: [
      ['name', 'phone'],
      ['山田', '+81 90'],
    ],
  },
  {
    file: 'excel-1904.xlsx',
    description: 'old Excel for Mac: days are counted from 1904',
    bytes: () =>
      createBook({
        ...excelParts,
        before: '<workbookPr date1904="1"/>',
        strings: headersAndAnn,
        sheets: [{ name: 'Sheet1', content: sheetData(header, rowOfAnn('<c r="B2" s="1"><v>31531</v></c>')) + pageMargins }],
      }),
    table: [
      ['name', 'phone'],
      ['Ann', '1990-04-30'],
    ],
  },
  {
    file: 'excel-hidden-sheets.xlsx',
    description: 'Excel: lists for drop-downs on hidden sheets',
    bytes: () =>
      createBook({
        ...excelParts,
        strings: headersAndAnn,
        sheets: [
          { name: 'Lists', state: 'hidden', content: sheetData(row(1, sharedTextCell('A1', 2))) },
          { name: 'People', content: sheetData(header, rowOfAnn('<c r="B2"><v>7</v></c>')) + pageMargins },
          { name: 'More', state: 'veryHidden', content: sheetData() },
        ],
      }),
    table: [
      ['name', 'phone'],
      ['Ann', '7'],
    ],
  },
  {
    file: 'excel-several-sheets.xlsx',
    description: 'Excel: several sheets, none of them chosen',
    bytes: () =>
      createBook({
        ...excelParts,
        strings: headersAndAnn,
        sheets: [
          { name: 'May &amp; June', content: sheetData(header) },
          { name: 'July', content: sheetData(header) },
        ],
      }),
    refusal: 'it has several sheets: "May & June", "July"',
  },
  {
    file: 'excel-chosen-sheet.xlsx',
    description: 'Excel: several sheets, one of them chosen',
    sheet: 'May & June',
    bytes: () =>
      createBook({
        ...excelParts,
        strings: headersAndAnn,
        sheets: [
          { name: 'July', content: sheetData(header) },
          { name: 'May &amp; June', content: sheetData(header, rowOfAnn('<c r="B2"><v>1</v></c>')) },
        ],
      }),
    table: [
      ['name', 'phone'],
      ['Ann', '1'],
    ],
  },
  createCellVector(
    'excel-formula.xlsx',
    'Excel: a formula with the value it had',
    '<c r="B2" t="str"><f>"+61"&amp;C2</f><v>+61412345678</v></c>',
    '+61412345678',
  ),
  createCellVector(
    'excel-lost-digits.xlsx',
    'Excel: a phone that became a number, which keeps up to 15 digits',
    '<c r="B2"><v>61412345678</v></c>',
    '61412345678',
  ),
  createCellVector(
    'excel-binary-digits.xlsx',
    'Excel: a number is written with 17 digits',
    '<c r="B2"><v>0.30000000000000004</v></c>',
    '0.30000000000000004',
  ),
  createCellVector(
    'excel-line-break.xlsx',
    'Excel: a line break within a cell',
    '<c r="B2" t="inlineStr"><is><t xml:space="preserve"> a&#10;b_x000D_ </t></is></c>',
    ' a\nb\r ',
  ),
  createCellVector(
    'excel-phone-format.xlsx',
    'Excel: a phone whose leading 0 is only in its number format',
    '<c r="B2" s="4"><v>412345678</v></c>',
    '412345678',
  ),
  {
    file: 'excel-title.xlsx',
    description: 'Excel: a title above the header, merged',
    bytes: () =>
      createBook({
        ...excelParts,
        strings: headersAndAnn,
        sheets: [
          {
            name: 'Sheet1',
            content: `${sheetData(row(1, sharedTextCell('A1', 2)), row(2, sharedTextCell('A2', 0) + sharedTextCell('B2', 1)))}<mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>${pageMargins}`,
          },
        ],
      }),
    headerRow: 2,
    table: [['name', 'phone']],
  },
  {
    file: 'excel-merged.xlsx',
    description: 'Excel: one name for two rows, merged',
    bytes: () =>
      createBook({
        ...excelParts,
        strings: headersAndAnn,
        sheets: [
          {
            name: 'Sheet1',
            content: `${sheetData(header, rowOfAnn('<c r="B2"><v>1</v></c>'), row(3, '<c r="A3"/><c r="B3"><v>2</v></c>'))}<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>${pageMargins}`,
          },
        ],
      }),
    refusal: 'the cells A2:A3 are merged, so it is unclear which row the value belongs to',
  },
]
