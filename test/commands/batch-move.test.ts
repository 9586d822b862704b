import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

/** Version 0.1.0 of refcheck suggested running the file again with `--package 107`. That ordered 16 people twice. */
test('if package 102 is replaced after 16 rows, only batch move lets the other rows be sent, with the new package, and no person is ordered again from a later file', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(60))
  const started = await here.type('batch run people.csv --package 102 --yes --json --max 16')
  const { batch_id } = started.json() as { batch_id: string }
  const successor = here.sandbox.replacePackage(102, { newField: false })
  const resumed = await here.type(`batch resume ${batch_id} --yes`)
  expect([resumed.code, here.listOrderedEmails().length]).toEqual([5, 16])
  expect(await here.type(`batch move ${batch_id} --package ${successor}`)).toMatchInlineSnapshot(`
    $ refcheck batch move BATCH_1 --package 107
    2> Moved 44 rows to package 107.
    2> The accepted rows keep the package under which they were ordered.
    2> From now on, 102 and 107 count as one package: a person who was ordered under one is not ordered under the other.
    2> Order them with: refcheck batch resume BATCH_1
    batch  BATCH_1
    people.csv, 107 Identity check only

    16  accepted, under package 102
    44  pending
    60  rows

    results  HOME/people.results.csv
    exit 0
  `)
  const moved = await here.type(`batch resume ${batch_id} --yes --json`)
  expect([moved.code, moved.json()]).toMatchObject([
    0,
    { package_id: successor, counts: { total: 60, accepted: 60 } },
  ])
  expect(here.listOrderedEmails()).toEqual(createEmails(60))
  expect(here.sandbox.requests().map(({ package_id }) => package_id)).toEqual([
    ...Array<number>(16).fill(102),
    ...Array<number>(44).fill(successor),
  ])
  writePeopleFile(here.folder, createEmails(20), 'again.csv')
  const again = await here.type(`batch run again.csv --package ${successor} --yes --json`)
  expect([again.code, again.json()]).toMatchObject([0, { counts: { duplicate: 20, pending: 0 } }])
  expect(here.listOrderedEmails()).toHaveLength(60)
  expect(await here.type(`batch move ${batch_id} --package 103`)).toMatchInlineSnapshot(`
    $ refcheck batch move BATCH_1 --package 103
    2> Error: batch BATCH_1 has no rows left to move
    2> Nothing was moved.
    exit 2
  `)
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'batch move marks a row as duplicate if its person was already ordered with the new package (%s)',
  async (store) => {
    const here = await session({ store })
    writePeopleFile(here.folder, createEmails(3))
    const started = await here.type('batch run people.csv --package 102 --yes --json --max 1')
    const { batch_id } = started.json() as { batch_id: string }
    const successor = here.sandbox.replacePackage(102, { newField: false })
    const orderLine = `request create --package ${successor} --first-name Ana --last-name Row2 --email a2@example.com --phone +61400000002 --yes`
    expect((await here.type(orderLine)).code).toBe(0)
    const moved = await here.type(`batch move ${batch_id} --package ${successor} --json`)
    expect([moved.code, moved.json()]).toMatchObject([
      0,
      { counts: { accepted: 1, duplicate: 1, pending: 1 } },
    ])
    await here.type(`batch resume ${batch_id} --yes`)
    expect((await here.type(`batch status ${batch_id}`)).stdout).toContain(
      '2  accepted, 1 of them under package 102\n',
    )
  },
)

test('cancelling a batch cancels its held and duplicate rows too', async () => {
  const here = await session()
  const row = (name: string, phone: number): string => `${name},Low,${name}@example.com,+6140000092${phone}`
  const header = 'first_name,last_name,email,phone'
  here.write('one.csv', `${header}\n${row('Ann', 1)}\n`)
  await here.type('batch run one.csv --package 102 --yes')
  here.write('two.csv', [header, row('Ann', 1), row('Ann', 2), row('Bob', 3), row('Cyd', 4), ''].join('\n'))
  const started = await here.type('batch run two.csv --package 102 --yes --max 1 --json')
  const { batch_id, counts } = started.json() as { batch_id: string; counts: object }
  expect(counts).toMatchObject({ accepted: 1, duplicate: 1, held: 1, pending: 1 })
  const cancelled = await here.type(`batch cancel ${batch_id} --yes --json`)
  expect(cancelled.code).toBe(0)
  const rows = (await here.type(`batch rows ${batch_id} --json`)).json() as { state: string }[]
  expect(rows.map(({ state }) => state)).toEqual(['cancelled', 'cancelled', 'accepted', 'cancelled'])
  expect((await here.type('batch run two.csv --package 102 --yes')).code).toBe(10)
  expect(here.listOrderedEmails()).toHaveLength(2)
})

