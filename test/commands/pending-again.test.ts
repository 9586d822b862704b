import { describe, expect, test } from 'vitest'

import { changeStore } from '../harness/change-store.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { moveOrdersToPast } from '../harness/postgres-store.ts'
import { type Session, session } from '../harness/session.ts'
import { writeEvents, createUnknownRow } from '../harness/unknown-row.ts'

const minute = 60_000

/** Stores an event for each request, as a receiver does. */
async function storeEvents(here: Session, store: 'SQLite' | 'PostgreSQL'): Promise<void> {
  const body = store === 'PostgreSQL' ? "'{}'" : "x'7b7d'"
  const values = here.sandbox
    .requests()
    .map(
      ({ request_id: id }) => `('${id}', 0, ${body}, '', '${id}', 'IN_PROGRESS', 'request.updated', 'none')`,
    )
  const columns = 'identity, received_at, body, signature, request_id, status, event, forward'
  await changeStore(here, store, `INSERT INTO events (${columns}) VALUES ${values.join()}`)
}

describe.each(['SQLite', 'PostgreSQL'] as const)('a row that is pending again, on %s', (store) => {
  /** Creates an unknown row that a user decided to send again, and whose second attempt the service refused. */
  async function createRefusedRetry(): Promise<{ here: Session; id: string }> {
    // PostgreSQL sets times from the machine's clock, so the session's clock starts near it.
    const now = Date.now() - 16 * minute
    const here = await session(
      store === 'SQLite' ? {} : { store, clock: new ManualClock({ auto: true, now }) },
    )
    const id = await createUnknownRow(here)
    if (store === 'PostgreSQL') await moveOrdersToPast(16 * minute, here.env['REFCHECK_STORE'])
    await here.clock.advance(16 * minute)
    here.sandbox.inject({ on: 'POST *', fault: { kind: 'status', status: 401, when: 'before' }, times: 1 })
    const again = `batch reconcile ${id} --row 2 --confirm-email a2+cut-after@example.com`
    expect((await here.type(again)).code).not.toBe(0)
    expect((await here.type(`batch status ${id} --json`)).json()).toMatchObject({ counts: { pending: 1 } })
    return { here, id }
  }

  test('is accepted when an event names the request of its first attempt', async () => {
    const { here, id } = await createRefusedRetry()
    writeEvents(here)
    expect(await here.type(`batch reconcile ${id} --events events.ndjson`)).toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --events events.ndjson
      Ana Row2 was accepted: request REQUEST_2
      exit 0
    `)
    await here.type(`batch resume ${id} --yes`)
    expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2+cut-after@example.com'])
  })

  test('is accepted by the runner before it sends', async () => {
    const { here, id } = await createRefusedRetry()
    await storeEvents(here, store)
    expect(await here.type(`batch resume ${id} --yes`)).toMatchInlineSnapshot(`
      $ refcheck batch resume BATCH_1 --yes
      2> Ana Row2 was accepted: request REQUEST_2
      ✔ All 2 people in people.csv are ordered
         1 now
         1 before

      batch  BATCH_1
      people.csv, 102 Identity check only

      2  accepted
      2  rows

      results  HOME/people.results.csv

      Next: refcheck request wait --batch BATCH_1
      exit 0
    `)
    expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2+cut-after@example.com'])
  })

  test('stays pending if no request is for its person, and is not reported as open', async () => {
    const { here, id } = await createRefusedRetry()
    here.write('events.ndjson', '')
    expect(await here.type(`batch reconcile ${id} --events events.ndjson`)).toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --events events.ndjson
      Nothing to settle.
      exit 0
    `)
    expect((await here.type(`batch status ${id} --json`)).json()).toMatchObject({ counts: { pending: 1 } })
  })
})
