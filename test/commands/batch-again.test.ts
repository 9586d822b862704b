import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102'

test('batch run of a finished file reports that nothing is left to do, and does not change its results file', async () => {
  const { type, folder, write, read, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  await type(`${run} --yes`)
  const results = read('people.results.csv')
  write('people.results.csv', `${results}checked by hand`)
  expect(await type(`${run} --shared office@example.com`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --shared office@example.com
    2> Warning: people.results.csv could not be read, so orders it may name were not looked at: HOME/people.results.csv: line 4 has 1 cell, and the header has 17
    2> people.csv is batch BATCH_1: nothing left to send.
    2> Warning: --allow-similar and --shared apply to new files only, and this file is a batch already, with no held rows.
    ✔ All 2 people in people.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck report sync --output reports
    exit 0
  `)
  expect(read('people.results.csv')).toBe(`${results}checked by hand`)
  write('reordered.csv', read('people.csv').split('\n').toSorted().toReversed().join('\n').trimStart())
  expect(await type('batch run reordered.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch run reordered.csv --package 102
    ✔ All 2 people in reordered.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

    reordered.csv: 2 rows
      0 orders to send
      2 rows ordered before, not sent
        Ana Row2 (line 2): ordered 2026-11-20 12:00 +00:00
        Ana Row1 (line 3): ordered 2026-11-20 12:00 +00:00
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  '--again makes a new batch of a finished file, and later runs of the file use that batch (%s)',
  async (store) => {
    const { type, folder, listOrderedEmails } = await session({ store })
    writePeopleFile(folder, createEmails(2))
    const first = (await type(`${run} --yes --max 1 --json`)).json() as { batch_id: string }
    const refused = await type(`${run} --yes --again`)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      `Error: --again: people.csv is batch ${first.batch_id}, which is not finished\nNothing was sent. Continue that batch with: refcheck batch resume ${first.batch_id}\n`,
    ])
    await type(`batch cancel ${first.batch_id} --row 2`)
    expect((await type(`${run} --yes`)).code).toBe(10)
    expect(listOrderedEmails()).toEqual(['a1@example.com'])
    const again = await type(`${run} --yes --again --json`)
    expect([again.code, again.json()]).toMatchObject([0, { counts: { accepted: 1, duplicate: 1 } }])
    const { batch_id } = again.json() as { batch_id: string }
    expect(batch_id).not.toBe(first.batch_id)
    expect((await type(`${run} --json`)).json()).toMatchObject({ batch_id })
    expect(listOrderedEmails()).toEqual(createEmails(2))
  },
)

test('the suggested command waits for new requests, later downloads reports, and names a folder if none is set', async () => {
  const { type, folder } = await session()
  writePeopleFile(folder, createEmails(1))
  expect((await type(`${run} --yes`)).stdout).toMatch(/\nNext: refcheck request wait --batch [\da-f-]{36}\n$/)
  expect((await type(`${run} --yes`)).stdout).toMatch(/\nNext: refcheck report sync --output reports\n$/)
  await type('config set output-dir reports')
  expect((await type(`${run} --yes`)).stdout).toMatch(/\nNext: refcheck report sync\n$/)
})

test('a file counts as ordered if an earlier batch ordered its people, even if the rows of its last batch were left out', async () => {
  const { type, folder, clock, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  await type(`${run} --yes`)
  await clock.advance(60_000)
  const decideLater = { ask: /Order again\?$/, choose: 'Decide later' }
  const leaveOut = { ask: /Order again\?$/, choose: 'No: leave out' }
  const again = await type(`${run} --yes --again --allow-duplicate`, { answers: [leaveOut, decideLater] })
  expect(again).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --again --allow-duplicate
    2>
    2> people.csv: 2 rows
    2>   0 orders to send
    2>   2 rows held, not sent until you release them
    2>     was ordered less than 7 days ago
    2>       Ana Row1 (line 2), Ana Row2 (line 3)
    2>
    2>
    2> Ana Row1 (line 2) of people.csv is held (1 of 2)
    2>
    ? Ana Row1 was ordered on 2026-11-20 12:00 +00:00, less than 7 days ago. Order again?: No: leave out
    2>
    2> Ana Row2 (line 3) of people.csv is held (2 of 2)
    2>
    ? Ana Row2 was ordered on 2026-11-20 12:00 +00:00, less than 7 days ago. Order again?: Decide later
    2 of 2 people in people.csv are ordered; 1 held, to decide whether to order again

    batch  BATCH_2
    people.csv, 102 Identity check only

    1  held
    1  cancelled, ordered by another row or command
    2  rows

    results  HOME/people.results.csv

    Next: refcheck batch release BATCH_2
    exit 10
  `)
  const [batch] = (await type('batch list --json')).json() as { batch_id: string }[]
  await type(`batch cancel ${batch?.batch_id} --yes`)
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2> people.csv is batch BATCH_2: nothing left to send.
    ✔ All 2 people in people.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

    batch  BATCH_2
    people.csv, 102 Identity check only

    2  cancelled, ordered by another row or command
    2  rows

    results  HOME/people.results.csv

    Next: refcheck report sync --output reports
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('the plan and the result name a person whose request was CANCELLED, and report no success', async () => {
  const { type, folder, sandbox, clock, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(1))
  sandbox.inject({ scenario: 'declined' })
  await type(`${run} --yes`)
  await clock.advance(30 * 24 * 60 * 60_000)
  await type('request list --refresh --quiet')
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2> people.csv is batch BATCH_1: nothing left to send.
    1 person in people.csv is ordered, on 2026-11-20 12:00 +00:00; the request of Ana Row1 (line 2) was CANCELLED

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    1  row

    results  HOME/people.results.csv

    Next: refcheck request get REQUEST_1

    To order Ana Row1 (line 2) again: refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --allow-duplicate
    exit 0
  `)
  writePeopleFile(folder, createEmails(2))
  expect(await type(`${run} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 2 rows
    2>   1 order of 102 Identity check only
    2>   1 row ordered before, not sent
    2>     Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00, ended CANCELLED
    2> Sending takes under a minute
    2>
    All 2 people in people.csv are ordered
       1 now: Ana Row2
       1 before, on 2026-11-20 12:00 +00:00; the request of Ana Row1 (line 2) was CANCELLED

    batch  BATCH_2
    people.csv, 102 Identity check only

    1  accepted
    1  duplicate
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request get REQUEST_1

    To order Ana Row1 (line 2) again: refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --allow-duplicate
    exit 0
  `)
  const again = 'request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com'
  await type(`${again} --phone +61400000001 --allow-duplicate --yes`)
  expect((await type(`${run} --yes`)).stdout).toContain('✔ All 2 people in people.csv are ordered')
  writePeopleFile(folder, createEmails(1))
  const firstFile = await type(`${run} --yes`)
  expect(firstFile.stdout).toContain('the request of Ana Row1 (line 2), ordered again, was CANCELLED')
  expect(firstFile.stdout).not.toContain('To order')
  expect(listOrderedEmails()).toEqual([...createEmails(2), ...createEmails(1)])
})

test('a file with requests that ended without a result is reported as no success, also if invalid rows were left out', async () => {
  const { type, folder, sandbox, clock } = await session()
  writePeopleFile(folder, [...createEmails(2), 'no e-mail'])
  sandbox.inject({ scenario: 'declined' })
  const skip = `${run} --yes --on-invalid skip`
  await type(skip)
  await clock.advance(30 * 24 * 60 * 60_000)
  await type('request list --refresh --quiet')
  expect(await type(skip)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --on-invalid skip
    2> people.csv is batch BATCH_1: nothing left to send.
    2 of 3 people in people.csv are ordered; the request of Ana Row1 (line 2) was CANCELLED; left out: 1 invalid

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    1  invalid
    3  rows

    results  HOME/people.results.csv

    Next: refcheck request get REQUEST_1

    To order Ana Row1 (line 2) again: refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --allow-duplicate

    Not ordered, because invalid: Ana Row3 (line 4)
    To order invalid rows, correct them in the file and run it again.
    2> See the reason for each row with: refcheck batch rows BATCH_1
    exit 10
  `)
})

test('exports show the status of the order that another batch made for the same person', async () => {
  const { type, folder, read, write, clock } = await session()
  writePeopleFile(folder, createEmails(2))
  await type(`${run} --yes`)
  const leaveOut = { ask: /Order again\?$/, choose: 'No: leave out' }
  await type(`${run} --yes --again --allow-duplicate`, { answers: [leaveOut, leaveOut] })
  await clock.advance(30 * 24 * 60 * 60_000)
  await type('request list --refresh --quiet')
  const [again] = (await type('batch list --json')).json() as { batch_id: string }[]
  await type(`batch export ${again?.batch_id} --output again.html`)
  const page = read('again.html').replaceAll(/\s+/g, ' ')
  expect(page).toContain('<dd>2 <small>of 2</small></dd>')
  expect(page.match(/<td><span class="pill[^>]*>[^<]*<\/span>[^/]*/g)).toMatchInlineSnapshot(`
    [
      "<td><span class="pill done">COMPLETED</span> <small>(ordered elsewhere)<",
      "<td><span class="pill done">COMPLETED</span> <small>(ordered elsewhere)<",
    ]
  `)
  write('similar.csv', 'first_name,last_name,email,phone\nIda,Lund,a1@example.com,+61400000099\n')
  const held = (await type('batch run similar.csv --package 102 --yes --json')).json() as { batch_id: string }
  await type(`batch cancel ${held.batch_id} --yes`)
  const cells = read('similar.results.csv').trim().split('\n').at(-1)?.split(',').slice(4, 9)
  expect(cells).toEqual(['cancelled', '', '', 'cancelled before it was sent', ''])
})

test('--again of a file whose people are all ordered names the flag that orders them once more', async () => {
  const { type, folder } = await session()
  writePeopleFile(folder, createEmails(1))
  await type('batch run people.csv --package 102 --yes')
  expect(await type('batch run people.csv --package 102 --again --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --again --yes
    ✔ 1 person in people.csv is ordered, on 2026-11-20 12:00 +00:00; nothing to do

    people.csv: 1 row
      0 orders to send
      1 row ordered before, not sent
        Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00
    2> To order these people once more, add --allow-duplicate. Who was ordered less than 7 days ago is then held for a decision.
    exit 0
  `)
})
