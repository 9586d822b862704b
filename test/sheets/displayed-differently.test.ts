import { expect, test } from 'vitest'

import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { collect, collectBytes, openBytes, readRefusal, readRows } from './table.ts'
import { excelParts, header, type Parts, createWorkbook, zipParts } from './workbook.ts'

const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

/** Returns styles in which style 1 has the given number format. */
function stylesWithFormat(format: string): Parts {
  const code = format.replaceAll('"', '&quot;')
  return {
    'xl/styles.xml': `<styleSheet ${namespace}><numFmts><numFmt numFmtId="170" formatCode="${code}"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
  }
}

const textCells = [
  ['inline', 't="inlineStr"', '<is><t>Ana</t></is>'],
  ['shared', 't="s"', '<v>0</v>'],
  ['formula result', 't="str"', '<f>B2</f><v>Ana</v>'],
]

test.each(textCells)(
  'a text (%s) that its number format hides or changes is a fault',
  async (_, type, content) => {
    for (const format of [';;;', '"Mr "@']) {
      const rows = `${header}<row r="2"><c r="A2" s="1" ${type}>${content}</c></row>`
      const bytes = await createWorkbook(rows, '', stylesWithFormat(format))
      const [row] = await readRows(bytes, 'p.xlsx')
      expect(row?.cells[0]).toMatchObject({
        kind: 'fault',
        reason: `is shown otherwise by its number format, ${format}; format the column as text and look at it again`,
        format,
      })
    }
  },
)

test('a text that its format hides is written back unchanged, and is a fault when it is read again', async () => {
  const rows = `${header}<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>Ana</t></is></c></row>`
  const sheet = await openBytes(await createWorkbook(rows, '', stylesWithFormat(';;;')), 'p.xlsx')
  async function* annotated() {
    for await (const row of sheet.rows()) yield { row, added: ['accepted'] }
  }
  const bytes = await collectBytes(
    annotatedBytes({ sheet, addedColumns: ['refcheck_state'], rows: annotated() }, sheet.dialect),
  )
  const [rewrittenRow] = await readRows(bytes, 'p.results.xlsx')
  expect(rewrittenRow?.cells[0]).toMatchObject({ kind: 'fault', text: 'Ana', format: ';;;' })
})

test('a text whose number format displays it unchanged is read', async () => {
  for (const format of ['@', '_-@_-', '0;-0;;@', '0.00']) {
    const rows = `${header}<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>Ana</t></is></c></row>`
    const [row] = await readRows(await createWorkbook(rows, '', stylesWithFormat(format)), 'p.xlsx')
    expect(row?.cells[0]).toBe('Ana')
  }
})

const odsNamespaces =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'

/** Returns an OpenDocument spreadsheet as LibreOffice writes it, with the given cells in its second row. */
function createOds(cells: string, styles = '', otherParts: Parts = {}): Promise<Buffer> {
  return zipParts({
    ...otherParts,
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${odsNamespaces}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell office:value-type="string"><text:p>first_name</text:p></table:table-cell></table:table-row><table:table-row>${cells}</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
  })
}

test.each([
  ['<text:p>Mr Ana</text:p>', 'Mr Ana'],
  ['<text:p/>', ''],
])('in ODS, a text with another displayed text (%s) is a fault', async (paragraph, displayedText) => {
  const bytes = await createOds(
    `<table:table-cell office:value-type="string" office:string-value="Ana">${paragraph}</table:table-cell>`,
  )
  const [row] = await readRows(bytes, 'p.ods')
  expect(row?.cells[0]).toMatchObject({
    kind: 'fault',
    text: 'Ana',
    reason: `is shown as "${displayedText}" by its number format; format the column as text and look at it again`,
  })
})

test('in ODS, a zero is a fault if the settings of LibreOffice hide zeros', async () => {
  const settingsXml = (showsZeros: boolean): string =>
    `<office:document-settings ${odsNamespaces} xmlns:config="urn:oasis:names:tc:opendocument:xmlns:config:1.0"><office:settings><config:config-item-set config:name="ooo:configuration-settings"><config:config-item config:name="ShowGrid" config:type="boolean">false</config:config-item><config:config-item config:name="ShowZeroValues" config:type="boolean">${String(showsZeros)}</config:config-item></config:config-item-set></office:settings></office:document-settings>`
  const readZeroCell = async (showsZeros: boolean) => {
    const cell =
      '<table:table-cell office:value-type="float" office:value="0"><text:p>0</text:p></table:table-cell>'
    const [row] = await readRows(
      await createOds(cell, '', { 'settings.xml': settingsXml(showsZeros) }),
      'p.ods',
    )
    return row?.cells[0]
  }
  expect(await readZeroCell(false)).toMatchObject({
    kind: 'fault',
    reason: 'is 0, and the sheet shows no zeros',
  })
  expect(await readZeroCell(true)).toMatchObject({ kind: 'number', text: '0' })
})

test('in ODS, a collapsed group of rows is refused as hidden', async () => {
  const cell = '<table:table-cell office:value-type="string"><text:p>Ana</text:p></table:table-cell>'
  const createWithGroup = (display: string): Promise<Buffer> =>
    createOds(
      `${cell}</table:table-row><table:table-row-group ${display}><table:table-row>${cell}</table:table-row></table:table-row-group><table:table-row>${cell}`,
    )
  expect(await readRefusal(await createWithGroup('table:display="false"'), 'p.ods')).toBe(
    'p.ods: the row on line 3 is hidden',
  )
  expect(await readRefusal(await createWithGroup(''), 'p.ods')).toBe('was read')
})

test('in ODS, a cell whose style has a condition that strikes it through is refused', async () => {
  const styles =
    '<style:style style:name="gone" style:family="table-cell"><style:text-properties style:text-line-through-style="solid"/></style:style>' +
    '<style:style style:name="ce1" style:family="table-cell"><style:map style:condition="is-true-formula([.A2]=&quot;Ana&quot;)" style:apply-style-name="gone"/></style:style>'
  const cell = (style: string): string =>
    `<table:table-cell table:style-name="${style}" office:value-type="string"><text:p>Ana</text:p></table:table-cell>`
  expect(await readRefusal(await createOds(cell('ce1'), styles), 'p.ods')).toBe(
    'p.ods: a conditional format may strike through, hide or change cells of A2:A2, and it is not evaluated',
  )
  expect(await readRefusal(await createOds(cell('ce2'), styles), 'p.ods')).toBe('was read')
})

test('a conditional format of Excel 2010 or later that strikes through or hides cells is refused', async () => {
  const ruleXml = (font: string, otherFormats = ''): string =>
    `<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" uri="{78C0D931-6437-407d-A8EE-F0AAD7539E65}"><x14:conditionalFormattings><x14:conditionalFormatting xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><x14:cfRule type="expression" priority="1"><xm:f>Other!A1="x"</xm:f><x14:dxf><font>${font}</font>${otherFormats}</x14:dxf></x14:cfRule><xm:sqref>A2:A9 B2:B9</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext></extLst>`
  const rows = `<sheetData>${header}<row r="2"><c r="A2" t="inlineStr"><is><t>Ana</t></is></c></row></sheetData>`
  const createWithRule = (font: string, otherFormats = ''): Promise<Buffer> =>
    zipParts(excelParts(`${rows}${ruleXml(font, otherFormats)}`))
  const refusal =
    'p.xlsx: a conditional format may strike through, hide or change cells of A2:A9, and it is not evaluated'
  expect(await readRefusal(await createWithRule('<strike/>'), 'p.xlsx')).toBe(refusal)
  expect(await readRefusal(await createWithRule('<strike val="0"/>'), 'p.xlsx')).toBe('was read')
  expect(await readRefusal(await createWithRule('<color theme="0"/>'), 'p.xlsx')).toBe(refusal)
  expect(await readRefusal(await createWithRule('<color rgb="FFFF0000"/>'), 'p.xlsx')).toBe('was read')
  const redFill = '<fill><patternFill><bgColor rgb="FFFF0000"/></patternFill></fill>'
  expect(await readRefusal(await createWithRule('<color rgb="FFFF0000"/>', redFill), 'p.xlsx')).toBe(refusal)
  expect(
    await readRefusal(await createWithRule('<b/>', '<numFmt numFmtId="164" formatCode=";;;"/>'), 'p.xlsx'),
  ).toBe(refusal)
  const sheet = await openBytes(await createWithRule('<b/>'), 'p.xlsx')
  await collect(sheet.rows())
  expect([...sheet.appearance().lost]).toContain('conditional formats')
})

