import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { expect, onTestFinished, test } from 'vitest'

import { systemRandom } from '../../src/host/random.ts'
import { openStore } from '../../src/store/ledger/open.ts'
import type { Store } from '../../src/store/ledger/store.ts'
import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { eventBody, postDelivery } from '../harness/deliveries.ts'
import { readAllFiles } from '../harness/files.ts'
import { SIZE } from '../harness/filters.ts'
import { startListener } from '../harness/listening.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { completeRequests } from '../harness/orders.ts'
import { orderArguments } from '../harness/people.ts'
import { type Session, session } from '../harness/session.ts'

const dayMs = 86_400_000

const createRunLine = (file: string): string => `batch run ${file} --package 102 --yes`

/** Starts a session with orders for three people, Zelda being the first. */
async function sessionWithZelda(): Promise<Session> {
  const here = await session({ filters: [SIZE, [/3\.\d+\.\d+/g, '3.N.N'], [/"bytes": \d+/g, '"bytes": #']] })
  await here.type(createRunLine(writePeopleFile(here.folder, ['zelda@example.com', ...createEmails(2)])))
  return here
}

test('store info shows path and contents of the store, and store check finds it sound', async () => {
  const { all } = await sessionWithZelda()
  expect(await all(['store info', 'store info --json', 'store check', 'store check --json']))
    .toMatchInlineSnapshot(`
      $ refcheck store info
      HOME/data/ledger.sqlite  # kB
      format 1, SQLite 3.N.N
      1 batch or single order: 3 accepted
      0 events in the inbox
      recorded from 2026-11-20 to 2026-11-20
      exit 0

      $ refcheck store info --json
      {
        "location": "HOME/data/ledger.sqlite",
        "bytes": #,
        "format": 1,
        "engine": "SQLite 3.N.N",
        "batches": 1,
        "rows": {
          "pending": 0,
          "sending": 0,
          "accepted": 3,
          "rejected": 0,
          "unknown": 0,
          "dropped": 0,
          "held": 0,
          "invalid": 0,
          "duplicate": 0,
          "cancelled": 0
        },
        "events": 0,
        "sqlite": "3.N.N",
        "oldest": "2026-11-20T12:00:00.000Z",
        "newest": "2026-11-20T12:00:00.000Z",
        "closed": []
      }
      exit 0

      $ refcheck store check
      sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
      exit 0

      $ refcheck store check --json
      {
        "location": "HOME/data/ledger.sqlite",
        "sound": true,
        "findings": [],
        "state": "open",
        "machines": [
          {
            "machine": "MACHINE",
            "host": "HOST",
            "last_attempt_at": "2026-11-20T12:00:00.000Z",
            "reported": true,
            "excluded": false
          }
        ],
        "recovered": []
      }
      exit 0
    `)
})

test('store check finds a body that was changed', async () => {
  const { type, folder } = await sessionWithZelda()
  const database = new DatabaseSync(join(folder, 'data', 'ledger.sqlite'))
  database.exec(`UPDATE submissions SET body = x'7b7d' WHERE row_number = 2`)
  database.close()
  expect(await type('store check')).toMatchInlineSnapshot(`
    $ refcheck store check
    wrong  row 2 of batch BATCH_1: its body differs from the one recorded
    2> Error: the store "HOME/data/ledger.sqlite" is damaged: row 2 of batch BATCH_1: its body differs from the one recorded
    2> Order nothing with it. Keep the file, restore a backup, and settle what was ordered since.
    exit 1
  `)
  expect((await type('store check --json')).json()).toMatchObject({ sound: false, error: { code: 'io' } })
})

test('store backup creates a private file that is a store, and overwrites no file', async () => {
  const { type, folder } = await sessionWithZelda()
  expect(await type('store backup copy.sqlite')).toMatchInlineSnapshot(`
    $ refcheck store backup copy.sqlite
    The store was copied to HOME/copy.sqlite
    exit 0
  `)
  const copy = join(folder, 'copy.sqlite')
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  const backupInfo = await type('store info --json', { env: { REFCHECK_STORE: copy } })
  expect(backupInfo.json()).toMatchObject({ rows: { accepted: 3 } })
  expect(await type('store backup copy.sqlite')).toMatchInlineSnapshot(`
    $ refcheck store backup copy.sqlite
    2> Error: HOME/copy.sqlite already exists
    2> Choose another name.
    exit 2
  `)
})

test('store backup refuses a database URL, whose password would become the name of a folder', async () => {
  const { type, folder } = await sessionWithZelda()
  const before = readdirSync(folder)
  const { code, stdout, stderr } = await type('store backup postgres://bob:s3cr3tpw@127.0.0.1:5432/db')
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^Error: FILE is not the name of a file$/m)
  expect(stderr).not.toContain('s3cr3tpw')
  expect(readdirSync(folder)).toEqual(before)
})

