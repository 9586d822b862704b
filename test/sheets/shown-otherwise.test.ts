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
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'

/** As LibreOffice writes it: the second row is styled by `ce1`. */
function ods(cells: string, styles = '', more: Parts = {}): Promise<Buffer> {
  return zipped({
    ...more,
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

test('in ODS zeros may be hidden, as LibreOffice keeps it', async () => {
  const settings = (shows: boolean): string =>
    `<office:document-settings ${spaces} xmlns:config="urn:oasis:names:tc:opendocument:xmlns:config:1.0"><office:settings><config:config-item-set config:name="ooo:configuration-settings"><config:config-item config:name="ShowGrid" config:type="boolean">false</config:config-item><config:config-item config:name="ShowZeroValues" config:type="boolean">${String(shows)}</config:config-item></config:config-item-set></office:settings></office:document-settings>`
  const cellShown = async (shows: boolean) => {
    const cell =
      '<table:table-cell office:value-type="float" office:value="0"><text:p>0</text:p></table:table-cell>'
    const [row] = await rowsOf(await ods(cell, '', { 'settings.xml': settings(shows) }), 'p.ods')
    return row?.cells[0]
  }
  expect(await cellShown(false)).toMatchObject({
    kind: 'fault',
    reason: 'is 0, and the sheet shows no zeros',
  })
  expect(await cellShown(true)).toMatchObject({ kind: 'number', text: '0' })
})

test('in ODS a group of rows may be folded away', async () => {
  const cell = '<table:table-cell office:value-type="string"><text:p>Ana</text:p></table:table-cell>'
  const grouped = (display: string): Promise<Buffer> =>
    ods(
      `${cell}</table:table-row><table:table-row-group ${display}><table:table-row>${cell}</table:table-row></table:table-row-group><table:table-row>${cell}`,
    )
  expect(await refusalOf(await grouped('table:display="false"'), 'p.ods')).toBe(
    'p.ods: the row on line 3 is hidden',
  )
  expect(await refusalOf(await grouped(''), 'p.ods')).toBe('was read')
})

test('in ODS a style that a condition may strike through is refused', async () => {
  const styles =
    '<style:style style:name="gone" style:family="table-cell"><style:text-properties style:text-line-through-style="solid"/></style:style>' +
    '<style:style style:name="ce1" style:family="table-cell"><style:map style:condition="is-true-formula([.A2]=&quot;Ana&quot;)" style:apply-style-name="gone"/></style:style>'
  const cell = (style: string): string =>
    `<table:table-cell table:style-name="${style}" office:value-type="string"><text:p>Ana</text:p></table:table-cell>`
  expect(await refusalOf(await ods(cell('ce1'), styles), 'p.ods')).toBe(
    'p.ods: a conditional format may strike through, hide or change cells of A2:A2, and it is not evaluated',
  )
  expect(await refusalOf(await ods(cell('ce2'), styles), 'p.ods')).toBe('was read')
})

test('a rule of Excel 2010 and later may strike through, or hide', async () => {
  const rule = (font: string, more = ''): string =>
    `<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" uri="{78C0D931-6437-407d-A8EE-F0AAD7539E65}"><x14:conditionalFormattings><x14:conditionalFormatting xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><x14:cfRule type="expression" priority="1"><xm:f>Other!A1="x"</xm:f><x14:dxf><font>${font}</font>${more}</x14:dxf></x14:cfRule><xm:sqref>A2:A9 B2:B9</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext></extLst>`
  const rows = `<sheetData>${header}<row r="2"><c r="A2" t="inlineStr"><is><t>Ana</t></is></c></row></sheetData>`
  const book = (font: string, more = ''): Promise<Buffer> => zipped(excelParts(`${rows}${rule(font, more)}`))
  const refused =
    'p.xlsx: a conditional format may strike through, hide or change cells of A2:A9, and it is not evaluated'
  expect(await refusalOf(await book('<strike/>'), 'p.xlsx')).toBe(refused)
  expect(await refusalOf(await book('<strike val="0"/>'), 'p.xlsx')).toBe('was read')
  expect(await refusalOf(await book('<color theme="0"/>'), 'p.xlsx')).toBe(refused)
  expect(await refusalOf(await book('<color rgb="FFFF0000"/>'), 'p.xlsx')).toBe('was read')
  const red = '<fill><patternFill><bgColor rgb="FFFF0000"/></patternFill></fill>'
  expect(await refusalOf(await book('<color rgb="FFFF0000"/>', red), 'p.xlsx')).toBe(refused)
  expect(await refusalOf(await book('<b/>', '<numFmt numFmtId="164" formatCode=";;;"/>'), 'p.xlsx')).toBe(
    refused,
  )
  const sheet = await openBytes(await book('<b/>'), 'p.xlsx')
  await all(sheet.rows())
  expect([...sheet.appearance().lost]).toContain('conditional formats')
})

test.each(['dataBar', 'iconSet'])('a rule may show a %s in place of the values', async (what) => {
  const rows = `<sheetData>${header}<row r="2"><c r="A2"><v>5</v></c></row></sheetData>`
  const book = (showValue: string): Promise<Buffer> =>
    zipped(
      excelParts(
        `${rows}<conditionalFormatting sqref="A2:A9"><cfRule type="${what}" priority="1"><${what} showValue="${showValue}"/></cfRule></conditionalFormatting>`,
      ),
    )
  expect(await refusalOf(await book('0'), 'p.xlsx')).toContain('cells of A2:A9, and it is not evaluated')
  expect(await refusalOf(await book('1'), 'p.xlsx')).toBe('was read')
})

const sameColour = 'has the colour of its background, so nobody sees it; give it another colour, or empty it'

/** Fonts and fills of the style 1. */
const coloured = (font: string, fill: string, more = ''): Parts => ({
  'xl/styles.xml': `<styleSheet ${main}><fonts><font/><font>${font}</font></fonts><fills><fill><patternFill patternType="none"/></fill><fill>${fill}</fill></fills><cellXfs><xf/><xf fontId="1" fillId="1"/></cellXfs>${more}</styleSheet>`,
})

const solid = (colour: string): string =>
  `<patternFill patternType="solid"><fgColor ${colour}/><bgColor indexed="64"/></patternFill>`

test.each([
  ['<color rgb="FFFFFFFF"/>', ''],
  ['<color rgb="FFFDFDFD"/>', ''],
  ['<color theme="0"/>', ''],
  ['<color indexed="9"/>', ''],
  ['<color theme="1" tint="0.99"/>', ''],
  ['<color rgb="FFFF0000"/>', solid('rgb="FFFF0000"')],
  ['<color indexed="22"/>', solid('rgb="FFC0C0C0"')],
  ['', solid('rgb="FF000000"')],
  ['<color auto="1"/>', solid('theme="1"')],
])('a text in %s on %s is refused, and comes back unseen', async (font, fill) => {
  const rows = `${header}<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>Ana</t></is></c><c r="B2" s="1"><v>5</v></c></row>`
  const sheet = await openBytes(await workbook(rows, '', coloured(font, fill)), 'p.xlsx')
  const read = await all(sheet.rows())
  expect(read[0]?.cells).toMatchObject([
    { kind: 'fault', text: 'Ana', reason: sameColour },
    { kind: 'fault', text: '5', reason: sameColour },
  ])
  async function* annotated() {
    for (const row of read) yield { row, added: ['invalid'] }
  }
  const bytes = await bytesOf(
    annotatedBytes({ sheet, addedColumns: ['refcheck_state'], rows: annotated() }, sheet.dialect),
  )
  const [again] = await rowsOf(bytes, 'p.results.xlsx')
  expect(again?.cells[0]).toMatchObject({ kind: 'fault', text: 'Ana' })
})

test.each([
  ['<color rgb="FFFFFFFF"/>', solid('rgb="FF4472C4"')],
  ['<color rgb="FFD9D9D9"/>', ''],
  ['<color theme="0" tint="-0.35"/>', ''],
  ['<color rgb="FFFFFFFF"/>', '<patternFill patternType="darkGrid"/>'],
  ['', ''],
])('a text in %s on %s is read', async (font, fill) => {
  const rows = `${header}<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>Ana</t></is></c></row>`
  const [row] = await rowsOf(await workbook(rows, '', coloured(font, fill)), 'p.xlsx')
  expect(row?.cells[0]).toBe('Ana')
})

test('a header in white is a name as any other', async () => {
  const rows = `<row r="1"><c r="A1" s="1" t="inlineStr"><is><t>first_name</t></is></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>Ana</t></is></c></row>`
  const sheet = await openBytes(await workbook(rows, '', coloured('<color rgb="FFFFFFFF"/>', '')), 'p.xlsx')
  expect(sheet.columns).toEqual(['first_name'])
})

test('white letters within a text are refused, shared or in place', async () => {
  const runs =
    '<r><t>An</t></r><r><rPr><color rgb="FFFFFFFF"/></rPr><t>a</t></r><r><rPr><color rgb="FFFF0000"/></rPr><t>!</t></r>'
  const rows = `${header}<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" t="inlineStr"><is>${runs}</is></c></row>`
  const strings = `<sst ${main}><si><t>first_name</t></si><si><t>phone</t></si><si>${runs}</si></sst>`
  const [row] = await rowsOf(await workbook(rows, '', { 'xl/sharedStrings.xml': strings }), 'p.xlsx')
  expect(row?.cells).toMatchObject([
    { kind: 'fault', text: 'Ana!', reason: sameColour },
    { kind: 'fault', text: 'Ana!', reason: sameColour },
  ])
})

test.each([
  ['<font><color rgb="FFFFFFFF"/></font>', 'refused'],
  ['<fill><patternFill><bgColor rgb="FF000000"/></patternFill></fill>', 'refused'],
  ['<numFmt numFmtId="170" formatCode=";;;"/>', 'refused'],
  [
    '<font><color rgb="FFFFFFFF"/></font><fill><patternFill><bgColor rgb="FF9C0006"/></patternFill></fill>',
    'read',
  ],
  ['<font><color rgb="FF9C0006"/></font><border><left><color rgb="FFFFFFFF"/></left></border>', 'read'],
])('a rule of %s is %s', async (rule, end) => {
  const rows = `${header}<row r="2"><c r="A2" t="inlineStr"><is><t>Ana</t></is></c></row>`
  const format =
    '<conditionalFormatting sqref="A2:A9"><cfRule type="expression" dxfId="0" priority="1"><formula>1</formula></cfRule></conditionalFormatting>'
  const bytes = await workbook(rows, format, coloured('', '', `<dxfs><dxf>${rule}</dxf></dxfs>`))
  expect(await refusalOf(bytes, 'p.xlsx')).toBe(
    end === 'read'
      ? 'was read'
      : 'p.xlsx: a conditional format may strike through, hide or change cells of A2:A9, and it is not evaluated',
  )
})

const odsStyle = (name: string, text: string, cell = '', parent = ''): string =>
  `<style:style style:name="${name}" style:family="table-cell" style:parent-style-name="${parent}"><style:table-cell-properties ${cell}/><style:text-properties ${text}/></style:style>`

test.each([
  ['fo:color="#ffffff"', '', 'refused'],
  ['fo:color="#ffffff"', 'fo:background-color="transparent"', 'refused'],
  ['fo:color="#4472c4"', 'fo:background-color="#4472c4"', 'refused'],
  ['fo:color="#ffffff"', 'fo:background-color="#4472c4"', 'read'],
  ['style:use-window-font-color="true"', 'fo:background-color="#000000"', 'read'],
  ['', '', 'read'],
])('in ODS a text in %s on %s is %s', async (text, cell, end) => {
  const styles = odsStyle('base', text, cell) + odsStyle('ce1', '', '', 'base')
  const bytes = await ods(
    '<table:table-cell table:style-name="ce1" office:value-type="string"><text:p>Ana</text:p></table:table-cell>',
    styles,
  )
  const [row] = await rowsOf(bytes, 'p.ods')
  const refused = { kind: 'fault', text: 'Ana', reason: sameColour, format: ';;;' }
  expect(row?.cells[0]).toEqual(end === 'read' ? 'Ana' : refused)
})

test('in ODS white letters within a text are refused', async () => {
  const bytes = await ods(
    '<table:table-cell office:value-type="string"><text:p>An<text:span text:style-name="T1">a</text:span></text:p></table:table-cell>',
    odsStyle('T1', 'fo:color="#ffffff"'),
  )
  const [row] = await rowsOf(bytes, 'p.ods')
  expect(row?.cells[0]).toMatchObject({ kind: 'fault', text: 'Ana', reason: sameColour })
})

test.each([
  ['office:value-type="float" office:value="85"', '85'],
  ['office:value-type="date" office:date-value="1990-04-30"', '1990-04-30'],
])('in ODS a cell of %s without its text is read in no format, and refused in one', async (value, text) => {
  const styles =
    '<style:style style:name="ce1" style:family="table-cell" style:data-style-name="N105"/><style:style style:name="ce2" style:family="table-cell" style:parent-style-name="ce1"/>'
  const cell = (style: string): string => `<table:table-cell table:style-name="${style}" ${value}/>`
  const [plainRow] = await rowsOf(await ods(cell('ce3'), styles), 'p.ods')
  expect(plainRow?.cells[0]).toMatchObject({ text })
  const [row] = await rowsOf(await ods(cell('ce2'), styles), 'p.ods')
  expect(row?.cells[0]).toEqual({
    kind: 'fault',
    text,
    reason:
      'is saved without the text that its number format shows; open the file in LibreOffice and save it',
  })
})
