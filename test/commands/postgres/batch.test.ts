import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import type { Filter } from '../../harness/filters.ts'
import { orderArguments } from '../../harness/people.ts'
import { createTestStore } from '../../harness/postgres-store.ts'
import { type Session, session } from '../../harness/session.ts'

const location: Filter = [/postgres:\/\/owner@\S+/g, 'postgres://STORE']

/** Times of orders, which the database's clock sets. */
const orderedOn: Filter = [/(?<=RECEIVED  )\d{4}-\d\d-\d\d/g, 'YYYY-MM-DD']
const orderedAt: Filter = [/on \d{4}-\d\d-\d\d \d\d:\d\d \+00:00/g, 'on DAY TIME']

/** Starts a session with a store on PostgreSQL, whose URL is exported in the shell. */
async function sessionOnPostgres(): Promise<Session> {
  const here = await session({
    quota: [{ calls: 10_000, seconds: 60 }],
    filters: [location, orderedOn, orderedAt],
  })
  const exported = { REFCHECK_STORE: await createTestStore(), REFCHECK_QUOTA: '10000/60' }
  return {
    ...here,
    type: (line, options) => here.type(line, { exported, ...options }),
    all: (lines, options) => here.all(lines, { exported, ...options }),
  }
}

test('on PostgreSQL a batch is run, run again and listed, and a duplicate order is refused', async () => {
  const here = await sessionOnPostgres()
  writePeopleFile(here.folder, createEmails(3))
  const screen = await here.all([
    'batch run people.csv --package 102 --yes',
    'batch run people.csv --package 102 --yes',
    'batch list',
    'request list',
    'store check',
    orderArguments('Ana'),
    orderArguments('Ana'),
  ])
  expect(screen).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 3 rows
    2>   3 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ✔ All 3 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted
    3  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0

    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: nothing left to send.
    ✔ All 3 people in people.csv are ordered, on DAY TIME; nothing to do

    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted
    3  rows

    results  HOME/people.results.csv

    Next: refcheck report sync --output reports
    exit 0

    $ refcheck batch list
    BATCH ID                              NAME        ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               people.csv  2026-11-20  3 of 3   0         done
    exit 0

    $ refcheck request list
    REQUEST ID                            STATUS    ORDERED AT  NAME      PACKAGE
    REQUEST_1                             RECEIVED  YYYY-MM-DD  Ana Row1  102 Identity check only
    REQUEST_2                             RECEIVED  YYYY-MM-DD  Ana Row2  102 Identity check only
    REQUEST_3                             RECEIVED  YYYY-MM-DD  Ana Row3  102 Identity check only
    exit 0

    $ refcheck store check
    sound  postgres://STORE (by the attempt logs of this machine)
    exit 0

    $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --yes
    created  REQUEST_4                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_4
    exit 0

    $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana@example.com --phone +61412345678 --yes
    2> Error: package 102 was already ordered for "ana@example.com": request REQUEST_4, on DAY TIME, last seen RECEIVED on DAY TIME
    2> To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_4
    exit 2
  `)
  expect(here.listOrderedEmails()).toHaveLength(4)
})
