import { describe, expect, test } from 'vitest'

import { writePeopleFile } from '../../harness/batch-file.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { type Session, session } from '../../harness/session.ts'

const minute = 60_000
const day = 24 * 60 * minute

/** Starts a session on a machine with the right clock, and returns the clock of another machine that is ahead. */
async function startMachines(aheadMs: number): Promise<{ here: Session; ahead: ManualClock }> {
  const now = Date.now()
  const here = await session({ store: 'PostgreSQL', clock: new ManualClock({ auto: true, now }) })
  return { here, ahead: new ManualClock({ auto: true, now: now + aheadMs }) }
}

describe('on PostgreSQL a machine whose clock is ahead', () => {
  test('by 16 minutes does not pass the wait of 15 minutes after an unknown outcome', async () => {
    const { here, ahead } = await startMachines(16 * minute)
    writePeopleFile(here.folder, ['a1@example.com'])
    here.sandbox.inject({ on: 'POST *', fault: { kind: 'cut', when: 'after' }, times: 1 })
    const outcome = await here.type('batch run people.csv --package 102 --yes --json')
    const { batch_id: id } = outcome.json() as { batch_id: string }
    const again = `batch reconcile ${id} --row 1 --confirm-email a1@example.com`
    expect(await here.type(again, { clock: ahead })).toMatchInlineSnapshot(`
      $ refcheck batch reconcile BATCH_1 --row 1 --confirm-email a1@example.com
      2> Error: the order of Ana Row1 (line 2) was sent less than 15 minutes ago: its event may still arrive
      2> Nothing was sent. Run this again in 15 min.
      exit 2
    `)
    expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
  })

  test('by 8 days does not order again in a file a person who was ordered today', async () => {
    const { here, ahead } = await startMachines(8 * day)
    writePeopleFile(here.folder, ['a1@example.com'])
    expect((await here.type('batch run people.csv --package 102 --yes')).code).toBe(0)
    writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
    await here.type('batch run people.csv --package 102 --yes --allow-duplicate --ignore-results', {
      clock: ahead,
    })
    expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com'])
  })
})

describe('on PostgreSQL an order of a machine whose clock is behind', () => {
  /** Orders on a machine whose clock is behind. Returns the session of another machine, and the batch's id. */
  async function orderWithClockBehind(
    byMs: number,
    fault?: { kind: 'cut'; when: 'after' },
  ): Promise<[Session, string]> {
    const now = Date.now()
    const here = await session({ store: 'PostgreSQL', clock: new ManualClock({ auto: true, now }) })
    writePeopleFile(here.folder, ['a1@example.com'])
    if (fault !== undefined) here.sandbox.inject({ on: 'POST *', fault, times: 1 })
    const outcome = await here.type('batch run people.csv --package 102 --yes --json', {
      clock: new ManualClock({ auto: true, now: now - byMs }),
    })
    return [here, (outcome.json() as { batch_id: string }).batch_id]
  }

  test('by 16 minutes also waits for 15 minutes after an unknown outcome', async () => {
    const [here, id] = await orderWithClockBehind(16 * minute, { kind: 'cut', when: 'after' })
    const again = await here.type(`batch reconcile ${id} --row 1 --confirm-email a1@example.com`)
    expect(again.stderr).toContain('the order of Ana Row1 (line 2) was sent less than 15 minutes ago')
    expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
  })

  test('by 8 days is not ordered again in a file on the same day', async () => {
    const [here] = await orderWithClockBehind(8 * day)
    writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
    await here.type('batch run people.csv --package 102 --yes --allow-duplicate --ignore-results')
    expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com'])
  })
})

test('events are compared with attempts by the database’s clock, even if the clocks of machine and service are behind it', async () => {
  const now = Date.now() - 5 * minute
  const here = await session({ store: 'PostgreSQL', clock: new ManualClock({ auto: true, now }) })
  here.intercept(async (request, ask) => {
    const answer = await ask(request)
    answer.headers.set('date', new Date(now).toUTCString())
    return answer
  })
  writePeopleFile(here.folder, ['a1@example.com'])
  here.sandbox.inject({ on: 'POST *', fault: { kind: 'cut', when: 'after' }, times: 1 })
  await here.type('batch run people.csv --package 102 --yes')
  const [request] = here.sandbox.requests()
  const event = { request_id: request?.request_id, event: 'request.updated', status: 'RECEIVED' }
  here.write('events.ndjson', JSON.stringify(event))
  expect(await here.type('batch reconcile --events events.ndjson')).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --events events.ndjson
    Ana Row1 was accepted: request REQUEST_1
    exit 0
  `)
})