async function openStoreIn(folder: string): Promise<Store> {
  const store = await openStore({
    chosenAddress: join(folder, 'data', 'ledger.sqlite'),
    paths: { config: folder, data: join(folder, 'data') },
    cwd: folder,
    clock: new ManualClock(),
    random: systemRandom,
  })
  onTestFinished(() => store.close())
  return store
}

test.each(['777', '775'])('a backup into a folder of mode %s is refused', async (mode) => {
  const { type, folder } = await sessionWithZelda()
  const open = join(folder, 'open')
  mkdirSync(open)
  chmodSync(open, mode)
  expect(await type('store backup open/copy.sqlite')).toMatchInlineSnapshot(`
    $ refcheck store backup open/copy.sqlite
    2> Error: cannot back the store up to "HOME/open/copy.sqlite": another user of this machine could replace what is in "HOME/open"
    2> Choose a folder of your own.
    exit 1
  `)
  expect(readdirSync(open)).toEqual([])
})

test('a failed backup leaves no file, because an incomplete copy would lack people', async () => {
  const { type, folder } = await sessionWithZelda()
  const store = await openStoreIn(folder)
  const copying = store.backup(join(folder, 'copy.sqlite'))
  writeFileSync(join(folder, 'copy.sqlite'), 'somebody was faster')
  await expect(copying).rejects.toThrow('it already exists')
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.sqlite'])
  expect((await type('store check')).code).toBe(0)
})

test('a backup is made in a private folder, so that no other account can replace it', async () => {
  const { type, folder } = await sessionWithZelda()
  const store = await openStoreIn(folder)
  const partial = join(folder, 'copy.sqlite.partial')
  const copying = store.backup(join(folder, 'copy.sqlite'))
  const partialStat = statSync(partial)
  expect([partialStat.isDirectory(), partialStat.mode & 0o777]).toEqual([true, 0o700])
  await copying
  // A command that was killed leaves such a folder.
  mkdirSync(partial, { mode: 0o700 })
  writeFileSync(join(partial, 'store.sqlite'), 'half a copy')
  rmSync(join(folder, 'copy.sqlite'))
  expect((await type('store backup copy.sqlite')).code).toBe(0)
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.sqlite'])
})

test('a restored backup that lacks later orders sends nothing until a user has checked it', async () => {
  const { type, folder, listOrderedEmails } = await sessionWithZelda()
  await type('store backup copy.sqlite')
  const file = writePeopleFile(folder, createEmails(2, '-since'), 'since.csv')
  expect((await type(createRunLine(file))).code).toBe(0)
  copyFileSync(join(folder, 'copy.sqlite'), join(folder, 'data', 'ledger.sqlite'))
  // The results file alone would prevent new orders for these people.
  rmSync(join(folder, 'since.results.csv'))
  expect(await type(createRunLine(file))).toMatchInlineSnapshot(`
    $ refcheck batch run since.csv --package 102 --yes
    2> Error: the store "HOME/data/ledger.sqlite" is closed: it lacked 2 attempts that were made with it
    2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
    exit 1
  `)
  expect(await type(orderArguments('Ana'))).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --yes
    2> Error: the store "HOME/data/ledger.sqlite" is closed: it lacked 2 attempts that were made with it
    2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
    exit 1
  `)
  expect(listOrderedEmails()).toHaveLength(5)
  expect(await type('store check')).toMatchInlineSnapshot(`
    $ refcheck store check
    wrong  it lacked 2 attempts that were made with it
    wrong  it is a backup that is used as a store
    added  a person whose name is lost: package 102, sent at 2026-11-20 12:00 +00:00, request REQUEST_4, accepted
    added  a person whose name is lost: package 102, sent at 2026-11-20 12:00 +00:00, request REQUEST_5, accepted
    2> Error: the store "HOME/data/ledger.sqlite" is closed: it lacked 2 attempts that were made with it
    2> If there is a newer copy of the store, put it in its place. All waiting rows are held when you continue, since they may have been sent: refcheck store check --accept-older
    exit 1
  `)
  const { code, stdout } = await type('store check --accept-older --yes')
  expect(stdout).toContain('Brought back from the attempt logs: 2 orders\n  a person whose name is lost: ')
  expect(code).toBe(0)
  const newFile = writePeopleFile(folder, createEmails(1, '-new'), 'new.csv')
  expect((await type(createRunLine(newFile))).code).toBe(0)
})

test('a store that was removed is detected, and nothing is ordered with a new store', async () => {
  const { type, folder, listOrderedEmails } = await sessionWithZelda()
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(join(folder, 'data', `ledger.sqlite${suffix}`), { force: true })
  rmSync(join(folder, 'people.results.csv'))
  expect(await type(createRunLine('people.csv'))).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> Error: the store "HOME/data/ledger.sqlite" is closed: another store was in its place, with attempts that it lacks
    2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
    exit 1
  `)
  expect(listOrderedEmails()).toHaveLength(3)
})

