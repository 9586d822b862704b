import { expect, test } from 'vitest'

import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { all, bytesOf, openBytes, refusalOf, rowsOf } from './table.ts'
import { excelParts, header, type Parts, workbook, zipped } from './workbook.ts'

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

/** Styles of one number format, the style 1. */
function formatted(format: string): Parts {
  const code = format.replaceAll('"', '&quot;')
  return {
    'xl/styles.xml': `<styleSheet ${main}><numFmts><numFmt numFmtId="170" formatCode="${code}"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
  }
}

const texts = [
  ['in place', 't="inlineStr"', '<is><t>Ana</t></is>'],
  ['shared', 't="s"', '<v>0</v>'],
  ['of a formula', 't="str"', '<f>B2</f><v>Ana</v>'],
]

test.each(texts)('a text %s that a number format hides or changes is refused', async (_, type, inside) => {
  for (const format of [';;;', '"Mr "@']) {
    const rows = `${header}<row r="2"><c r="A2" s="1" ${type}>${inside}</c></row>`
    const bytes = await workbook(rows, '', formatted(format))
    const [row] = await rowsOf(bytes, 'p.xlsx')
    expect(row?.cells[0]).toMatchObject({
      kind: 'fault',
      reason: `is shown otherwise by its number format, ${format}; format the column as text and look at it again`,
      format,
    })
  }
})

test('a text that is hidden comes back as it was, and is refused again', async () => {
  const rows = `${header}<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>Ana</t></is></c></row>`
  const sheet = await openBytes(await workbook(rows, '', formatted(';;;')), 'p.xlsx')
  async function* annotated() {
    for await (const row of sheet.rows()) yield { row, added: ['accepted'] }
  }
  const bytes = await bytesOf(
    annotatedBytes({ sheet, addedColumns: ['refcheck_state'], rows: annotated() }, sheet.dialect),
  )
  const [again] = await rowsOf(bytes, 'p.results.xlsx')
  expect(again?.cells[0]).toMatchObject({ kind: 'fault', text: 'Ana', format: ';;;' })
})

test('texts in formats that show them as they are, are read', async () => {
  for (const format of ['@', '_-@_-', '0;-0;;@', '0.00']) {
    const rows = `${header}<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>Ana</t></is></c></row>`
    const [row] = await rowsOf(await workbook(rows, '', formatted(format)), 'p.xlsx')
    expect(row?.cells[0]).toBe('Ana')
  }
})

const spaces =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'

/** As LibreOffice writes it: the second row is styled by `ce1`. */
function ods(cells: string, styles = ''): Promise<Buffer> {
  return zipped({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${spaces}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell office:value-type="string"><text:p>first_name</text:p></table:table-cell></table:table-row><table:table-row>${cells}</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
  })
}

test.each([
  ['<text:p>Mr Ana</text:p>', 'Mr Ana'],
  ['<text:p/>', ''],
])('in ODS a text shown as %s is refused', async (paragraph, shown) => {
  const bytes = await ods(
    `<table:table-cell office:value-type="string" office:string-value="Ana">${paragraph}</table:table-cell>`,
  )
  const [row] = await rowsOf(bytes, 'p.ods')
  expect(row?.cells[0]).toMatchObject({
    kind: 'fault',
    text: 'Ana',
    reason: `is shown as "${shown}" by its number format; format the column as text and look at it again`,
  })
})

test('in ODS a style that a condition may strike through is refused', async () => {
  const styles =
    '<style:style style:name="gone" style:family="table-cell"><style:text-properties style:text-line-through-style="solid"/></style:style>' +
    '<style:style style:name="ce1" style:family="table-cell"><style:map style:condition="is-true-formula([.A2]=&quot;Ana&quot;)" style:apply-style-name="gone"/></style:style>'
  const cell = (style: string): string =>
    `<table:table-cell table:style-name="${style}" office:value-type="string"><text:p>Ana</text:p></table:table-cell>`
  expect(await refusalOf(await ods(cell('ce1'), styles), 'p.ods')).toBe(
    'p.ods: a conditional format may strike through cells of A2:A2, and it is not evaluated',
  )
  expect(await refusalOf(await ods(cell('ce2'), styles), 'p.ods')).toBe('was read')
})

test('a rule of Excel 2010 and later may strike through', async () => {
  const rule = (font: string): string =>
    `<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" uri="{78C0D931-6437-407d-A8EE-F0AAD7539E65}"><x14:conditionalFormattings><x14:conditionalFormatting xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><x14:cfRule type="expression" priority="1"><xm:f>Other!A1="x"</xm:f><x14:dxf><font>${font}</font></x14:dxf></x14:cfRule><xm:sqref>A2:A9 B2:B9</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext></extLst>`
  const rows = `<sheetData>${header}<row r="2"><c r="A2" t="inlineStr"><is><t>Ana</t></is></c></row></sheetData>`
  const book = (font: string): Promise<Buffer> => zipped(excelParts(`${rows}${rule(font)}`))
  expect(await refusalOf(await book('<strike/>'), 'p.xlsx')).toBe(
    'p.xlsx: a conditional format may strike through cells of A2:A9, and it is not evaluated',
  )
  expect(await refusalOf(await book('<strike val="0"/>'), 'p.xlsx')).toBe('was read')
  const sheet = await openBytes(await book('<b/>'), 'p.xlsx')
  await all(sheet.rows())
  expect([...sheet.look().lost]).toContain('conditional formats')
})
