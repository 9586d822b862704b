import { copyFileSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import {
  sessionWithPeople,
  removeStore,
  runAndMeanwhile,
  batchRunLine,
  findEmailsOrderedTwiceAfterRollback,
  storePathOf,
} from '../harness/lost-data.ts'
import { orderArguments } from '../harness/people.ts'
import type { Session } from '../harness/session.ts'

const attemptsFolder = ({ folder }: Session): string => join(folder, 'config', 'attempts')

describe('a store with attempts and no attempt log', () => {
  test('is closed, and orders again after --accept-older', async () => {
    const here = await sessionWithPeople(4)
    await here.type(batchRunLine(' --max 2'))
    rmSync(attemptsFolder(here), { recursive: true })
    expect(await here.type(batchRunLine())).toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes
      2> Error: the store "HOME/data/ledger.sqlite" is closed: the log of its attempts is missing
      2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
      exit 1
    `)
    expect(here.listOrderedEmails()).toHaveLength(2)
    expect(await here.all(['store check --accept-older --yes', batchRunLine()])).toMatchInlineSnapshot(`
      $ refcheck store check --accept-older --yes
      2> 2 waiting rows are now held: nobody knows whether they were sent. See them, and release what is to be sent:
      2>   refcheck batch rows BATCH_1 --state held
      accepted  the log of its attempts is missing
      sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
      exit 0

      $ refcheck batch run people.csv --package 102 --yes
      2> people.csv is batch BATCH_1: 2 rows are held.
      2 of 4 people in people.csv are ordered; 2 held

      batch  BATCH_1
      people.csv, 102 Identity check only

      2  accepted
      2  held
      4  rows

      results  HOME/people.results.csv
      2> Error: 2 of 4 rows were accepted (2 held)
      2> See why rows are held: refcheck batch rows BATCH_1 --state held
      2> The provider has no request for Ana Row3 (line 4): refcheck batch release BATCH_1 --row 3
      2> The provider has one: refcheck batch reconcile BATCH_1 --row 3 --request-id UUID
      exit 10
    `)
    expect(readdirSync(attemptsFolder(here))).toHaveLength(1)
  })
})

test('if the settings folder cannot be written, the attempt log is next to the store, and a rollback is detected too', async () => {
  const here = await sessionWithPeople()
  mkdirSync(join(here.folder, 'config'), { mode: 0o700 })
  // No user can create a folder at the path of a file.
  copyFileSync(join(here.folder, 'people.csv'), attemptsFolder(here))
  await runAndMeanwhile(here, 16, () => here.type('store backup copy.sqlite'))
  expect(readdirSync(`${storePathOf(here)}.attempts`)).toHaveLength(1)
  removeStore(here)
  copyFileSync(join(here.folder, 'copy.sqlite'), storePathOf(here))
  expect(await findEmailsOrderedTwiceAfterRollback(here)).toEqual([])
})

test('without a folder for the attempt log nothing is sent, unless --without-list allows it', async () => {
  const here = await sessionWithPeople(4)
  mkdirSync(join(here.folder, 'config'), { mode: 0o700 })
  mkdirSync(join(here.folder, 'data'), { mode: 0o700 })
  copyFileSync(join(here.folder, 'people.csv'), attemptsFolder(here))
  copyFileSync(join(here.folder, 'people.csv'), `${storePathOf(here)}.attempts`)
  expect(await here.type(batchRunLine())).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> Error: cannot keep the attempt log of the store "HOME/data/ledger.sqlite": neither "HOME/config/attempts" nor "HOME/data/ledger.sqlite.attempts" can be written
    2> Nothing was sent. Make one of these folders writable.
    2> Or order without a log that lasts, at your own risk: refcheck store check --without-list
    exit 1
  `)
  expect(here.listOrderedEmails()).toEqual([])
  expect(await here.all(['store check --without-list', batchRunLine(' --max 2')])).toMatchInlineSnapshot(`
    $ refcheck store check --without-list
    sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
    exit 0

    $ refcheck batch run people.csv --package 102 --yes --max 2
    2>
    2> people.csv: 4 rows
    2>   4 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2 of 4 people in people.csv are ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  pending
    4  rows

    results  HOME/people.results.csv
    2> Resume with: refcheck batch resume BATCH_1
    exit 10
  `)
  unlinkSync(attemptsFolder(here))
  expect(await here.type(batchRunLine())).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 2 of 4 accepted, 2 rows are left to send.
    ✔ All 4 people in people.csv are ordered
       2 now: Ana Row3, Ana Row4
       2 before

    batch  BATCH_1
    people.csv, 102 Identity check only

    4  accepted
    4  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(readdirSync(attemptsFolder(here))).toHaveLength(1)
})

test('a store file that is renamed still uses its attempt log, and a new store can be created at the old path', async () => {
  const here = await sessionWithPeople(4)
  await here.type(batchRunLine(' --max 2'))
  const moved = join(here.folder, 'moved.sqlite')
  renameSync(storePathOf(here), moved)
  expect(await here.type(batchRunLine(' --max 1'), { env: { REFCHECK_STORE: moved } }))
    .toMatchInlineSnapshot(`
      $ REFCHECK_STORE=HOME/moved.sqlite refcheck batch run people.csv --package 102 --yes --max 1
      2> people.csv is batch BATCH_1: 2 of 4 accepted, 2 rows are left to send.
      3 of 4 people in people.csv are ordered; 1 pending

      batch  BATCH_1
      people.csv, 102 Identity check only

      3  accepted
      1  pending
      4  rows

      results  HOME/people.results.csv
      2> Resume with: refcheck batch resume BATCH_1
      exit 10
    `)
  expect(await here.type(orderArguments('New'))).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name New --last-name Example --email new@example.com --phone +61412345678 --yes
    created  REQUEST_4                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_4
    exit 0
  `)
})

test('a store with a second name (hard link) is refused by either name', async () => {
  const here = await sessionWithPeople(4)
  await here.type(batchRunLine(' --max 2'))
  const second = join(here.folder, 'second.sqlite')
  linkSync(storePathOf(here), second)
  expect(await here.type(batchRunLine())).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> Error: cannot use the store "HOME/data/ledger.sqlite": the file has 2 names (hard links)
    2> Two runners could order the same people. Remove the other names, or copy the store with: refcheck store backup FILE
    exit 1
  `)
  expect(await here.type(batchRunLine(), { env: { REFCHECK_STORE: second } })).toMatchInlineSnapshot(`
    $ REFCHECK_STORE=HOME/second.sqlite refcheck batch run people.csv --package 102 --yes
    2> Error: cannot use the store "HOME/second.sqlite": the file has 2 names (hard links)
    2> Two runners could order the same people. Remove the other names, or copy the store with: refcheck store backup FILE
    exit 1
  `)
  expect(here.listOrderedEmails()).toHaveLength(2)
})

test('a store that is replaced during a run is detected before the next order', async () => {
  const here = await sessionWithPeople()
  let isReplaced = false
  here.sandbox.log.subscribe((entry) => {
    if (isReplaced || entry.kind !== 'call' || here.listOrderedEmails().length < 10) return
    isReplaced = true
    copyFileSync(storePathOf(here), `${storePathOf(here)}.new`)
    renameSync(`${storePathOf(here)}.new`, storePathOf(here))
  })
  expect(await here.type(batchRunLine())).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 40 rows
    2>   40 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> Error: the store "HOME/data/ledger.sqlite" was replaced while it was in use
    2> Nothing more was sent. See what is known: refcheck store check
    exit 1
  `)
  expect(here.listOrderedEmails().length).toBeLessThanOrEqual(11)
})
