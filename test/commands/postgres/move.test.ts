import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import { eventBody, postDelivery } from '../../harness/deliveries.ts'
import type { Filter } from '../../harness/filters.ts'
import { startListening } from '../../harness/listening-session.ts'
import { emptyDatabase } from '../../harness/postgres.ts'
import { session } from '../../harness/session.ts'

const filters: Filter[] = [
  [/postgres:\/\/owner@\S+?(?=[";:,]*(?:\s|$))/g, 'postgres://STORE'],
  [/\b[0-9a-f]{16}\b/g, 'DIGEST'],
  [/\d\d:\d\d:\d\d(?=  )/g, 'HH:MM:SS'],
]

/** Creates an empty database. Returns its URL without the password, and the password for PGPASSWORD. */
async function createDatabase(): Promise<{ url: string; password: string }> {
  const url = await emptyDatabase()
  const password = /owner:([^@]*)@/.exec(url)?.[1] ?? ''
  return { url: url.replace(`:${password}@`, '@'), password }
}

test('a store is moved to PostgreSQL and back: duplicates are found in the new store, and the old store orders nothing', async () => {
  const { url, password } = await createDatabase()
  const here = await session({ filters })
  const { type, folder, listOrderedEmails } = here
  const exported = { PGPASSWORD: password }
  const onPostgres = { exported: { ...exported, REFCHECK_STORE: url } }
  writePeopleFile(folder, createEmails(2))
  await type('batch run people.csv --package 102 --yes')
  const receiver = await startListening(here)
  const [{ request_id: id } = { request_id: '' }] = here.sandbox.requests()
  const secret = here.env['REFCHECK_WEBHOOK_SECRET'] ?? ''
  await postDelivery(receiver.url, secret, { body: eventBody(id, 'PARTIAL') })
  copyFileSync(join(folder, 'data', 'ledger.sqlite'), join(folder, 'copy.sqlite'))
  copyFileSync(join(folder, 'data', 'ledger.sqlite-wal'), join(folder, 'copy.sqlite-wal'))

  expect(await type(`store move data/ledger.sqlite ${url} --yes`, { exported })).toMatchInlineSnapshot(`
    $ refcheck store move data/ledger.sqlite postgres://STORE --yes
    The store was moved from HOME/data/ledger.sqlite to postgres://STORE Both hold the same:
    TABLE               ROWS  SHA256
    meta                3     DIGEST
    batches             1     DIGEST
    submissions         2     DIGEST
    attempts            2     DIGEST
    request_rows        2     DIGEST
    decisions           0     DIGEST
    releases            0     DIGEST
    joined_packages     0     DIGEST
    joined_services     0     DIGEST
    unmatched_requests  0     DIGEST
    quota               1     DIGEST
    events              1     DIGEST
    accounts            1     DIGEST
    attempt_logs        1     DIGEST
    Use it there, on every machine, with REFCHECK_STORE, or with: refcheck config set store postgres://STORE
    exit 0
  `)
  expect(await postDelivery(receiver.url, secret, { body: eventBody(id, 'COMPLETED') })).toBe(500)
  expect(await receiver.stop()).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0
    2> Listening at http://127.0.0.1:PORT_2/ (Ctrl-C stops it).
    HH:MM:SS  REQUEST_1                             PARTIAL
    2> Error: the store "HOME/data/ledger.sqlite" was moved to "postgres://STORE"
    2> Use it there, with REFCHECK_STORE, or with: refcheck config set store postgres://STORE
    exit 1
  `)
  writePeopleFile(folder, [...createEmails(2), 'new@example.com'], 'again.csv')
  rmSync(join(folder, 'people.results.csv'))
  const run = 'batch run again.csv --package 102 --yes'
  const lines = [
    run,
    'store check',
    'store info',
    'store check --accept-older',
    'store move data/ledger.sqlite o.sqlite',
  ]
  expect(await here.all(lines, { exported })).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --package 102 --yes
    2> Error: the store "HOME/data/ledger.sqlite" was moved to "postgres://STORE"
    2> Use it there, with REFCHECK_STORE, or with: refcheck config set store postgres://STORE
    exit 1

    $ refcheck store check
    wrong  it was moved to "postgres://STORE"
    2> Error: the store "HOME/data/ledger.sqlite" was moved to "postgres://STORE"
    2> Use it there, with REFCHECK_STORE, or with: refcheck config set store postgres://STORE
    exit 1

    $ refcheck store info
    HOME/data/ledger.sqlite  258.0 kB
    closed: it was moved to "postgres://STORE"
    format 1, SQLite 3.53.4
    1 batch or single order: 2 accepted
    1 event in the inbox
    recorded from 2026-11-20 to 2026-11-20
    exit 0

    $ refcheck store check --accept-older
    2> Error: the store "HOME/data/ledger.sqlite" was moved to "postgres://STORE"
    2> Use it there, with REFCHECK_STORE, or with: refcheck config set store postgres://STORE
    exit 1

    $ refcheck store move data/ledger.sqlite o.sqlite
    2> Error: the store "HOME/data/ledger.sqlite" was moved to "postgres://STORE"
    2> Use it there, with REFCHECK_STORE, or with: refcheck config set store postgres://STORE
    exit 1
  `)
  expect(
    await here.all(
      [
        'batch run again.csv --package 102 --dry-run',
        'webhook events list --columns request_id,status',
        'store check',
      ],
      onPostgres,
    ),
  ).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --package 102 --dry-run
    2> Dry run: nothing was sent.
    again.csv: 3 rows
      1 order of 102 Identity check only
      2 rows ordered before, not sent
        Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00
        Ana Row2 (line 3): ordered 2026-11-20 12:00 +00:00
    Sending takes under a minute
    exit 0

    $ refcheck webhook events list --columns request_id,status
    REQUEST ID                            STATUS
    REQUEST_1                             PARTIAL
    exit 0

    $ refcheck store check
    sound  postgres://STORE (by the attempt logs of this machine)
    exit 0
  `)

  const onOldCopy = { exported: { REFCHECK_STORE: join(folder, 'copy.sqlite') } }
  expect(await type(run, onOldCopy)).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --package 102 --yes
    2> Error: the store "HOME/copy.sqlite" is closed: it is an older copy of the store
    2> Nothing was sent, because people could be ordered twice. See what is missing, and how to continue, with: refcheck store check
    exit 1
  `)

  const back = await type(`store move ${url} back.sqlite`, {
    exported,
    answers: [{ ask: /^Move 2 rows and 1 event from/, confirm: true }],
  })
  expect(back).toMatchInlineSnapshot(`
    $ refcheck store move postgres://STORE back.sqlite
    ? Move 2 rows and 1 event from postgres://STORE to HOME/back.sqlite, and close the former permanently? yes
    The store was moved from postgres://STORE to HOME/back.sqlite. Both hold the same:
    TABLE               ROWS  SHA256
    meta                4     DIGEST
    batches             1     DIGEST
    submissions         2     DIGEST
    attempts            2     DIGEST
    request_rows        2     DIGEST
    decisions           0     DIGEST
    releases            0     DIGEST
    joined_packages     0     DIGEST
    joined_services     0     DIGEST
    unmatched_requests  0     DIGEST
    quota               1     DIGEST
    events              1     DIGEST
    accounts            1     DIGEST
    attempt_logs        1     DIGEST
    Use it there, on every machine, with REFCHECK_STORE, or with: refcheck config set store HOME/back.sqlite
    exit 0
  `)
  expect((await type(run, onPostgres)).stderr).toContain(`was moved to "${join(folder, 'back.sqlite')}"`)
  expect((await type(run, { exported: { REFCHECK_STORE: join(folder, 'back.sqlite') } })).code).toBe(0)
  expect(listOrderedEmails()).toEqual([...createEmails(2), 'new@example.com'])
})

test('store move refuses a missing or identical store, a store in memory, and a password in the URL', async () => {
  const { all, type, folder } = await session({ filters })
  writePeopleFile(folder, createEmails(1))
  await type('batch run people.csv --package 102 --yes')
  expect(
    await all([
      'store move nothing.sqlite new.sqlite --yes',
      'store move data/ledger.sqlite data/ledger.sqlite --yes',
      'store move :memory: new.sqlite --yes',
      'store move data/ledger.sqlite new.sqlite',
      'store move data/ledger.sqlite postgres://u:hunter2@127.0.0.1/db',
      'store check',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck store move nothing.sqlite new.sqlite --yes
    2> Error: cannot use the store "HOME/nothing.sqlite": the file is missing
    2> See which store is used with: refcheck store info
    exit 1

    $ refcheck store move data/ledger.sqlite data/ledger.sqlite --yes
    2> Error: FROM and TO are the same store
    2> Give two different places.
    exit 2

    $ refcheck store move :memory: new.sqlite --yes
    2> Error: a store in memory cannot be moved
    2> Give a file, or a postgres:// address.
    exit 2

    $ refcheck store move data/ledger.sqlite new.sqlite
    2> Error: there is no terminal to confirm on
    2> Nothing was done. Run it again with --yes to skip the confirmation.
    exit 2

    $ refcheck store move data/ledger.sqlite postgres://u:hunter2@127.0.0.1/db
    2> Error: TO: a password is refused on the command line
    2> Keep it in ~/.pgpass or PGPASSWORD, and leave it out of the address.
    exit 2

    $ refcheck store check
    sound  HOME/data/ledger.sqlite (by the attempt logs of this machine)
    exit 0
  `)
})
