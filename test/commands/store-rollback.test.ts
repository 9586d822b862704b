import { copyFileSync, cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import {
  copyDataFolder,
  listEmailsOrderedTwice,
  sessionWithPeople,
  removeStore,
  runAndMeanwhile,
  batchRunLine,
  findEmailsOrderedTwiceAfterRollback,
  storePathOf,
} from '../harness/lost-data.ts'
import { writePeopleFile } from '../harness/batch-file.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { orderArguments } from '../harness/people.ts'
import { type Session, session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `store-rolled-back` of the fault table (test/resilience/rows.ts).
recordForFaultTable('store-rolled-back', { mustNotHappen: 'ordered twice' })

test('a store restored from before two orders is closed; after --accept-older these two orders are unknown', async () => {
  const here = await sessionWithPeople(4)
  await here.type(batchRunLine(' --max 1'))
  const restore = copyDataFolder(here)
  await here.type(batchRunLine(' --max 2'))
  restore()
  // The results file alone would prevent new orders for these people.
  rmSync(join(here.folder, 'people.results.csv'))
  expect(await here.all([batchRunLine(), orderArguments('New'), 'store check', 'store info', 'batch list']))
    .toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      2> Error: the store "HOME/data/ledger.sqlite" is closed: it lacked 2 attempts that were made with it
      2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
      exit 1

      $ refcheck request create --package 102 --first-name New --last-name Example --email new@example.com --phone +61412345678 --yes
      2> Error: the store "HOME/data/ledger.sqlite" is closed: it lacked 2 attempts that were made with it
      2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
      exit 1

      $ refcheck store check
      wrong  it lacked 2 attempts that were made with it
      added  Ana Row2 (a2@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted
      added  Ana Row3 (a3@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted
      2> Error: the store "HOME/data/ledger.sqlite" is closed: it lacked 2 attempts that were made with it
      2> If there is a newer copy of the store, put it in its place. All waiting rows are held when you continue, since they may have been sent: refcheck store check --accept-older
      exit 1

      $ refcheck store info
      HOME/data/ledger.sqlite  258.0 kB
      closed: it lacked 2 attempts that were made with it
      format 1, SQLite 3.53.4
      1 batch or single order: 1 pending, 3 accepted
      0 events in the inbox
      recorded from 2026-11-20 to 2026-11-20
      exit 0

      $ refcheck batch list
      BATCH ID                              NAME        ADDED AT    ORDERED  FINISHED  STATE
      BATCH_1                               people.csv  2026-11-20  3 of 4   0         stopped
      exit 0
    `)
  expect(await here.type('store check --json')).toMatchInlineSnapshot(`
    $ refcheck store check --json
    {
      "location": "HOME/data/ledger.sqlite",
      "sound": false,
      "findings": [
        "it lacked 2 attempts that were made with it",
        "Ana Row2 (a2@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted",
        "Ana Row3 (a3@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted"
      ],
      "state": "closed",
      "machines": [
        {
          "machine": "MACHINE",
          "host": "HOST",
          "last_attempt_at": "2026-11-20T12:00:00.000Z",
          "reported": true,
          "excluded": false
        }
      ],
      "recovered": [
        "Ana Row2 (a2@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted",
        "Ana Row3 (a3@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted"
      ],
      "error": {
        "code": "io",
        "message": "the store \\"HOME/data/ledger.sqlite\\" is closed: it lacked 2 attempts that were made with it",
        "hint": "If there is a newer copy of the store, put it in its place. All waiting rows are held when you continue, since they may have been sent: refcheck store check --accept-older"
      }
    }
    2> Error: the store "HOME/data/ledger.sqlite" is closed: it lacked 2 attempts that were made with it
    exit 1
  `)
  expect(await here.type('store check --accept-older --yes')).toMatchInlineSnapshot(`
    $ refcheck store check --accept-older --yes
    2> 1 waiting row is now held: nobody knows whether it was sent. See it, and release what is to be sent:
    2>   refcheck batch rows BATCH_1 --state held
    accepted  it lacked 2 attempts that were made with it
    Brought back from the attempt logs: 2 orders
      Ana Row2 (a2@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted
      Ana Row3 (a3@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted
    sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
    People who were removed after this copy was made may be in it again.
    Remove them again with: refcheck store purge --email EMAIL

    Next: refcheck request list --refresh
    exit 0
  `)
  expect(await here.all([batchRunLine(), 'batch reconcile', orderArguments('New')])).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 1 row is held.
    3 of 4 people in people.csv are ordered; 1 held

    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted
    1  held
    4  rows

    results  HOME/people.results.csv
    2> Error: 3 of 4 rows were accepted (1 held)
    2> See why it is held: refcheck batch rows BATCH_1 --state held
    2> The provider has no request for Ana Row4 (line 5): refcheck batch release BATCH_1 --row 4
    2> The provider has one: refcheck batch reconcile BATCH_1 --row 4 --request-id UUID
    exit 10

    $ refcheck batch reconcile
    Nothing to settle.
    exit 0

    $ refcheck request create --package 102 --first-name New --last-name Example --email new@example.com --phone +61412345678 --yes
    created  REQUEST_4                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_4
    exit 0
  `)
  expect(listEmailsOrderedTwice(here)).toEqual([])
})

test('a backup made at order 16 of a running batch is restored: later orders are unknown, and no person is ordered twice', async () => {
  const here = await sessionWithPeople()
  await runAndMeanwhile(here, 16, () => here.type('store backup copy.sqlite'))
  removeStore(here)
  copyFileSync(join(here.folder, 'copy.sqlite'), storePathOf(here))
  expect(await findEmailsOrderedTwiceAfterRollback(here)).toEqual([])
})

describe.each([1, 16, 39])('at order %i of 40', (orderNumber) => {
  test('store files copied during a run are restored: later orders are unknown, and no person is ordered twice', async () => {
    const here = await sessionWithPeople()
    const copy = join(here.folder, 'copy')
    await runAndMeanwhile(here, orderNumber, async () =>
      cpSync(join(here.folder, 'data'), copy, { recursive: true }),
    )
    removeStore(here)
    for (const suffix of ['', '-wal'])
      copyFileSync(join(copy, `ledger.sqlite${suffix}`), storePathOf(here) + suffix)
    expect(await findEmailsOrderedTwiceAfterRollback(here)).toEqual([])
  })

  test('a data folder copied between two runs is restored: no person is ordered twice', async () => {
    const here = await sessionWithPeople()
    await here.type(batchRunLine(` --max ${orderNumber}`))
    const restore = copyDataFolder(here)
    await here.type(batchRunLine())
    restore()
    expect(await findEmailsOrderedTwiceAfterRollback(here)).toEqual([])
  })
})

test('a data folder from before the first order is restored: no person is ordered twice', async () => {
  const here = await sessionWithPeople()
  await here.type('batch list')
  const restore = copyDataFolder(here)
  await here.type(batchRunLine())
  restore()
  expect(await findEmailsOrderedTwiceAfterRollback(here)).toEqual([])
})

test.each(['store backup copy.sqlite', 'batch list'])(
  'a copy of the store, made by or after %j and before the first order, replaces a new store that has ordered: no person is ordered twice',
  async (commandBefore) => {
    const here = await sessionWithPeople()
    await here.type(commandBefore)
    if (commandBefore === 'batch list') copyFileSync(storePathOf(here), join(here.folder, 'copy.sqlite'))
    removeStore(here)
    await here.type(batchRunLine())
    removeStore(here)
    copyFileSync(join(here.folder, 'copy.sqlite'), storePathOf(here))
    expect(await findEmailsOrderedTwiceAfterRollback(here)).toEqual([])
  },
)

test('after a data folder is lost, the new store finds the people of the old store', async () => {
  const here = await sessionWithPeople()
  await here.type(batchRunLine())
  rmSync(join(here.folder, 'data'), { recursive: true })
  expect(await findEmailsOrderedTwiceAfterRollback(here)).toEqual([])
})

test('a backup sends nothing when it is opened as a store, and never closes the store that it was made from', async () => {
  const here = await sessionWithPeople(6)
  await here.type(batchRunLine(' --max 2'))
  const backup = { env: { REFCHECK_STORE: join(here.folder, 'copy.sqlite') } }
  expect(await here.type('store backup copy.sqlite')).toMatchInlineSnapshot(`
    $ refcheck store backup copy.sqlite
    The store was copied to HOME/copy.sqlite
    exit 0
  `)
  expect(await here.all([batchRunLine(), 'store check'], backup)).toMatchInlineSnapshot(`
    $ REFCHECK_STORE=HOME/copy.sqlite refcheck batch run people.csv --package 102 --yes
    2> Error: the store "HOME/copy.sqlite" is closed: it is a backup that is used as a store
    2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
    exit 1

    $ REFCHECK_STORE=HOME/copy.sqlite refcheck store check
    wrong  it is a backup that is used as a store
    2> Error: the store "HOME/copy.sqlite" is closed: it is a backup that is used as a store
    2> If there is a newer copy of the store, put it in its place. All waiting rows are held when you continue, since they may have been sent: refcheck store check --accept-older
    exit 1
  `)
  expect(await here.type(batchRunLine(' --max 2'))).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --max 2
    2> people.csv is batch BATCH_1: 2 of 6 accepted, 4 rows are left to send.
    4 of 6 people in people.csv are ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    4  accepted
    2  pending
    6  rows

    results  HOME/people.results.csv
    2> Resume with: refcheck batch resume BATCH_1
    exit 10
  `)
  expect(await here.all(['store check --accept-older --yes', batchRunLine()], backup)).toMatchInlineSnapshot(`
    $ REFCHECK_STORE=HOME/copy.sqlite refcheck store check --accept-older --yes
    2> 2 waiting rows are now held: nobody knows whether they were sent. See them, and release what is to be sent:
    2>   refcheck batch rows BATCH_1 --state held
    accepted  it is a backup that is used as a store; it lacked 2 attempts that were made with it
    Brought back from the attempt logs: 2 orders
      Ana Row3 (a3@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted
      Ana Row4 (a4@example.com): package 102, sent at 2026-11-20 12:00 +00:00, people.csv, accepted
    sound  HOME/copy.sqlite (by the attempt logs of this machine)
    People who were removed after this copy was made may be in it again.
    Remove them again with: refcheck store purge --email EMAIL

    Next: refcheck request list --refresh
    exit 0

    $ REFCHECK_STORE=HOME/copy.sqlite refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 2 rows are held.
    4 of 6 people in people.csv are ordered; 2 held

    batch  BATCH_1
    people.csv, 102 Identity check only

    4  accepted
    2  held
    6  rows

    results  HOME/people.results.csv
    2> Error: 4 of 6 rows were accepted (2 held)
    2> See why rows are held: refcheck batch rows BATCH_1 --state held
    2> The provider has no request for Ana Row5 (line 6): refcheck batch release BATCH_1 --row 5
    2> The provider has one: refcheck batch reconcile BATCH_1 --row 5 --request-id UUID
    exit 10
  `)
  expect(await here.type('store check')).toMatchInlineSnapshot(`
    $ refcheck store check
    sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
    exit 0
  `)
  expect(listEmailsOrderedTwice(here)).toEqual([])
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'with a closed store and unknown rows, a run exits with the code for unknown rows, and names both next steps (%s)',
  async (store) => {
    const here = await session({
      store,
      filters: [[/(?<=")(?:postgres:[^"]+|[^"]*ledger\.sqlite)(?=")/g, 'STORE']],
    })
    writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com', 'a3@example.com'])
    here.sandbox.inject({ on: 'POST *', fault: { kind: 'cut', when: 'before' }, times: 1 })
    expect((await here.type(batchRunLine(' --max 1'))).code).toBe(8)
    await here.type('store check --restored')
    expect(await here.type(batchRunLine())).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      0 of 3 people in people.csv are ordered; 2 pending, 1 unknown

      batch  BATCH_1
      people.csv, 102 Identity check only

      2  pending
      1  unknown
      3  rows

      results  HOME/people.results.csv
      2> Error: 1 row may or may not have been ordered, 2 not sent yet; halted: the store "STORE" is closed: a backup of it was restored
      2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
      2> Settle it with: refcheck batch reconcile BATCH_1
      2> Then continue with: refcheck batch resume BATCH_1
      exit 8
    `)
    expect((await here.type(batchRunLine(' --json'))).json()).toMatchObject({
      counts: { unknown: 1, pending: 2 },
      error: { code: 'outcome_unknown', row: 1 },
    })
    expect(here.listOrderedEmails()).toEqual([])
  },
)

/**
 * Copies the data folder. Returns a function that overwrites the open store file with the copy, and leaves the newer
 * write-ahead log (-wal) next to it.
 */
function prepareCopyOver({ folder }: Session): () => void {
  const data = join(folder, 'data')
  cpSync(data, `${data}.copy`, { recursive: true })
  return () => copyFileSync(join(`${data}.copy`, 'ledger.sqlite'), join(data, 'ledger.sqlite'))
}

describe('while a run waits for its quota, an older data folder', () => {
  /** Runs the batch and restores during it. Returns the number of orders at that time, and the result of the run. */
  async function runUntilRestored(here: Session, restore: () => unknown) {
    let sent = 0
    const clock = new ManualClock({ auto: true })
    const sleep = clock.sleep.bind(clock)
    clock.sleep = async (ms, signal) => {
      if (sent === 0 && here.listOrderedEmails().length > 2) {
        await restore()
        sent = here.listOrderedEmails().length
      }
      await sleep(ms, signal)
    }
    const { code, stderr } = await here.type(batchRunLine(), { clock, exported: { REFCHECK_QUOTA: '12/60' } })
    expect(sent).toBeGreaterThan(2)
    rmSync(join(here.folder, 'people.results.csv'), { force: true })
    return { sent, code, stderr }
  }

  test('replaces the current one: nothing more is sent, and no person is ordered twice', async () => {
    const here = await sessionWithPeople()
    await here.type(batchRunLine(' --max 2'))
    const { sent, code } = await runUntilRestored(here, copyDataFolder(here))
    expect(code).toBe(1)
    expect(here.listOrderedEmails()).toHaveLength(sent)
    expect((await here.type('store check')).code).toBe(1)
    expect((await here.type('store check --accept-older --yes')).code).toBe(0)
    await here.type(batchRunLine())
    expect(listEmailsOrderedTwice(here)).toEqual([])
  })

  test('is reported with --restored: nothing more is sent, and the run states this', async () => {
    const here = await sessionWithPeople()
    const { sent, stderr } = await runUntilRestored(here, () => here.type('store check --restored'))
    expect(stderr).toMatch(
      /is closed: a backup of it was restored\nNothing more was sent, because people could be ordered twice\. /,
    )
    expect(here.listOrderedEmails()).toHaveLength(sent)
  })

  test('is copied over the open file: no person is ordered twice', async () => {
    const here = await sessionWithPeople()
    await here.type(batchRunLine(' --max 2'))
    await runUntilRestored(here, prepareCopyOver(here))
    await here.type('store check --accept-older --yes')
    await here.type(batchRunLine())
    expect(listEmailsOrderedTwice(here)).toEqual([])
  })
})

test('after a data folder from before batch move is restored, no person is ordered again under either package', async () => {
  const here = await sessionWithPeople(8)
  await here.type(batchRunLine(' --max 2'))
  const [batch] = (await here.type('batch list --json')).json() as { batch_id: string }[]
  const restore = copyDataFolder(here)
  const successor = here.sandbox.replacePackage(102, { newField: false })
  await here.type(`batch move ${batch?.batch_id} --package ${successor}`)
  await here.type(`batch resume ${batch?.batch_id} --yes --max 4`)
  expect(here.listOrderedEmails()).toHaveLength(6)
  restore()
  rmSync(join(here.folder, 'people.results.csv'), { force: true })
  expect((await here.type('store check')).code).toBe(1)
  await here.type('store check --accept-older --yes')
  await here.type(`batch run people.csv --package ${successor} --yes --ignore-results`)
  await here.type(`batch move ${batch?.batch_id} --package ${successor}`)
  await here.type(`batch resume ${batch?.batch_id} --yes`)
  expect(listEmailsOrderedTwice(here)).toEqual([])
})
