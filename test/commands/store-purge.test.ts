import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { expect, onTestFinished, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { readAllFiles } from '../harness/files.ts'
import { SIZE } from '../harness/filters.ts'
import { completeRequests, listPdfs } from '../harness/orders.ts'
import { orderArguments } from '../harness/people.ts'
import { queryDatabase } from '../harness/postgres.ts'
import { type Session, session } from '../harness/session.ts'
import { startMachines } from './postgres/machines.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('at-rest', {
  mustNotHappen: 'found after a purge',
  titles: /completely|name of a file|sync|re-read|pending rows/,
})
recordForFaultTable('purge-read', { mustNotHappen: 'reported as removed too early', titles: /while another/ })

const zelda = 'zelda@example.com'
const purge = `store purge --email ${zelda} --yes`
const run = 'batch run people.csv --package 102 --yes'

/** Orders Zelda and two other people from a file. */
async function sessionWithZelda(name = 'people.csv'): Promise<Session> {
  const here = await session({ filters: [SIZE] })
  writePeopleFile(here.folder, [zelda, ...createEmails(2)], name)
  await here.type(['batch', 'run', name, '--package', '102', '--yes'])
  return here
}

const dataFolder = ({ folder }: Session): string => join(folder, 'data')

test('while another process reads, older pages remain and the exit code is 10; the same command again completes the purge', async () => {
  const here = await sessionWithZelda()
  const reader = new DatabaseSync(join(dataFolder(here), 'ledger.sqlite'))
  onTestFinished(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM submissions').get()
  expect(await here.type(purge)).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes
    Removed personal data of 1 row and 0 events.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/people.results.csv
    2> Error: what was removed may still be read in the files of the store "HOME/data/ledger.sqlite": another process uses it
    2> Once the other process has ended, run: refcheck store purge --email zelda@example.com --yes
    exit 10
  `)
  reader.exec('COMMIT')
  expect(await here.type(`${purge} --json`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes --json
    {
      "rows": 0,
      "events": 0,
      "kept": 0,
      "drafts": 0,
      "plans": 0,
      "dry_run": false,
      "logs_left": [],
      "files": [
        {
          "path": "HOME/people.csv",
          "kind": "input",
          "deleted": false
        },
        {
          "path": "HOME/people.results.csv",
          "kind": "results",
          "deleted": false
        }
      ]
    }
    2> To delete those that refcheck wrote, run: refcheck store purge --email zelda@example.com --delete-files
    exit 0
  `)
  expect(readAllFiles(dataFolder(here))).not.toContain('zelda')
}, 30_000)

test('the name of a file that contains the person’s name is removed, although other people of the file are not', async () => {
  const here = await sessionWithZelda('Zelda and others.csv')
  expect(await here.all([purge, 'batch list'])).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes
    Removed personal data of 1 row and 0 events.
    Files that still show the person:
      input file    HOME/Zelda and others.csv
      results file  HOME/Zelda and others.results.csv
    2> Delete them yourself: another purge may not find them.
    exit 0

    $ refcheck batch list
    BATCH ID                              NAME    ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               a file  2026-11-20  3 of 3   0         done
    exit 0
  `)
  expect(readAllFiles(dataFolder(here)).toLowerCase()).not.toContain('zelda')
})

test('report sync downloads no report of a purged person', async () => {
  const here = await sessionWithZelda()
  completeRequests(here.sandbox)
  const sync = 'report sync --output reports --name-template {last_name}-{email}.pdf'
  expect(await here.all([purge, sync])).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes
    Removed personal data of 1 row and 0 events.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/people.results.csv
    2> To delete those that refcheck wrote, run: refcheck store purge --email zelda@example.com --delete-files
    exit 0

    $ refcheck report sync --output reports --name-template {last_name}-{email}.pdf
    2> Statuses updated in people.results.csv
    stored  reports/Row2-a1-example-com.pdf  # kB
    stored  reports/Row3-a2-example-com.pdf  # kB
    2> In reports: 2 stored, 0 already there, 0 requests not finished
    exit 0
  `)
  expect(listPdfs(join(here.folder, 'reports'))).toEqual([
    'Row2-a1-example-com.pdf',
    'Row3-a2-example-com.pdf',
  ])
  await here.all(['config set output-dir reports', 'request list --refresh'])
  const counts = await here.type("status --jq '[.completed, .new_reports]'")
  expect(counts.json()).toEqual([2, 0])
})

test('a re-read of a purged person’s request and another event of it store nothing about the person', async () => {
  const here = await sessionWithZelda()
  const [first] = here.sandbox.requests()
  const id = first?.request_id ?? ''
  const events = [{ event: 'request.updated', request_id: id, status: 'IN_PROGRESS' }]
  here.write('events.ndjson', `${events.map((each) => JSON.stringify(each)).join('\n')}\n`)
  await here.type(purge)
  for (const line of [
    'request list --refresh',
    `request get ${id}`,
    'batch reconcile --events events.ndjson',
    'report sync --output reports',
    run,
  ]) {
    await here.type(line)
    expect(readAllFiles(dataFolder(here)).toLowerCase()).not.toContain('zelda')
  }
  expect(here.listOrderedEmails()).toHaveLength(3)
})

