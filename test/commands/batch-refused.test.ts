import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { type Session, session } from '../harness/session.ts'
import { collect, openBytes, textOfCell } from '../sheets/table.ts'
import { createWorkbook } from '../sheets/workbook.ts'

const header = ['first_name', 'last_name', 'email', 'phone']
const ana = ['Ana', 'Silva', 'ana@example.com', '+61400000001']
const bo = ['Bo', 'Li', 'bo@example.com', '+61400000002']

const cellXml = (text: string, at: number, row: number): string =>
  `<c r="${String.fromCodePoint(65 + at)}${String(row)}" t="inlineStr"><is><t>${text}</t></is></c>`

const rowXml = (texts: readonly string[], row: number, attributes = ''): string =>
  `<row r="${String(row)}"${attributes}>${texts.map((text, at) => cellXml(text, at, row)).join('')}</row>`

async function readTable({ folder }: Session, file: string): Promise<string[][]> {
  const sheet = await openBytes(readFileSync(join(folder, file)), file)
  return (await collect(sheet.rows())).map(({ cells }) => cells.slice(0, 5).map(textOfCell))
}

test('results of a workbook do not contain the hidden rows that were left out, and running the results file orders no person again', async () => {
  const here = await session()
  here.write(
    'people.xlsx',
    await createWorkbook(rowXml(header, 1) + rowXml(ana, 2) + rowXml(bo, 3, ' hidden="1"')),
  )
  const run = 'batch run people.xlsx --package 102 --yes --quiet --hidden skip'
  expect(await here.type(`${run} --results out.csv`)).toMatchObject({ code: 0 })
  expect(await readTable(here, 'out.csv')).toEqual([[...ana, 'accepted']])
  expect(await here.type(`${run} --results out.jsonl`)).toMatchObject({ code: 0 })
  expect(here.read('out.jsonl')).not.toContain('bo@example.com')
  expect(await here.type(`${run} --results out.xlsx`)).toMatchObject({ code: 0 })
  expect(await here.type('batch validate out.xlsx --package 102')).toMatchObject({ code: 0 })
  await here.type('batch run out.csv --package 102 --yes')
  expect(here.listOrderedEmails()).toEqual(['ana@example.com'])
})

