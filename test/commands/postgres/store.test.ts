import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import type { Filter } from '../../harness/filters.ts'
import { queryDatabase, emptyDatabase } from '../../harness/postgres.ts'
import { createTestStore } from '../../harness/postgres-store.ts'
import { session, type Session } from '../../harness/session.ts'

const filters: Filter[] = [
  [/\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d\d:\d\d/g, 'DAY TIME'],
  [/postgres:\/\/owner@\S+?(?=[";:,]*(?:\s|$))/g, 'postgres://STORE'],
  [/PostgreSQL \d+\.\d+/g, 'PostgreSQL N.N'],
  [/in \d+\.\d ms/g, 'in N.N ms'],
  [/"latency_ms": [\d.]+/g, '"latency_ms": N'],
  [/\d+(\.\d+)? [kM]B/g, 'SIZE'],
  [/"bytes": \d+/g, '"bytes": N'],
]

const readPassword = (url: string): string => /owner:([^@]*)@/.exec(url)?.[1] ?? ''

async function sessionWithStore(url: string): Promise<Session> {
  const here = await session({ filters })
  const exported = { REFCHECK_STORE: url }
  return {
    ...here,
    type: async (line, options) => {
      const step = await here.type(line, { exported, ...options })
      expect(step.text).not.toContain(readPassword(url))
      return step
    },
    all: (lines, options) => here.all(lines, { exported, ...options }),
  }
}

test('store migrate creates the tables once, and store info shows format and address', async () => {
  const { all } = await sessionWithStore(await emptyDatabase())
  const lines = [
    'store info',
    'store migrate',
    'store migrate --json',
    'store info',
    'store info --json',
    'store check',
  ]
  expect(await all(lines)).toMatchInlineSnapshot(`
    $ refcheck store info
    2> Error: cannot use the store "postgres://STORE": the database has no tables of refcheck
    2> Make them with: refcheck store migrate
    exit 1

    $ refcheck store migrate
    The store "postgres://STORE" now has format 1; before, it was empty.
    exit 0

    $ refcheck store migrate --json
    {
      "location": "postgres://STORE",
      "from": 1,
      "to": 1
    }
    exit 0

    $ refcheck store info
    postgres://STORE  SIZE
    format 1, PostgreSQL N.N
    no standby; answers in N.N ms
    0 batches and single orders: no rows
    0 events in the inbox
    exit 0

    $ refcheck store info --json
    {
      "location": "postgres://STORE",
      "bytes": N,
      "format": 1,
      "engine": "PostgreSQL N.N",
      "batches": 0,
      "rows": {
        "pending": 0,
        "sending": 0,
        "accepted": 0,
        "rejected": 0,
        "unknown": 0,
        "dropped": 0,
        "held": 0,
        "invalid": 0,
        "duplicate": 0,
        "cancelled": 0
      },
      "events": 0,
      "sqlite": "",
      "oldest": null,
      "newest": null,
      "closed": [],
      "replication": "none",
      "latency_ms": N
    }
    exit 0

    $ refcheck store check
    sound  postgres://STORE (by the attempt logs of this machine)
    exit 0
  `)
})

test('store backup refuses a store on PostgreSQL; store purge works on it', async () => {
  const { all, folder, listOrderedEmails } = await sessionWithStore(await createTestStore())
  writePeopleFile(folder, createEmails(2))
  expect(
    await all([
      'batch run people.csv --package 102 --yes --quiet',
      'store backup copy.sqlite',
      'store purge --email a1@example.com --yes',
      'batch run people.csv --package 102 --yes',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --quiet
    ✔ All 2 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0

    $ refcheck store backup copy.sqlite
    2> Error: a store on PostgreSQL is backed up by the server’s own means
    2> Use pg_dump, or pg_basebackup with WAL archiving.
    exit 2

    $ refcheck store purge --email a1@example.com --yes
    Removed personal data of 1 row and 0 events.
    Files that still show the person:
      input file    HOME/people.csv
      results file  HOME/people.results.csv
    2> To delete those that refcheck wrote, run: refcheck store purge --email a1@example.com --delete-files
    exit 0

    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: nothing left to send.
    ✔ All 2 people in people.csv are ordered, on DAY TIME; nothing to do

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck report sync --output reports
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('doctor names the replication of the store', async () => {
  const { type } = await sessionWithStore(await createTestStore())
  const { stdout } = await type('doctor')
  expect(stdout).toMatch(/store +postgres:\/\/owner@\S+; no standby/)
})

test('two workers share the queued batch', async () => {
  const url = await createTestStore()
  const { type, folder, listOrderedEmails } = await sessionWithStore(url)
  writePeopleFile(folder, createEmails(5))
  await type('batch queue people.csv --package 102 --yes')
  await Promise.all([type('worker --once'), type('worker --once')])
  expect(listOrderedEmails().sort()).toEqual(createEmails(5))
  expect(await queryDatabase(url, 'SELECT queued_at FROM refcheck.batches')).toEqual([{ queued_at: null }])
})

test('a store of a newer format is refused', async () => {
  const url = await createTestStore()
  const { all } = await sessionWithStore(url)
  await queryDatabase(url, `UPDATE refcheck.meta SET value = '99' WHERE name = 'format'`)
  expect(await all(['store info', 'store migrate'])).toMatchInlineSnapshot(`
    $ refcheck store info
    2> Error: cannot use the store "postgres://STORE": it was made by a newer refcheck (format 99; this version supports up to 1)
    2> Update refcheck, or choose another store with REFCHECK_STORE.
    exit 1

    $ refcheck store migrate
    2> Error: cannot use the store "postgres://STORE": it was made by a newer refcheck (format 99; this version supports up to 1)
    2> Update refcheck, or choose another store with REFCHECK_STORE.
    exit 1
  `)
})

test.each([
  ['postgres://u:hunter2@db.example.com/orders', 'needs sslmode=verify-full'],
  ['postgres://u:hun/ter2@db.example.com/orders', 'is not of the form postgres://user@host:5432/database'],
  ['postgres://u:hunter2@127.0.0.1:1/orders', 'connection refused'],
])('an address that cannot be used is reported without its password: %s', async (url, why) => {
  const here = await session()
  const { text, code } = await here.type('store info', { exported: { REFCHECK_STORE: url } })
  expect(text).toContain(why)
  expect(text).not.toMatch(/hunter2|hun\/|ter2/)
  expect(code).not.toBe(0)
})

test.each([
  [
    'a trigger',
    `CREATE FUNCTION refcheck.planted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.email := NULL; RETURN NEW; END';
    CREATE TRIGGER planted BEFORE UPDATE ON refcheck.submissions FOR EACH ROW EXECUTE FUNCTION refcheck.planted()`,
    [
      'a function that refcheck did not make is next to its tables: planted',
      'a trigger that refcheck did not make is on table submissions: planted',
    ],
  ],
  [
    'a trigger with the name of a trigger of refcheck',
    `CREATE FUNCTION refcheck.moved() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER moved BEFORE INSERT ON refcheck.attempts FOR EACH STATEMENT EXECUTE FUNCTION refcheck.moved()`,
    [
      'a function that refcheck did not make is next to its tables: moved',
      'a trigger that refcheck did not make is on table attempts: moved',
    ],
  ],
  [
    'a rule',
    'CREATE RULE planted AS ON DELETE TO refcheck.events DO INSTEAD NOTHING',
    ['a rule that refcheck did not make is on table events: planted'],
  ],
  [
    'a policy',
    'CREATE POLICY planted ON refcheck.events USING (false)',
    ['a policy that refcheck did not make is on table events: planted'],
  ],
  [
    'other defaults',
    `ALTER TABLE refcheck.batches ALTER allow_duplicate SET DEFAULT 1, ALTER shared DROP DEFAULT, ALTER name SET DEFAULT 'x'`,
    [
      'the default of batches.allow_duplicate is 1; refcheck makes 0',
      `the default of batches.name is 'x'::text; refcheck makes none`,
      `the default of batches.shared is missing; refcheck makes '[]'`,
    ],
  ],
  [
    'a missing index',
    'DROP INDEX refcheck.submissions_sending',
    ['the index submissions_sending is missing or not valid'],
  ],
])('%s on the tables of a store is reported by its check', async (_, sql, findings) => {
  const url = await createTestStore()
  const here = await sessionWithStore(url)
  expect((await here.type('store check --json')).json()).toMatchObject({ sound: true, findings: [] })
  await queryDatabase(url, sql)
  const checked = await here.type('store check --json')
  expect(checked.code).toBe(1)
  expect(checked.json()).toMatchObject({ sound: false, findings })
})
