import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { createRequestFor } from '../harness/orders.ts'
import { fullInformation } from '../harness/people.ts'
import { session } from '../harness/session.ts'

const narrowTerminal = {
  tty: { stdin: true, stdout: true, stderr: true },
  columns: 80,
  exported: { NO_COLOR: '1' },
}

test('lines that are too long for the terminal are wrapped between two words', async () => {
  const here = await session({
    clock: new ManualClock({ auto: true }),
    filters: [[/127\.0\.0\.1:\d+…/g, 'SERVICE…']],
  })
  const { type, folder, clock } = here
  const id = await createRequestFor(here, 'Priya', fullInformation)
  await clock.advance(60 * 60_000)
  expect(await type(`request get ${id}`, narrowTerminal)).toMatchInlineSnapshot(`
    $ refcheck request get REQUEST_1
    Priya Example  COMPLETED
      request    REQUEST_1
      package    101 Standard employment screen
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                    STATUS     REPORT  ID
    Reference check          COMPLETED  -       CHECK_1
    └ Quinn Referee          COMPLETED  ready   911340
      <quinn.referee.1@
      example.com>
    └ Jordan Referee         COMPLETED  ready   911341
      <jordan.referee.2@
      example.com>
    National police check    COMPLETED  ready   CHECK_2
    (Verity Checks)
    Credit history check     COMPLETED  ready   CHECK_3
    (Ledgerline Bureau)

    Reports: refcheck report download --request REQUEST_1…
    exit 0
  `)
  writePeopleFile(folder, createEmails(4, '+cut-after'))
  const run = await type('batch run people.csv --package 102 --yes --json')
  const { batch_id: batch } = run.json() as { batch_id: string }
  expect(await type(`batch status ${batch}`, narrowTerminal)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1
    batch  BATCH_1
    people.csv, 102 Identity check only

    1  pending
    3  unknown
    4  rows

    halted  2026-11-20 13:00 +00:00  3 rows in succession have an unknown outcome
    although the service answers a ping: 127.0.0.1:PORT: the connection was cut
    Ask the provider’s support about these orders before you continue.

    results  HOME/people.results.csv

    Needs a person
      3 perhaps ordered  people.csv: Ana Row1, Ana Row2, Ana Row3: SERVICE…
        refcheck batch reconcile BATCH_1
      1 halted  people.csv
        refcheck batch resume BATCH_1
    exit 0
  `)
})

test('the log of a worker is text on a terminal, and JSON otherwise and with --json', async () => {
  const { type, folder } = await session()
  writePeopleFile(folder, createEmails(1))
  await type('batch queue people.csv --package 102 --yes')
  expect(await type('worker --once', narrowTerminal)).toMatchInlineSnapshot(`
    $ refcheck worker --once
    12:00:00  started  profiles default
    12:00:00  batch-started  profile default, batch BATCH_1…, pending 1
    12:00:00  refreshed  profile default
    12:00:00  row  profile default, batch BATCH_1…, row 1, state accepted
    12:00:00  batch-ended  profile default, batch BATCH_1…, 1 accepted
    12:00:00  stopping
    12:00:00  stopped
    exit 0
  `)
  expect((await type('worker --once --json', narrowTerminal)).stdout).toMatch(/^\{"time":/)
})
