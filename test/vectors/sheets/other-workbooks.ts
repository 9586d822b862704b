import { createBook, plainTexts, sharedTextCell } from './parts.ts'
import type { Vector } from './vector.ts'

const googleNamespaces =
  ' xmlns:mx="http://schemas.microsoft.com/office/mac/excel/2008/main" xmlns:mv="urn:schemas-microsoft-com:mac:vml" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"'
const googleTop =
  '<sheetPr><outlinePr summaryBelow="0" summaryRight="0"/></sheetPr><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetFormatPr customHeight="1" defaultColWidth="12.63" defaultRowHeight="15.75"/>'
const styles =
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/><numFmt numFmtId="165" formatCode="yyyy-mm-dd h:mm:ss"/></numFmts><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="49" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs>'

const appleNumbersTitle = 'Table 1'
const summary =
  '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="3"><c r="B3" t="s"><v>0</v></c></row></sheetData>'
const appleNumbersRows =
  '<dimension ref="A2:B4"/><sheetViews><sheetView workbookViewId="0" showGridLines="0" defaultGridColor="1"/></sheetViews><sheetData>' +
  `<row r="1" ht="20.25" customHeight="1">${sharedTextCell('A1', 1, '2')}${sharedTextCell('B1', 2, '2')}</row>` +
  `<row r="2" ht="20.25" customHeight="1">${sharedTextCell('A2', 3, '2')}<c r="B2" s="2"><v>61412345678</v></c></row>` +
  '<row r="3" ht="20.05" customHeight="1"><c r="A3" s="2"/><c r="B3" s="2"/></row></sheetData>'
const appleNumbersStrings = plainTexts(
  'This document was exported from Numbers.',
  'name',
  'phone',
  'Zoë',
  appleNumbersTitle,
)

/** Workbooks as other programs save them. */
export const otherWorkbooks: Vector[] = [
  {
    file: 'google.xlsx',
    description:
      'Google Sheets: whole numbers end in .0, large ones have an exponent, a thousand empty rows follow',
    bytes: () =>
      createBook({
        namespaces: googleNamespaces,
        before: '<workbookPr/>',
        after: '<definedNames/><calcPr/>',
        styles,
        strings: plainTexts('name', 'phone', 'born', 'paid', 'Zoë', '+61412345678'),
        sheets: [
          {
            name: 'Sheet1',
            state: 'visible',
            content: `${googleTop}<sheetData><row r="1">${sharedTextCell('A1', 0)}${sharedTextCell('B1', 1)}${sharedTextCell('C1', 2)}${sharedTextCell('D1', 3)}</row><row r="2">${sharedTextCell('A2', 4)}${sharedTextCell('B2', 5, '2')}<c r="C2" s="1"><v>32993.0</v></c><c r="D2" t="b"><v>1</v></c></row><row r="3">${sharedTextCell('A3', 4)}<c r="B3"><v>6.1412345678E10</v></c><c r="C3" s="3"><v>32993.5</v></c><c r="D3"><v>12.0</v></c></row>${Array.from({ length: 997 }, (_, at) => `<row r="${String(at + 4)}"><c r="B${String(at + 4)}" s="2"/></row>`).join('')}</sheetData><drawing r:id="rId1"/>`,
          },
        ],
      }),
    table: [
      ['name', 'phone', 'born', 'paid'],
      ['Zoë', '+61412345678', '1990-04-30', 'true'],
      ['Zoë', '61412345678', '1990-04-30T12:00:00', '12'],
    ],
  },
  {
    file: 'numbers.xlsx',
    description: 'Numbers: one table, without a summary; empty rows are styled',
    bytes: () =>
      createBook({ styles, strings: appleNumbersStrings, sheets: [{ name: 'Sheet 1', content: appleNumbersRows }] }),
    table: [
      ['name', 'phone'],
      ['Zoë', '61412345678'],
    ],
  },
  {
    file: 'numbers-summary.xlsx',
    description: 'Numbers: a summary sheet comes first',
    bytes: () =>
      createBook({
        styles,
        strings: appleNumbersStrings,
        sheets: [
          { name: 'Export Summary', content: summary },
          { name: 'Sheet 1 - Table 1', content: appleNumbersRows },
        ],
      }),
    refusal: 'it has several sheets: "Export Summary", "Sheet 1 - Table 1"',
  },
  {
    file: 'numbers-chosen.xlsx',
    description: 'Numbers: a summary sheet comes first, and the table was chosen',
    sheet: 'Sheet 1 - Table 1',
    bytes: () =>
      createBook({
        styles,
        strings: appleNumbersStrings,
        sheets: [
          { name: 'Export Summary', content: summary },
          { name: 'Sheet 1 - Table 1', content: appleNumbersRows },
        ],
      }),
    table: [
      ['name', 'phone'],
      ['Zoë', '61412345678'],
    ],
  },
  {
    file: 'numbers-titled.xlsx',
    description: 'Numbers: the name of the table stands above it, merged',
    bytes: () =>
      createBook({
        styles,
        strings: appleNumbersStrings,
        sheets: [
          {
            name: 'Sheet 1',
            content: `<sheetData><row r="1">${sharedTextCell('A1', 4)}<c r="B1"/></row><row r="2">${sharedTextCell('A2', 1)}${sharedTextCell('B2', 2)}</row></sheetData><mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>`,
          },
        ],
      }),
    headerRow: 2,
    table: [['name', 'phone']],
  },
  {
    file: 'openpyxl.xlsx',
    description: 'openpyxl: inline strings, no shared strings, dates as ISO 8601 if chosen',
    bytes: () =>
      createBook({
        styles,
        sheets: [
          {
            name: 'Sheet',
            content:
              '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c><c r="B1" t="inlineStr"><is><t>born</t></is></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>Zoë</t></is></c><c r="B2" s="1" t="d"><v>1990-04-30T00:00:00</v></c></row><row r="3"><c r="A3" t="n"/><c r="B3" t="n"/></row></sheetData>',
          },
        ],
      }),
    table: [
      ['name', 'born'],
      ['Zoë', '1990-04-30'],
    ],
  },
  {
    file: 'no-names.xlsx',
    description: 'a library that writes cells and rows without references',
    bytes: () =>
      createBook({
        strings: plainTexts('name', 'phone', 'Ann'),
        sheets: [
          {
            name: 'Sheet1',
            content:
              '<sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row><row><c t="s"><v>2</v></c><c><v>7</v></c></row></sheetData>',
          },
        ],
      }),
    table: [
      ['name', 'phone'],
      ['Ann', '7'],
    ],
  },
  {
    file: 'strict.xlsx',
    description: 'Excel, Strict Open XML: other namespaces, dates as ISO 8601 text',
    bytes: () =>
      createBook({
        relationshipsNamespace: 'http://purl.oclc.org/ooxml/officeDocument/relationships',
        mainNamespace: 'http://purl.oclc.org/ooxml/spreadsheetml/main',
        styles,
        strings: plainTexts('name', 'born', 'Zoë'),
        sheets: [
          {
            name: 'Sheet1',
            content: `<sheetData><row r="1">${sharedTextCell('A1', 0)}${sharedTextCell('B1', 1)}</row><row r="2">${sharedTextCell('A2', 2)}<c r="B2" s="1" t="d"><v>1990-04-30</v></c></row></sheetData>`,
          },
        ],
      }),
    table: [
      ['name', 'born'],
      ['Zoë', '1990-04-30'],
    ],
  },
]