test.each(['dataBar', 'iconSet'])(
  'a conditional format that displays a %s instead of the values is refused',
  async (ruleType) => {
    const rows = `<sheetData>${header}<row r="2"><c r="A2"><v>5</v></c></row></sheetData>`
    const createWithRule = (showValue: string): Promise<Buffer> =>
      zipParts(
        excelParts(
          `${rows}<conditionalFormatting sqref="A2:A9"><cfRule type="${ruleType}" priority="1"><${ruleType} showValue="${showValue}"/></cfRule></conditionalFormatting>`,
        ),
      )
    expect(await readRefusal(await createWithRule('0'), 'p.xlsx')).toContain(
      'cells of A2:A9, and it is not evaluated',
    )
    expect(await readRefusal(await createWithRule('1'), 'p.xlsx')).toBe('was read')
  },
)

const sameColourReason =
  'has the colour of its background, so nobody sees it; give it another colour, or empty it'

/** Returns styles in which style 1 has the given font and fill. */
const stylesWithColours = (font: string, fill: string, more = ''): Parts => ({
  'xl/styles.xml': `<styleSheet ${namespace}><fonts><font/><font>${font}</font></fonts><fills><fill><patternFill patternType="none"/></fill><fill>${fill}</fill></fills><cellXfs><xf/><xf fontId="1" fillId="1"/></cellXfs>${more}</styleSheet>`,
})