test('a message states how many hidden rows a results file (CSV) leaves out, and running that file orders none of them', async () => {
  const here = await session()
  const rows = rowXml(header, 1) + rowXml(ana, 2) + rowXml(bo, 3, ' hidden="1"')
  here.write('people.xlsx', await createWorkbook(rows))
  expect(await here.type('batch run people.xlsx --package 102 --yes --hidden skip --results out.csv'))
    .toMatchInlineSnapshot(`
      $ refcheck batch run people.xlsx --package 102 --yes --hidden skip --results out.csv
      2>
      2> people.xlsx: 1 row
      2>   1 order of 102 Identity check only
      2> Sending takes under a minute
      2>
      2> out.csv leaves out 1 row that is hidden or struck through and not ordered.
      ✔ 1 person in people.xlsx is ordered

      batch  BATCH_1
      people.xlsx, 102 Identity check only

      1  accepted
      1  row

      results  HOME/out.csv

      Next: refcheck request wait --batch BATCH_1
      exit 0
    `)
  expect(await here.type('batch run out.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run out.csv --package 102 --yes
    ✔ 1 person in out.csv is ordered, on 2026-11-20 12:00 +00:00; nothing to do

    out.csv: 1 row
      0 orders to send
      1 row ordered before, not sent
        Ana Silva (line 2): ordered 2026-11-20 12:00 +00:00
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(['ana@example.com'])
})

test.each(['out.csv', 'out.json', 'out.xlsx'])(
  'a value that is refused in a workbook is also refused in its results file (%s)',
  async (results) => {
    const here = await session()
    const cells = `<c r="A3" t="e"><v>#N/A</v></c><c r="B3" t="b"><v>1</v></c>${cellXml('bo@example.com', 2, 3)}${cellXml('+61400000002', 3, 3)}`
    here.write(
      'people.xlsx',
      await createWorkbook(`${rowXml(header, 1)}${rowXml(ana, 2)}<row r="3">${cells}</row>`),
    )
    const run = 'batch run people.xlsx --package 102 --yes --on-invalid skip'
    expect(await here.type(`${run} --results ${results}`)).toMatchObject({ code: 10 })
    const again = await here.type(
      `batch run ${results} --package 102 --yes --on-invalid skip --allow-duplicate --json`,
    )
    expect(again.json()).toMatchObject({ counts: { total: 2, invalid: 1 } })
    expect(here.listOrderedEmails()).not.toContain('bo@example.com')
  },
)

test.each(['csv', 'xlsx'])(
  'a JSON value that is not a string is marked as refused in the file of invalid rows and in the results file (%s)',
  async (format) => {
    const here = await session()
    const [first_name, last_name, email, phone] = bo
    here.write('people.json', JSON.stringify([{ first_name: true, last_name: ['Li'], email, phone }]))
    const validate = 'batch validate people.json --package 102'
    expect(await here.type(`${validate} --errors fix.${format}`)).toMatchObject({ code: 2 })
    expect(await readTable(here, `fix.${format}`)).toEqual([
      ['#REFUSED! true', '#REFUSED! ["Li"]', email, phone, '1'],
    ])
    here.write(
      'more.json',
      JSON.stringify([
        { first_name, last_name, email, phone },
        { first_name: 7, last_name: 'Ng', email: 'cy@example.com', phone },
      ]),
    )
    const run = `batch run more.json --package 102 --yes --on-invalid skip --results out.${format}`
    expect(await here.type(run)).toMatchObject({ code: 10 })
    expect((await readTable(here, `out.${format}`))[1]).toEqual([
      '#REFUSED! 7',
      'Ng',
      'cy@example.com',
      phone,
      'invalid',
    ])
  },
)

test('a value that is refused in a CSV file is also refused in a workbook of its invalid rows', async () => {
  const { all: typeAll, write } = await session()
  write(
    'people.csv',
    `${header.join(',')}\n#N/A,Li,bo@example.com,+61400000002\n"=""Cy""",Ng,cy@example.com,6.14E+10\n`,
  )
  expect(
    await typeAll([
      'batch validate people.csv --package 102 --errors fix.xlsx',
      'batch validate fix.xlsx --package 102',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --errors fix.xlsx
    2> The invalid rows are in HOME/fix.xlsx
    people.csv: 2 rows, 0 valid, 2 invalid

    LINE  PERSON  COLUMN      VALUE     PROBLEM
    2     Li      first_name  #N/A      is the error #N/A of a spreadsheet, not a value
    3     Ng      first_name  ="Cy"     is a formula that a spreadsheet shows as "Cy"; write that instead
    3     Ng      phone       6.14E+10  is in scientific notation: the spreadsheet has dropped digits; format the column as text and type it again
    2> Error: people.csv: 2 of 2 rows are invalid
    2> Nothing was sent. Fix them in that file, then order them with: refcheck batch run fix.xlsx --package 102
    exit 2

    $ refcheck batch validate fix.xlsx --package 102
    fix.xlsx: 2 rows, 0 valid, 2 invalid

    LINE  PERSON  COLUMN      VALUE     PROBLEM
    2     Li      first_name  #N/A      is the error #N/A of a spreadsheet, not a value
    3     Ng      first_name  ="Cy"     is a formula that a spreadsheet shows as "Cy"; write that instead
    3     Ng      phone       6.14E+10  is in scientific notation: the spreadsheet has dropped digits; format the column as text and type it again
    2> Error: fix.xlsx: 2 of 2 rows are invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate fix.xlsx --package 102 --errors invalid.xlsx
    exit 2
  `)
})
