import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'
import { collect, openBytes, textOfCell } from '../sheets/table.ts'
import { type Parts, excelParts, zipParts } from '../sheets/workbook.ts'

const relationshipTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

const header = ['first_name', 'last_name', 'email', 'phone', 'cv']
const ana = ['Ana', 'Silva', 'ana@example.com', '+61400000001', 'CV']
const bo = ['Bo', 'Li', 'no e-mail', '+61400000002', 'CV']

const cellXml = (text: string, at: number, row: number, formula = ''): string =>
  `<c r="${String.fromCodePoint(65 + at)}${String(row)}" t="str">${formula}<v>${text}</v></c>`

const rowXml = (texts: readonly string[], row: number): string =>
  `<row r="${String(row)}">${texts.map((text, at) => cellXml(text, at, row, at === 4 && row > 1 ? '<f>"C"&amp;"V"</f>' : '')).join('')}</row>`

/** A workbook with a column width, a link, a formula, a comment, conditional formatting and a hidden second sheet. */
function createFormattedWorkbook(...rows: string[][]): Promise<Buffer> {
  const sheetXml = `<cols><col min="5" max="5" width="33.5" customWidth="1"/></cols><sheetData>${[header, ...rows].map((row, at) => rowXml(row, at + 1)).join('')}</sheetData><conditionalFormatting sqref="A2:A9"><cfRule type="duplicateValues" priority="1"/></conditionalFormatting><hyperlinks><hyperlink ref="E2" xmlns:r="${relationshipTypes}" r:id="rId7"/></hyperlinks>`
  const link = `<Relationship Id="rId7" Type="${relationshipTypes}/hyperlink" Target="https://example.com/cv?a=1&amp;b=2" TargetMode="External"/>`
  const comments = `<Relationship Id="rId8" Type="${relationshipTypes}/comments" Target="../comments1.xml"/>`
  const parts: Parts = {
    'xl/worksheets/_rels/sheet1.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${link}${comments}</Relationships>`,
  }
  const workbookParts = excelParts(sheetXml, parts)
  workbookParts['xl/workbook.xml'] = String(workbookParts['xl/workbook.xml']).replace(
    '</sheets>',
    '<sheet name="Notes" sheetId="2" state="hidden" r:id="rId1"/></sheets>',
  )
  return zipParts(workbookParts)
}