const solidFill = (colour: string): string =>
  `<patternFill patternType="solid"><fgColor ${colour}/><bgColor indexed="64"/></patternFill>`

test.each([
  ['<color rgb="FFFFFFFF"/>', ''],
  ['<color rgb="FFFDFDFD"/>', ''],
  ['<color theme="0"/>', ''],
  ['<color indexed="9"/>', ''],
  ['<color theme="1" tint="0.99"/>', ''],
  ['<color rgb="FFFF0000"/>', solidFill('rgb="FFFF0000"')],
  ['<color indexed="22"/>', solidFill('rgb="FFC0C0C0"')],
  ['', solidFill('rgb="FF000000"')],
  ['<color auto="1"/>', solidFill('theme="1"')],
])(
  'a text with the font %s and the fill %s is a fault, also after it is written and read again',
  async (font, fill) => {
    const rows = `${header}<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>Ana</t></is></c><c r="B2" s="1"><v>5</v></c></row>`
    const sheet = await openBytes(await createWorkbook(rows, '', stylesWithColours(font, fill)), 'p.xlsx')
    const read = await collect(sheet.rows())
    expect(read[0]?.cells).toMatchObject([
      { kind: 'fault', text: 'Ana', reason: sameColourReason },
      { kind: 'fault', text: '5', reason: sameColourReason },
    ])
    async function* annotated() {
      for (const row of read) yield { row, added: ['invalid'] }
    }
    const bytes = await collectBytes(
      annotatedBytes({ sheet, addedColumns: ['refcheck_state'], rows: annotated() }, sheet.dialect),
    )
    const [rewrittenRow] = await readRows(bytes, 'p.results.xlsx')
    expect(rewrittenRow?.cells[0]).toMatchObject({ kind: 'fault', text: 'Ana' })
  },
)

test.each([
  ['<color rgb="FFFFFFFF"/>', solidFill('rgb="FF4472C4"')],
  ['<color rgb="FFD9D9D9"/>', ''],
  ['<color theme="0" tint="-0.35"/>', ''],
  ['<color rgb="FFFFFFFF"/>', '<patternFill patternType="darkGrid"/>'],
  ['', ''],
])('a text with the font %s and the fill %s is read', async (font, fill) => {
  const rows = `${header}<row r="2"><c r="A2" s="1" t="inlineStr"><is><t>Ana</t></is></c></row>`
  const [row] = await readRows(await createWorkbook(rows, '', stylesWithColours(font, fill)), 'p.xlsx')
  expect(row?.cells[0]).toBe('Ana')
})

