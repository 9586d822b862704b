import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { type Session, session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102 --yes'
const unavailable = { kind: 'status', status: 503, when: 'before' } as const

/** Makes the calls that `on` names fail from the first POST on. Returns a function that ends this. */
function failFromFirstOrder({ sandbox, intercept }: Session, on: string): () => void {
  let endOutage: (() => void) | undefined
  intercept((request, ask) => {
    if (request.method === 'POST') endOutage ??= sandbox.inject({ on, times: 1000, fault: unavailable })
    return ask(request)
  })
  return () => {
    intercept(undefined)
    endOutage?.()
  }
}

test('an outage makes one row unknown: nothing more is sent until the service answers', async () => {
  const clock = new ManualClock({ auto: true })
  const here = await session({ clock })
  const { type, folder, listOrderedEmails } = here
  writePeopleFile(folder, ['a1@example.com', 'a2+cut-before@example.com', 'a3@example.com'])
  const endOutage = failFromFirstOrder(here, 'GET *')
  const sleep = clock.sleep.bind(clock)
  clock.sleep = async (ms, signal) => {
    if (ms >= 5000) endOutage()
    await sleep(ms, signal)
  }
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 3 rows
    2>   3 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> Ana Row2 unknown: 127.0.0.1:PORT: the connection was cut
    2> answer 503; try 2 of 4 in 0.4 s
    2> answer 503; try 3 of 4 in 1.0 s
    2> answer 503; try 4 of 4 in 2.0 s
    2> the service failed (503): internal server error; paused; checking again in 5 s
    2> A test call to the service succeeded; continuing.
    2 of 3 people in people.csv are ordered; 1 unknown

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    1  unknown
    3  rows

    results  HOME/people.results.csv
    2> Error: 1 row may or may not have been ordered
    2> Settle it with: refcheck batch reconcile BATCH_1
    exit 8
  `)
  expect(listOrderedEmails()).toEqual(['a1@example.com', 'a3@example.com'])
})

test('a batch that is run again during the outage gets no second row with an unknown outcome', async () => {
  const here = await session()
  const { type, folder } = here
  writePeopleFile(folder, createEmails(3))
  const endOutage = failFromFirstOrder(here, '*')
  for (const _ of [1, 2, 3]) {
    const { code, json } = await type(`${run} --timeout 1s --json`)
    expect([code, json()]).toMatchObject([8, { counts: { unknown: 1, pending: 2 } }])
  }
  endOutage()
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 0 of 3 accepted, 2 rows are left to send.
    2 of 3 people in people.csv are ordered; 1 unknown

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    1  unknown
    3  rows

    results  HOME/people.results.csv
    2> Error: 1 row may or may not have been ordered
    2> Settle it with: refcheck batch reconcile BATCH_1
    exit 8
  `)
})

test('three unknown outcomes in a row halt the batch, even if the service answers pings', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(6, '+cut-after'))
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 6 rows
    2>   6 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> Ana Row1 unknown: 127.0.0.1:PORT: the connection was cut
    2> A test call to the service succeeded; continuing.
    2> Ana Row2 unknown: 127.0.0.1:PORT: the connection was cut
    2> A test call to the service succeeded; continuing.
    2> Ana Row3 unknown: 127.0.0.1:PORT: the connection was cut
    0 of 6 people in people.csv are ordered; 3 pending, 3 unknown

    batch  BATCH_1
    people.csv, 102 Identity check only

    3  pending
    3  unknown
    6  rows

    halted  2026-11-20 12:00 +00:00  3 rows in succession have an unknown outcome although the service answers a ping: 127.0.0.1:PORT: the connection was cut
    Ask the provider’s support about these orders before you continue.

    results  HOME/people.results.csv
    2> Error: 3 rows may or may not have been ordered, 3 not sent yet; halted: 3 rows in succession have an unknown outcome although the service answers a ping: 127.0.0.1:PORT: the connection was cut
    2> Settle them with: refcheck batch reconcile BATCH_1
    2> Then continue with: refcheck batch resume BATCH_1
    exit 8
  `)
  expect(listOrderedEmails()).toHaveLength(3)
})