test('pending rows of a purged person are cancelled', async () => {
  const here = await session()
  writePeopleFile(here.folder, [...createEmails(1), zelda])
  await here.type(`${run} --max 1`)
  expect(await here.all([purge, run])).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes
    Removed personal data of 1 row and 0 events.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/people.results.csv
    2> To delete those that refcheck wrote, run: refcheck store purge --email zelda@example.com --delete-files
    exit 0

    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: nothing left to send.
    ✔ 1 of 2 people in people.csv is ordered; left out: line 3

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    1  cancelled
    2  rows

    results  HOME/people.results.csv

    Next: refcheck report sync --output reports
    2> To order line 3 after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
    exit 10
  `)
  expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  '--completely with a store on %s removes nothing before the first order, and the person after an order',
  async (engine) => {
    const here = await session({ store: engine })
    await here.type('request list')
    expect(await here.type(`${purge} --completely`)).toMatchInlineSnapshot(`
      $ refcheck store purge --email zelda@example.com --yes --completely
      Nothing to remove: no personal data was found.
      exit 0
    `)
    expect((await here.type('store check')).code).toBe(0)
    await here.type(orderArguments('Zelda', ['--yes']))
    expect((await here.type(`${purge} --completely`)).stdout).toContain('of 1 row and')
  },
)

test('--completely leaves no fingerprint in the store and in the attempt log', async () => {
  const here = await sessionWithZelda()
  const database = new DatabaseSync(join(dataFolder(here), 'ledger.sqlite'))
  const { fingerprint } = database
    .prepare('SELECT person_print AS fingerprint FROM submissions WHERE email = ?')
    .get(zelda) as { fingerprint: string }
  database.close()
  const attempts = join(here.folder, 'config', 'attempts')
  expect(readAllFiles(attempts)).toContain(fingerprint)
  expect(await here.type(`${purge} --completely`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes --completely
    Removed personal data of 1 row and 0 events.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/people.results.csv
    2> Delete them yourself: another purge may not find them.
    exit 0
  `)
  expect(readAllFiles(attempts)).not.toContain(fingerprint)
  expect(readAllFiles(dataFolder(here))).not.toContain(fingerprint)
  // After that an old file orders the person again. The store is still sound.
  writePeopleFile(here.folder, [zelda], 'again.csv')
  expect(await here.all(['store check', 'batch run again.csv --package 102 --yes'])).toMatchInlineSnapshot(`
    $ refcheck store check
    sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
    exit 0

    $ refcheck batch run again.csv --package 102 --yes
    2>
    2> again.csv: 1 row
    2>   1 order of 102 Identity check only
    2> Sending takes under a minute
    2>
    ✔ 1 person in again.csv is ordered

    batch  BATCH_2
    again.csv, 102 Identity check only

    1  accepted
    1  row

    results  HOME/again.results.csv

    Next: refcheck request wait --batch BATCH_2
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual([zelda, ...createEmails(2), zelda])
})

test('--completely in a store that never ordered removes nothing and does not fail', async () => {
  const here = await session()
  expect(await here.type(`${purge} --completely`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda@example.com --yes --completely
    Nothing to remove: no personal data was found.
    exit 0
  `)
})

test('--completely with a store that two machines share: each removes the fingerprints from its own attempt log', async () => {
  const here = await startMachines(2)
  const readLogs = (machine: string) => readAllFiles(join(here.folder, machine, 'config', 'attempts'))
  const readColumn = async (column: string) =>
    (await queryDatabase(here.storeUrl, `SELECT ${column} AS value FROM refcheck.submissions`)) as {
      value: string
    }[]
  await here.on('beta', 'batch run people.csv --package 102 --yes')
  await here.on('alpha', orderArguments('Zelda', ['--yes']).join(' '))
  const [fingerprint = { value: '' }] = await readColumn('person_print')
  expect(readLogs('beta')).toContain(fingerprint.value)
  const purged = await here.on('alpha', 'store purge --email a1@example.com --completely --yes')
  expect(purged.stdout).toContain(
    'Removed personal data of 1 row and 0 events.\nFingerprints are still in the attempt log of another machine: ',
  )
  expect(purged.stdout).toContain(join(here.folder, 'beta'))
  expect(await readColumn('person_print')).not.toContainEqual(fingerprint)
  expect(readLogs('beta')).toContain(fingerprint.value)
  const again = await here.on('alpha', 'store purge --email a1@example.com --completely --yes --json')
  expect(again.json()).toMatchObject({
    rows: 0,
    logs_left: [{ path: expect.stringContaining(join(here.folder, 'beta')) as string }],
  })
  await here.on('beta', 'request list')
  expect(readLogs('beta')).not.toContain(fingerprint.value)
  const after = await here.on('alpha', 'store purge --email a1@example.com --completely --yes')
  expect(after.stdout).toBe('Nothing to remove: no personal data was found.\n')
  expect((await here.on('beta', 'store check')).code).toBe(0)
}, 30_000)

test('the help of store purge lists the data that it does not reach', async () => {
  const { stdout } = await (await session()).type('store purge --help')
  const limits = stdout.replaceAll(/\s+/g, ' ').split('It does not reach: ')[1]
  for (const each of [
    'the service',
    'moved or copied',
    'other machines',
    'input files',
    'backups',
    'captured events',
    'forwarded',
  ])
    expect(limits).toContain(each)
})