test('the results file of a workbook has its column widths, and a message lists what of the workbook it does not have', async () => {
  const { type, write, folder } = await session()
  write('people.xlsx', await createFormattedWorkbook(ana))
  expect(await type('batch run people.xlsx --package 102 --ignore cv --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run people.xlsx --package 102 --ignore cv --yes
    2>
    2> people.xlsx: 1 row
    2>   1 order of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> people.results.xlsx keeps the values, number formats and column widths, but not: comments, conditional formats, formulas (only their values), links, the sheet "Notes". Your own file is not changed.
    ✔ 1 person in people.xlsx is ordered

    batch  BATCH_1
    people.xlsx, 102 Identity check only

    1  accepted
    1  row

    results  HOME/people.results.xlsx

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  const results = await openBytes(readFileSync(join(folder, 'people.results.xlsx')), 'people.results.xlsx')
  const rows = await collect(results.rows())
  expect(rows.map(({ cells }) => cells.slice(0, 6).map(textOfCell))).toEqual([[...ana, 'accepted']])
  expect(results.appearance().widths.get(4)).toBe(33.5)
})

test('a message lists what of the workbook is not copied to the file of invalid rows', async () => {
  const { type, write, folder } = await session()
  write('people.xlsx', await createFormattedWorkbook(ana, bo))
  expect(await type('batch validate people.xlsx --package 102 --ignore cv --errors fix.xlsx'))
    .toMatchInlineSnapshot(`
      $ refcheck batch validate people.xlsx --package 102 --ignore cv --errors fix.xlsx
      2> fix.xlsx keeps the values, number formats and column widths, but not: comments, conditional formats, formulas (only their values), links, the sheet "Notes". Your own file is not changed.
      2> The invalid rows are in HOME/fix.xlsx
      people.xlsx: 2 rows, 1 valid, 1 invalid

      LINE  PERSON  COLUMN  VALUE      PROBLEM
      3     Bo Li   email   no e-mail  has no @; an e-mail address looks like ann@example.com
      2> Error: people.xlsx: 1 of 2 rows is invalid
      2> Nothing was sent. Fix them in that file, then order them with: refcheck batch run fix.xlsx --package 102 --ignore cv
      exit 2
    `)
  const errorsFile = await openBytes(readFileSync(join(folder, 'fix.xlsx')), 'fix.xlsx')
  expect((await collect(errorsFile.rows())).map(({ cells }) => cells.slice(0, 5).map(textOfCell))).toEqual([
    bo,
  ])
})

test('the results of a workbook with macros are a workbook without macros, whose name ends in .xlsx', async () => {
  const { type, write } = await session()
  write('people.xlsm', await createFormattedWorkbook(ana))
  expect(await type('batch run people.xlsm --package 102 --ignore cv --yes --quiet')).toMatchInlineSnapshot(`
    $ refcheck batch run people.xlsm --package 102 --ignore cv --yes --quiet
    ✔ 1 person in people.xlsm is ordered

    batch  BATCH_1
    people.xlsm, 102 Identity check only

    1  accepted
    1  row

    results  HOME/people.results.xlsx

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(await type('batch run people.xlsm --package 102 --ignore cv --yes --results again.xlsm'))
    .toMatchInlineSnapshot(`
    $ refcheck batch run people.xlsm --package 102 --ignore cv --yes --results again.xlsm
    2> people.xlsm is batch BATCH_1: nothing left to send.
    2> Error: --results: again.xlsm ends in .xlsm, a format that is not written: let its name end in .xlsx
    2> Nothing was sent. Choose another name.
    exit 2
  `)
})

test('batch list shows how many people are ordered, also by an earlier batch, and how many requests are finished', async () => {
  const { type, folder, sandbox, clock } = await session()
  writePeopleFile(folder, createEmails(2))
  sandbox.inject({ scenario: 'declined' })
  await type('batch run people.csv --package 102 --yes')
  const leaveOut = { ask: /Order again\?$/, choose: 'No: leave out' }
  writePeopleFile(folder, createEmails(1), 'again.csv')
  await type('batch run again.csv --package 102 --yes --allow-duplicate', { answers: [leaveOut] })
  await clock.advance(30 * 24 * 60 * 60_000)
  await type('request list --refresh --quiet')
  writePeopleFile(folder, createEmails(4), 'more.csv')
  await type('batch run more.csv --package 102 --yes --max 1')
  expect(await type('batch list')).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID                              NAME        ADDED AT          ORDERED  FINISHED  STATE
    BATCH_3                               more.csv    2026-12-20        3 of 4   2         stopped
    BATCH_2                               again.csv   2026-11-20 12:00  1 of 1   1         done
    BATCH_1                               people.csv  2026-11-20 12:00  2 of 2   2         done
    exit 0
  `)
  const listed = (await type('batch list --json')).json()
  expect(listed).toMatchObject([
    { name: 'more.csv', accepted: 1, ordered: 3, finished: 2 },
    { name: 'again.csv', accepted: 0, ordered: 1, finished: 1 },
    { name: 'people.csv', accepted: 2, ordered: 2, finished: 2 },
  ])
  expect((await type('batch list --csv --columns accepted,progress,ordered,finished')).stdout)
    .toMatchInlineSnapshot(`
    "accepted,progress,ordered,finished
    1,1 of 4,3,2
    0,0 of 1,1,1
    2,2 of 2,2,2
    "
  `)
})
