import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102 --yes'

/** Returns the state and status of each row of the results file. */
const readStatuses = ({ read }: Session): string[] => {
  const [header = '', ...rows] = read('people.results.csv').trimEnd().split('\n')
  const at = header.split(',').indexOf('refcheck_state')
  return rows.map((row) => [row.split(',')[at], row.split(',')[at + 2]].join(' '))
}

async function sessionWithResults(): Promise<Session> {
  const here = await session({ filters: [[/_[0-9a-f]{8}\.pdf/g, '_HASH.pdf']] })
  writePeopleFile(here.folder, createEmails(2))
  await here.type(run)
  expect(readStatuses(here)).toEqual(['accepted RECEIVED', 'accepted RECEIVED'])
  await here.clock.advance(3_600_000)
  return here
}

test('statuses that report sync reads are updated in the results file', async () => {
  const here = await sessionWithResults()
  expect(await here.type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> Statuses updated in people.results.csv
    stored  reports/Row1-Ana_Identity-check_HASH.pdf  2.0 kB
    stored  reports/Row2-Ana_Identity-check_HASH.pdf  2.0 kB
    2> In reports: 2 stored, 0 already there, 0 requests not finished
    exit 0
  `)
  expect(readStatuses(here)).toEqual(['accepted COMPLETED', 'accepted COMPLETED'])
  expect(await here.type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> In reports: 0 stored, 2 already there, 0 requests not finished
    exit 0
  `)
})

const inputFiles: [name: string, content: string][] = [
  ['people.csv', '\uFEFFfirst_name;last_name;email;phone\r\nZoë;=Row;a1@example.com;+61400000001\r\n'],
  [
    'people.jsonl',
    '{"first_name":"Zoë","last_name":"Row","email":"a1@example.com","phone":"+61400000001"}\n',
  ],
]

test.each(inputFiles)(
  'request list --refresh updates the results of %s, and a second time changes nothing',
  async (name, content) => {
    const here = await session()
    here.write(name, content)
    await here.type(`batch run ${name} --package 102 --yes`)
    const results = name.replace('.', '.results.')
    const before = here.read(results)
    expect(before).toContain('RECEIVED')
    await here.clock.advance(3_600_000)
    expect((await here.type('request list --refresh')).stderr).toBe(`Statuses updated in ${results}\n`)
    expect(here.read(results)).toBe(before.replace('RECEIVED', 'COMPLETED'))
    expect((await here.type('request list --refresh')).stderr).toBe('')
  },
)

test('request wait updates the statuses in a results file that is a workbook', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  await here.type(`${run} --results people.xlsx`)
  const [{ batch_id }] = (await here.type('batch list --json')).json() as [{ batch_id: string }]
  expect((await here.type(`request wait --batch ${batch_id}`)).stderr).toMatch(
    'Statuses updated in people.xlsx\n',
  )
})

test('a results file that a user has changed is not updated', async () => {
  const here = await sessionWithResults()
  appendFileSync(join(here.folder, 'people.results.csv'), 'a note\n')
  const before = here.read('people.results.csv')
  expect((await here.type('request list --refresh')).stderr).toBe('')
  expect(here.read('people.results.csv')).toBe(before)
})

test('a results file that is not updated because its file of people has changed is named, once', async () => {
  const here = await sessionWithResults()
  writePeopleFile(here.folder, ['changed@example.com'])
  const before = here.read('people.results.csv')
  const { stderr } = await here.type('request list --refresh')
  expect(stderr).toMatchInlineSnapshot(`
    "Statuses not updated in people.results.csv: the file of people has changed since, or is gone. See them with: refcheck request list
    "
  `)
  expect(here.read('people.results.csv')).toBe(before)
  await here.clock.advance(60_000)
  expect((await here.type('request list --refresh')).stderr).toBe('')
})

