import iconv from 'iconv-lite'
import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'
import { type Parts, excelParts, zipParts } from '../sheets/workbook.ts'

const header = ['first_name', 'last_name', 'email', 'phone']
const validate = 'batch validate people.xlsx --package 102'

const cellXml = (text: string, at: number, row: number, style = ''): string =>
  `<c r="${String.fromCodePoint(65 + at)}${String(row)}"${style} t="inlineStr"><is><t>${text}</t></is></c>`

const rowXml = (texts: readonly string[], row: number, attributes = '', style = ''): string =>
  `<row r="${String(row)}"${attributes}>${texts.map((text, at) => cellXml(text, at, row, style)).join('')}</row>`

const ana = ['Ana', 'Silva', 'ana@example.com', '+61400000001']
const bo = ['Bo', 'Li', 'bo@example.com', '+61400000002']

const struckStyles: Parts = {
  'xl/styles.xml':
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts><font/><font><strike/></font></fonts><cellXfs><xf numFmtId="0" fontId="0"/><xf numFmtId="0" fontId="1"/></cellXfs><dxfs count="2"><dxf><font><b/></font></dxf><dxf><font><strike/></font></dxf></dxfs></styleSheet>',
}

function createWorkbook(rows: string, xmlBefore = '', xmlAfter = ''): Promise<Buffer> {
  return zipParts(excelParts(`${xmlBefore}<sheetData>${rows}</sheetData>${xmlAfter}`, struckStyles))
}

test('hidden and struck-through rows are refused with their lines, unless --hidden is given', async () => {
  const { type, write } = await session()
  write(
    'people.xlsx',
    await createWorkbook(
      rowXml(header, 1) +
        rowXml(ana, 2) +
        rowXml(bo, 3, ' hidden="1"') +
        rowXml(['Cy', 'Ng', 'cy@example.com', '+61400000003'], 4, '', ' s="1"'),
    ),
  )
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.xlsx --package 102
    2> Error: people.xlsx: the row on line 3 is hidden, and the row on line 4 is struck through
    2> Leave them out with --hidden skip, or order them too with --hidden include.
    exit 2
  `)
  expect(await type(`${validate} --hidden skip`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.xlsx --package 102 --hidden skip
    people.xlsx: 1 row, 1 valid
    2> Order them with: refcheck batch run people.xlsx --package 102 --hidden skip
    exit 0
  `)
  expect(await type(`${validate} --hidden include`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.xlsx --package 102 --hidden include
    people.xlsx: 3 rows, 3 valid
    2> Order them with: refcheck batch run people.xlsx --package 102 --hidden include
    exit 0
  `)
})

test('rows that a conditional format may strike through are refused, unless --hidden include is given', async () => {
  const { all, write } = await session()
  const createRule = (id: number): string =>
    `<conditionalFormatting sqref="A2:D9"><cfRule type="expression" dxfId="${String(id)}" priority="1"><formula>$B2="Li"</formula></cfRule></conditionalFormatting>`
  const rows = rowXml(header, 1) + rowXml(ana, 2) + rowXml(bo, 3)
  write('people.xlsx', await createWorkbook(rows, '', createRule(1)))
  write('bold.xlsx', await createWorkbook(rows, '', createRule(0)))
  const commandLines = ['', ' --hidden skip', ' --hidden include'].map((flag) => `${validate}${flag}`)
  expect(await all([...commandLines, validate.replace('people', 'bold')])).toMatchInlineSnapshot(`
    $ refcheck batch validate people.xlsx --package 102
    2> Error: people.xlsx: a conditional format may strike through, hide or change cells of A2:D9, and it is not evaluated
    2> Remove that conditional format, or order these rows too with --hidden include.
    exit 2

    $ refcheck batch validate people.xlsx --package 102 --hidden skip
    2> Error: people.xlsx: a conditional format may strike through, hide or change cells of A2:D9, and it is not evaluated
    2> Remove that conditional format, or order these rows too with --hidden include.
    exit 2

    $ refcheck batch validate people.xlsx --package 102 --hidden include
    people.xlsx: 2 rows, 2 valid
    2> Order them with: refcheck batch run people.xlsx --package 102 --hidden include
    exit 0

    $ refcheck batch validate bold.xlsx --package 102
    bold.xlsx: 2 rows, 2 valid
    2> Order them with: refcheck batch run bold.xlsx --package 102
    exit 0
  `)
})

test('on a terminal the user chooses whether hidden rows are ordered', async () => {
  const { type, write, listOrderedEmails } = await session()
  write(
    'people.xlsx',
    await createWorkbook(rowXml(header, 1) + rowXml(ana, 2) + rowXml(bo, 3, ' hidden="1"')),
  )
  const answers = [
    { ask: /the row on line 3 is hidden/, choose: 'No, leave out this row' },
    { ask: /^Order 102 Identity check only/, confirm: true },
  ]
  expect(await type('batch run people.xlsx --package 102', { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run people.xlsx --package 102
    ? people.xlsx: the row on line 3 is hidden. Order checks for it too?: No, leave out this row
    2>
    2> people.xlsx: 1 row
    2>   1 order of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> people.results.xlsx leaves out 1 row that is hidden or struck through and not ordered.
    ? Order 102 Identity check only for Ana Silva (ana@example.com) at 127.0.0.1:PORT as olive.owner@example.com? yes
    ✔ 1 person in people.xlsx is ordered

    batch  BATCH_1
    people.xlsx, 102 Identity check only

    1  accepted
    1  row

    results  HOME/people.results.xlsx

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(['ana@example.com'])
})

test('blank hidden rows and hidden columns that are not sent are ignored; a hidden column that is sent is refused', async () => {
  const { type, write } = await session()
  const columns = '<cols><col min="5" max="5" hidden="1"/></cols>'
  write(
    'people.xlsx',
    await createWorkbook(
      rowXml([...header, 'Notes'], 1) + rowXml([...ana, 'x'], 2) + rowXml([' '], 3, ' hidden="1"'),
      columns,
    ),
  )
  expect(await type(`${validate} --ignore Notes`)).toMatchObject({ code: 0 })
  write(
    'people.xlsx',
    await createWorkbook(
      rowXml(header, 1) + rowXml(ana, 2),
      '<cols><col min="3" max="3" hidden="1"/></cols>',
    ),
  )
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.xlsx --package 102
    2> Error: people.xlsx: the column "email" is hidden, and would be sent
    2> Show it and look at it, or leave it out with --ignore email, or send it as it is with --hidden include.
    exit 2
  `)
})