test('a purged person is in no file of the store, and is still not ordered twice', async () => {
  const here = await sessionWithZelda()
  const { type, folder, env, sandbox, listOrderedEmails } = here
  const id = sandbox.requests()[0]?.request_id ?? ''
  const receiver = await startListener(here)
  await postDelivery(receiver.url, env['REFCHECK_WEBHOOK_SECRET'] ?? '', { body: eventBody(id, 'PARTIAL') })
  await receiver.stop()
  expect(readAllFiles(join(folder, 'data'))).toContain('zelda@example.com')
  const purge = 'store purge --email Zelda@example.com'
  expect(await type(`${purge} --dry-run`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email Zelda@example.com --dry-run
    Would remove personal data of 1 row and 1 event.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/people.results.csv
    exit 0
  `)
  expect(await type(purge)).toMatchInlineSnapshot(`
    $ refcheck store purge --email Zelda@example.com
    2> Error: there is no terminal to confirm on
    2> Nothing was done. Run it again with --yes to skip the confirmation.
    exit 2
  `)
  expect(await type(`${purge} --yes`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email Zelda@example.com --yes
    Removed personal data of 1 row and 1 event.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/people.results.csv
    2> To delete those that refcheck wrote, run: refcheck store purge --email Zelda@example.com --delete-files
    exit 0
  `)
  expect(readAllFiles(join(folder, 'data'))).not.toContain('zelda')
  expect(await type(`${purge} --yes --json`)).toMatchInlineSnapshot(`
    $ refcheck store purge --email Zelda@example.com --yes --json
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
    2> To delete those that refcheck wrote, run: refcheck store purge --email Zelda@example.com --delete-files
    exit 0
  `)
  writeFileSync(join(folder, 'again.csv'), `${readFileSync(join(folder, 'people.csv'), 'utf8')}\n`)
  expect(await type(createRunLine('again.csv'))).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --package 102 --yes
    ✔ All 3 people in again.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

    again.csv: 3 rows
      0 orders to send
      3 rows ordered before, not sent
        Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00
        Ana Row2 (line 3): ordered 2026-11-20 12:00 +00:00
        Ana Row3 (line 4): ordered 2026-11-20 12:00 +00:00
    exit 0
  `)
  expect(listOrderedEmails()).toHaveLength(3)
})

test('a rejected row of a purged person cannot be queued again, and nothing is damaged', async () => {
  const { type, folder, sandbox } = await sessionWithZelda()
  const message = 'recipient.email: is not accepted today'
  sandbox.inject({ on: 'POST *', fault: { kind: 'status', status: 400, when: 'before', message } })
  const file = writePeopleFile(folder, ['yves@example.com'], 'rejected.csv')
  const { batch_id } = (await type(`${createRunLine(file)} --json`)).json() as { batch_id: string }
  await type('store purge --email yves@example.com --yes')
  expect(await type(`batch retry ${batch_id}`)).toMatchInlineSnapshot(`
    $ refcheck batch retry BATCH_2
    2> No rejected row is left to send: their people have other orders, or were removed.
    batch  BATCH_2
    a file, 102 Identity check only

    1  rejected
    1  row
    exit 0
  `)
  expect(await type(`batch resume ${batch_id} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_2 --yes
    0 of 1 person in a file is ordered; 1 rejected

    batch  BATCH_2
    a file, 102 Identity check only

    1  rejected
    1  row
    2> Error: 0 of 1 row was accepted (1 rejected)
    2> See the reason for each row with: refcheck batch rows BATCH_2
    2> To order rejected rows, correct them in the file and run it again, or if the cause is gone, make them pending with: refcheck batch retry BATCH_2
    exit 10
  `)
})

test('store purge --older-than removes finished requests, and no unfinished ones', async () => {
  const { type, sandbox, folder, clock } = await sessionWithZelda()
  completeRequests(sandbox, 2)
  await type('request list --refresh')
  await clock.advance(400 * dayMs)
  expect(await type('store purge --older-than 365d --yes')).toMatchInlineSnapshot(`
    $ refcheck store purge --older-than 365d --yes
    Removed personal data of 2 rows and 0 events.
    exit 0
  `)
  expect(readAllFiles(join(folder, 'data'))).toContain('a2@example.com')
})

test('store purge removes no row with an unknown outcome, and requires a selection', async () => {
  const { type, folder } = await session()
  await type(createRunLine(writePeopleFile(folder, ['zelda+cut-before@example.com'])))
  expect(await type('store purge --email zelda+cut-before@example.com --yes')).toMatchInlineSnapshot(`
    $ refcheck store purge --email zelda+cut-before@example.com --yes
    Removed personal data of 0 rows and 0 events; 1 row not settled yet is kept. See what needs a decision: refcheck status
    exit 0
  `)
  expect(readAllFiles(join(folder, 'data'))).toContain('zelda')
  expect(await type('store purge --yes')).toMatchInlineSnapshot(`
    $ refcheck store purge --yes
    2> Error: --email, --request-id or --older-than is required, as no retention is set
    2> For example: refcheck store purge --older-than 365d --dry-run
    2> Or say for how long personal data is kept: refcheck config set retention 24mo
    exit 2
  `)
})