/** Returns the state, request, status, error and time of each row of a results file, with ids masked. */
const readOutcomes = ({ read }: Session, name: string): string[] => {
  const [header = '', ...rows] = read(name).trimEnd().split('\n')
  const at = header.split(',').indexOf('refcheck_state')
  const masked = rows.map((row) => row.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID'))
  return masked.map((row) =>
    row
      .split(',')
      .slice(at, at + 6)
      .join(','),
  )
}

test('a row that repeats an order has the status of that request, and later reads update it', async () => {
  const here = await session({ filters: [[/_[0-9a-f]{8}\.pdf/g, '_HASH.pdf']] })
  writePeopleFile(here.folder, createEmails(2))
  await here.type(run)
  writePeopleFile(here.folder, createEmails(3), 'more.csv')
  await here.type('batch run more.csv --package 102 --yes')
  expect(readOutcomes(here, 'more.results.csv')).toMatchInlineSnapshot(`
    [
      "duplicate,ID,RECEIVED,"is the same order as request ID (row 1 of batch ID, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z",
      "duplicate,ID,RECEIVED,"is the same order as request ID (row 2 of batch ID, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z",
      "accepted,ID,RECEIVED,,2026-11-20T12:00:00.000Z,",
    ]
  `)
  await here.type(`${run} --again --allow-duplicate`)
  const [{ batch_id: id }] = (await here.type('batch list --json')).json() as [{ batch_id: string }]
  await here.type(`batch cancel ${id} --yes`)
  expect(readOutcomes(here, 'people.results.csv')).toMatchInlineSnapshot(`
    [
      "cancelled,ID,RECEIVED,"not ordered again: is the same order as request ID (row 1 of batch ID, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z",
      "cancelled,ID,RECEIVED,"not ordered again: is the same order as request ID (row 2 of batch ID, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z",
    ]
  `)
  await here.clock.advance(3_600_000)
  expect((await here.type('request list --refresh')).stderr).toMatchInlineSnapshot(`
    "Statuses updated in people.results.csv, more.results.csv
    "
  `)
  expect(readOutcomes(here, 'more.results.csv')).toMatchInlineSnapshot(`
    [
      "duplicate,ID,COMPLETED,"is the same order as request ID (row 1 of batch ID, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z",
      "duplicate,ID,COMPLETED,"is the same order as request ID (row 2 of batch ID, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z",
      "accepted,ID,COMPLETED,,2026-11-20T12:00:00.000Z,",
    ]
  `)
  expect(readOutcomes(here, 'people.results.csv')).toMatchInlineSnapshot(`
    [
      "cancelled,ID,COMPLETED,"not ordered again: is the same order as request ID (row 1 of batch ID, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z",
      "cancelled,ID,COMPLETED,"not ordered again: is the same order as request ID (row 2 of batch ID, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z",
    ]
  `)
  const exported = await here.type(`batch export ${id} --json`)
  expect(exported.json()).toMatchObject([
    { refcheck_state: 'cancelled', refcheck_status: 'COMPLETED' },
    { refcheck_state: 'cancelled', refcheck_status: 'COMPLETED' },
  ])
})

test('a held row names the similar person, and has neither the request id nor the time of that order', async () => {
  const here = await session()
  const header = 'first_name,last_name,email,phone'
  here.write('people.csv', `${header}\nAda,Lark,ada@example.com,+61400000001\n`)
  await here.type(run)
  here.write('lark.csv', `${header}\nAdah,Larkin,adah@example.com,+61400000001\n`)
  await here.type('batch run lark.csv --package 102 --yes')
  expect(here.cat('lark.results.csv')).toMatchInlineSnapshot(`
    $ cat lark.results.csv
    first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Adah,Larkin,adah@example.com,+61400000001,held,,,"held: has the same phone as Ada Lark (ada@example.com), ordered 2026-11-20 12:00 +00:00",,,http://localhost:PORT,102,BATCH_2,1,x79b004b2825244ad4bbcd0b4c7b81444,xfd36d9f353df0889f889d821fd1897d9,xac32bfb8ae31c22dd56f91ef1db8fc06
  `)
  const [{ batch_id: id }] = (await here.type('batch list --json')).json() as [{ batch_id: string }]
  const exported = await here.type(`batch export ${id} --json`)
  expect(exported.json()).toMatchObject([
    {
      refcheck_request_id: null,
      refcheck_ordered_at: null,
      refcheck_error: expect.stringContaining('Ada Lark (ada@example.com)') as string,
    },
  ])
  expect(await here.type('store purge --email ada@example.com --dry-run')).toMatchInlineSnapshot(`
    $ refcheck store purge --email ada@example.com --dry-run
    Would remove personal data of 1 row and 0 events.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/lark.results.csv
      results file  HOME/people.results.csv
    exit 0
  `)
})