test('merged cells are refused in columns that are sent, and ignored in other columns', async () => {
  const { type, write } = await session()
  const rows = rowXml([...header, 'Team'], 1) + rowXml([...ana, 'x'], 2) + rowXml(bo, 3)
  const merge = (range: string): string => `<mergeCells><mergeCell ref="${range}"/></mergeCells>`
  write('people.xlsx', await createWorkbook(rows, '', merge('E2:E3')))
  expect(await type(`${validate} --ignore Team`)).toMatchObject({ code: 0 })
  write('people.xlsx', await createWorkbook(rows, '', merge('A2:A3')))
  expect(await type(`${validate} --ignore Team`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.xlsx --package 102 --ignore Team
    2> Error: people.xlsx: the cells A2:A3 are merged, so it is unclear which row the value belongs to
    2> Unmerge them, and give each row its own value.
    exit 2
  `)
})

test('on a terminal the user chooses the encoding by values of the file; a mapping or a setting stores it', async () => {
  const { type, write } = await session()
  const file = iconv.encode(
    `${header.join(',')}\nAntonín,Dvořák,a@example.com,+61400000001\n`,
    'windows-1250',
  )
  write('people.csv', file)
  const csv = 'batch validate people.csv --package 102'
  const answers = [{ ask: /is not UTF-8. Which of these/, choose: /Antonín.*windows-1250/ }]
  expect(await type(`${csv} --save-mapping czech`, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --save-mapping czech
    2> Kept how the file was read: use it with --mapping czech
    ? people.csv is not UTF-8. Which of these is right?: Antonín, Dvořák (windows-1250, Central Europe)
    people.csv: 1 row, 1 valid
    2> Order them with: refcheck batch run people.csv --package 102 --encoding windows-1250
    exit 0
  `)
  expect(await type(`${csv} --mapping czech`)).toMatchObject({ code: 0 })
  expect(await type(csv)).toMatchObject({ code: 2 })
  await type('config set encoding windows-1250')
  expect(await type(csv)).toMatchObject({ code: 0 })
})

test('a value that is refused in a workbook is also refused in the file of its invalid rows', async () => {
  const { type, write, cat } = await session()
  const cellsOfRow2 = `${cellXml('Bo', 0, 2)}<c r="B2" t="b"><v>1</v></c>${cellXml('bo@example.com', 2, 2)}${cellXml('+61400000002', 3, 2)}`
  const cellsOfRow3 = `<c r="A3" t="e"><v>#N/A</v></c>${cellXml('Li', 1, 3)}${cellXml('li@example.com', 2, 3)}${cellXml('+61400000003', 3, 3)}`
  write(
    'people.xlsx',
    await createWorkbook(
      `${rowXml(header, 1)}<row r="2">${cellsOfRow2}</row><row r="3">${cellsOfRow3}</row>`,
    ),
  )
  expect(await type(`${validate} --errors mend.csv`)).toMatchObject({ code: 2 })
  expect(cat('mend.csv')).toMatchInlineSnapshot(`
    $ cat mend.csv
    first_name,last_name,email,phone,refcheck_row,refcheck_column,refcheck_problem,refcheck_suggestion
    Bo,#REFUSED! true,bo@example.com,+61400000002,1,last_name,"is TRUE or FALSE in the spreadsheet, not text; format the column as text and type it again",
    #REFUSED! #N/A,Li,li@example.com,+61400000003,2,first_name,is the error #N/A,
  `)
  expect(await type('batch validate mend.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch validate mend.csv --package 102
    mend.csv: 2 rows, 0 valid, 2 invalid

    LINE  PERSON  COLUMN      VALUE           PROBLEM
    2     Bo      last_name   #REFUSED! true  was refused when it was read before; type it again
    3     Li      first_name  #REFUSED! #N/A  was refused when it was read before; type it again
    2> Error: mend.csv: 2 of 2 rows are invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate mend.csv --package 102 --errors invalid.csv
    exit 2
  `)
})

test('a damaged name is refused, unless --accept-line names its line', async () => {
  const { type, write } = await session()
  write('people.csv', `${header.join(',')}\n?ukasz,Nowak,l@example.com,+48221234567\n`)
  const csv = 'batch validate people.csv --package 102'
  expect(await type(csv)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 1 row, 0 valid, 1 invalid

    LINE  PERSON        COLUMN      VALUE   PROBLEM
    2     ?ukasz Nowak  first_name  ?ukasz  holds ?, which may stand for a letter that was lost; if it is right, add --accept-line 2
    2> Error: people.csv: 1 of 1 row is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv
    exit 2
  `)
  expect(await type(`${csv} --accept-line 2`)).toMatchObject({ code: 0 })
})

test('every change of a value is in the JSON, and with --show-changes also in the text', async () => {
  const { type, write } = await session()
  const rows = Array.from(
    { length: 12 },
    (_, at) => `Ana,R,a${String(at)}@example.com,+61 400 000 0${String(10 + at)}`,
  )
  write('people.csv', `${header.join(',')}\n${rows.join('\n')}\n`)
  const csv = 'batch validate people.csv --package 102'
  expect(await type(csv)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 12 rows, 12 valid

      11 rows have the name of an earlier row with another e-mail and phone: they are sent
        Ana R (line 3), as in line 2
        Ana R (line 4), as in line 2
        Ana R (line 5), as in line 2
        Ana R (line 6), as in line 2
        Ana R (line 7), as in line 2
        … and 6 more
      To leave one of them out, remove its line from the file first

    Changed before sending:
      12 × phone: spaces, (), - and . are removed
        line 2, phone: "+61 400 000 010" is sent as "+61400000010"
        line 3, phone: "+61 400 000 011" is sent as "+61400000011"
        line 4, phone: "+61 400 000 012" is sent as "+61400000012"
        … and 9 more: --show-changes
    2> Order them with: refcheck batch run people.csv --package 102
    exit 0
  `)
  const { stdout } = await type(`${csv} --json`)
  expect((JSON.parse(stdout) as { changes: unknown[] }).changes).toHaveLength(12)
  expect((await type(`${csv} --show-changes`)).stdout.match(/is sent as/g)).toHaveLength(12)
})

test('request create accepts a national phone number if a default country is given', async () => {
  const { type } = await session()
  const create =
    'request create --package 102 --first-name Ana --last-name Silva --email ana@example.com --phone "0412 345 678" --dry-run --json'
  expect(await type(create)).toMatchObject({ code: 2 })
  const { stdout, code } = await type(`${create} --default-country AU`)
  expect([code, (JSON.parse(stdout) as { recipient: { phone: string } }).recipient.phone]).toEqual([
    0,
    '+61412345678',
  ])
  await type('config set default-country AU')
  expect(await type(create)).toMatchObject({ code: 0 })
})
