import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102 --yes'

/** Returns the state and status of each row of the results file. */
const statuses = ({ read }: Session): string[] => {
  const [header = '', ...rows] = read('people.results.csv').trimEnd().split('\n')
  const at = header.split(',').indexOf('refcheck_state')
  return rows.map((row) => [row.split(',')[at], row.split(',')[at + 2]].join(' '))
}

async function sessionWithResults(): Promise<Session> {
  const here = await session({ filters: [[/_[0-9a-f]{8}\.pdf/g, '_HASH.pdf']] })
  peopleFile(here.folder, emails(2))
  await here.type(run)
  expect(statuses(here)).toEqual(['accepted RECEIVED', 'accepted RECEIVED'])
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
  expect(statuses(here)).toEqual(['accepted COMPLETED', 'accepted COMPLETED'])
  expect(await here.type('report sync --output reports')).toMatchInlineSnapshot(`
    $ refcheck report sync --output reports
    2> In reports: 0 stored, 2 already there, 0 requests not finished
    exit 0
  `)
})

const people: [name: string, content: string][] = [
  ['people.csv', '\uFEFFfirst_name;last_name;email;phone\r\nZoë;=Row;a1@example.com;+61400000001\r\n'],
  [
    'people.jsonl',
    '{"first_name":"Zoë","last_name":"Row","email":"a1@example.com","phone":"+61400000001"}\n',
  ],
]

test.each(people)(
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
  peopleFile(here.folder, emails(2))
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