test('--drop is possible while the batch does not run, and the person cannot be ordered again', async () => {
  const here = await session()
  writePeopleFile(here.folder, ['a1+cut-after@example.com'])
  const started = await here.type('batch run people.csv --package 102 --yes --json')
  const { batch_id } = started.json() as { batch_id: string }
  expect(await here.type(`batch reconcile ${batch_id} --row 1 --drop`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 1 --drop
    Ana Row1 (line 2) will not be sent again.

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  dropped
    1  row

    results  HOME/people.results.csv
    exit 0
  `)
  const again = await here.type(
    'request create --package 102 --first-name Ana --last-name Row1 --email a1+cut-after@example.com --phone +61400000001 --yes',
  )
  expect([again.code, here.listOrderedEmails()]).toEqual([2, ['a1+cut-after@example.com']])
  // A command without the number of the row asks about unknown rows only.
  here.write(
    'other.csv',
    readFileSync(join(here.folder, 'people.csv'), 'utf8').replace(
      '\n',
      '\nBo,Else,b1@example.com,+61400000077\n',
    ),
  )
  const other = await here.type('batch run other.csv --package 102 --yes')
  expect(other.stderr).toMatch(/To decide again about that order: refcheck batch reconcile \S+ --row 1\n/)
})

test('batch move asks before it makes a package count as another one that it did not replace, and later refusals name the move', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  const started = await here.type('batch run people.csv --package 102 --yes --json --max 1')
  const { batch_id } = started.json() as { batch_id: string }
  await here.type('packages list --quiet')
  const question = { ask: /Move 1 row\?$/, confirm: false }
  expect(await here.type(`batch move ${batch_id} --package 103`, { answers: [question] }))
    .toMatchInlineSnapshot(`
      $ refcheck batch move BATCH_1 --package 103
      ? 102 Identity check only is ACTIVE; 103 Two references is another package. From now on both count as one: a person who has one is not ordered for the other. Move 1 row? no
      2> Not confirmed; nothing was done
      exit 130
    `)
  expect(await here.type(`batch move ${batch_id} --package 103`)).toMatchInlineSnapshot(`
    $ refcheck batch move BATCH_1 --package 103
    2> Warning: 102 Identity check only is ACTIVE; 103 Two references is another package. From now on both count as one: a person who has one is not ordered for the other.
    2> Moved 1 row to package 103.
    2> The accepted rows keep the package under which they were ordered.
    2> Order it with: refcheck batch resume BATCH_1
    batch  BATCH_1
    people.csv, 103 Two references

    1  accepted, under package 102
    1  pending
    2  rows

    results  HOME/people.results.csv
    exit 0
  `)
  const ana = '--first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001'
  expect(await here.type(`request create --package 103 ${ana} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 103 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --yes
    2> Error: package 102 was already ordered for "a1@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered; 102 counts as 103 since "batch move" of 2026-11-20 12:00 +00:00
    2> To order 103 as well, add --allow-duplicate. Show the request with: refcheck request get REQUEST_1
    exit 2
  `)
  writePeopleFile(here.folder, [...createEmails(1), 'zoe@example.com'], 'one.csv')
  const laterRun = await here.type('batch run one.csv --package 103 --yes')
  expect(laterRun).toMatchInlineSnapshot(`
    $ refcheck batch run one.csv --package 103 --yes
    2>
    2> one.csv: 2 rows
    2>   1 order of 103 Two references
    2>   1 row ordered before, not sent
    2>     Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00
    2>     102 counts as 103 since "batch move" of 2026-11-20 12:00 +00:00
    2> Sending takes under a minute
    2>
    ✔ All 2 people in one.csv are ordered
       1 now: Ana Row2
       1 before, on 2026-11-20 12:00 +00:00

    batch  BATCH_2
    one.csv, 103 Two references

    1  accepted
    1  duplicate
    2  rows

    results  HOME/one.results.csv

    Next: refcheck request wait --batch BATCH_2
    exit 0
  `)
  const listed = (await here.type('batch list --json')).json() as { batch_id: string; name: string }[]
  const oneId = listed.find(({ name }) => name === 'one.csv')?.batch_id
  expect(await here.type(`batch rows ${oneId}`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_2
    ROW  LINE  STATE      EMAIL            OUTCOME
    1    2     duplicate  a1@example.com   is the same order as request REQUEST_1 (row 1 of batch BATCH_1, ordered 2026-11-20 12:00 +00:00), 102 counts as 103 since "batch move"
    2    3     accepted   zoe@example.com  REQUEST_2
    exit 0
  `)
})