test('a header in white letters is read', async () => {
  const rows = `<row r="1"><c r="A1" s="1" t="inlineStr"><is><t>first_name</t></is></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>Ana</t></is></c></row>`
  const sheet = await openBytes(
    await createWorkbook(rows, '', stylesWithColours('<color rgb="FFFFFFFF"/>', '')),
    'p.xlsx',
  )
  expect(sheet.columns).toEqual(['first_name'])
})

test('a text with some white letters is a fault, as a shared and as an inline string', async () => {
  const runs =
    '<r><t>An</t></r><r><rPr><color rgb="FFFFFFFF"/></rPr><t>a</t></r><r><rPr><color rgb="FFFF0000"/></rPr><t>!</t></r>'
  const rows = `${header}<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" t="inlineStr"><is>${runs}</is></c></row>`
  const strings = `<sst ${namespace}><si><t>first_name</t></si><si><t>phone</t></si><si>${runs}</si></sst>`
  const [row] = await readRows(await createWorkbook(rows, '', { 'xl/sharedStrings.xml': strings }), 'p.xlsx')
  expect(row?.cells).toMatchObject([
    { kind: 'fault', text: 'Ana!', reason: sameColourReason },
    { kind: 'fault', text: 'Ana!', reason: sameColourReason },
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
])('a file whose conditional format is %s is %s', async (rule, outcome) => {
  const rows = `${header}<row r="2"><c r="A2" t="inlineStr"><is><t>Ana</t></is></c></row>`
  const format =
    '<conditionalFormatting sqref="A2:A9"><cfRule type="expression" dxfId="0" priority="1"><formula>1</formula></cfRule></conditionalFormatting>'
  const bytes = await createWorkbook(
    rows,
    format,
    stylesWithColours('', '', `<dxfs><dxf>${rule}</dxf></dxfs>`),
  )
  expect(await readRefusal(bytes, 'p.xlsx')).toBe(
    outcome === 'read'
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
])('in ODS, a text with %s and %s is %s', async (textProperties, cellProperties, outcome) => {
  const styles = odsStyle('base', textProperties, cellProperties) + odsStyle('ce1', '', '', 'base')
  const bytes = await createOds(
    '<table:table-cell table:style-name="ce1" office:value-type="string"><text:p>Ana</text:p></table:table-cell>',
    styles,
  )
  const [row] = await readRows(bytes, 'p.ods')
  const fault = { kind: 'fault', text: 'Ana', reason: sameColourReason, format: ';;;' }
  expect(row?.cells[0]).toEqual(outcome === 'read' ? 'Ana' : fault)
})

test('in ODS, a text with some white letters is a fault', async () => {
  const bytes = await createOds(
    '<table:table-cell office:value-type="string"><text:p>An<text:span text:style-name="T1">a</text:span></text:p></table:table-cell>',
    odsStyle('T1', 'fo:color="#ffffff"'),
  )
  const [row] = await readRows(bytes, 'p.ods')
  expect(row?.cells[0]).toMatchObject({ kind: 'fault', text: 'Ana', reason: sameColourReason })
})

test.each([
  ['office:value-type="float" office:value="85"', '85'],
  ['office:value-type="date" office:date-value="1990-04-30"', '1990-04-30'],
])(
  'in ODS, a cell of %s without its displayed text is read if it has no number format, and a fault otherwise',
  async (value, text) => {
    const styles =
      '<style:style style:name="ce1" style:family="table-cell" style:data-style-name="N105"/><style:style style:name="ce2" style:family="table-cell" style:parent-style-name="ce1"/>'
    const cell = (style: string): string => `<table:table-cell table:style-name="${style}" ${value}/>`
    const [plainRow] = await readRows(await createOds(cell('ce3'), styles), 'p.ods')
    expect(plainRow?.cells[0]).toMatchObject({ text })
    const [row] = await readRows(await createOds(cell('ce2'), styles), 'p.ods')
    expect(row?.cells[0]).toEqual({
      kind: 'fault',
      text,
      reason:
        'is saved without the text that its number format shows; open the file in LibreOffice and save it',
    })
  },
)
