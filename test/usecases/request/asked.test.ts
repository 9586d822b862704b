import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { clientError, lost, order, orderFor, requestId, taken, unsent } from './answers.ts'
import { memoryStore, runnerOf } from '../batch/runner.ts'
import type { RequestBody } from '../../../src/contract/request.ts'
import type { Conflict } from '../../../src/domain/submission/conflicts.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { createRequest } from '../../../src/usecases/request/create.ts'

// Tests a single order with a limited quota, and with a user who can be asked a question.
let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

type World = NonNullable<Parameters<typeof runnerOf>[1]>
type Options = Partial<Parameters<typeof createRequest>[2]>

async function ordering(body: RequestBody, world: World = {}, options: Options = {}) {
  const runner = runnerOf(store, world)
  const done = await createRequest(runner.ports, body, {
    allowDuplicate: false,
    waitBudgetMs: 120_000,
    ...options,
  }).catch((thrown: unknown) => ({ thrown }))
  return { ...runner, done }
}

const states = async () => (await store.ledger.list({})).map(({ state }) => state)
const idOf = (digit: number): string => `${digit}${requestId.slice(1)}`
const named = (first_name: string): RequestBody => ({
  ...order,
  recipient: { ...order.recipient, first_name },
})

describe('a similar person was ordered', () => {
  const asking = (...answers: boolean[]) => {
    const asked: string[] = []
    const onSimilar = ({ order: { recipient }, reason }: Conflict) => {
      asked.push(`${reason} ${recipient?.first_name}`)
      const yes = answers.shift()
      if (yes === undefined) throw new Error('no question was expected')
      return Promise.resolve(yes)
    }
    return { asked, onSimilar }
  }

  beforeEach(() => ordering(order, { creates: [taken(idOf(1))] }))

  test('an answer of no orders nothing and stores nothing', async () => {
    const { asked, onSimilar } = asking(false)
    const { done, api } = await ordering(named('Anna'), {}, { onSimilar })
    expect({ done, sent: api.sent, asked }).toMatchObject({
      done: { thrown: { code: 'duplicate' } },
      sent: [],
      asked: ['similar Ana'],
    })
    expect(await states()).toEqual(['accepted'])
  })

  test('an answer of yes is needed for each similar person', async () => {
    const { asked, onSimilar } = asking(true)
    expect((await ordering(named('Anna'), { creates: [taken(idOf(2))] }, { onSimilar })).done).toMatchObject({
      requestId: idOf(2),
    })
    const both = asking(true, true)
    const third = await ordering(named('Ann'), { creates: [taken(idOf(3))] }, both)
    expect(third.done).toMatchObject({ requestId: idOf(3) })
    expect([asked, both.asked.toSorted()]).toEqual([['similar Ana'], ['similar Ana', 'similar Anna']])
    const half = asking(true, false)
    const { done, api } = await ordering(named('Anni'), {}, half)
    expect({ done, sent: api.sent }).toMatchObject({ done: { thrown: { code: 'duplicate' } }, sent: [] })
  })

  test('without a question the order is refused', async () => {
    const { done, api } = await ordering(named('Anna'))
    expect({ done, sent: api.sent }).toMatchObject({ done: { thrown: { code: 'duplicate' } }, sent: [] })
  })

  test('the same person is refused, and no question is asked', async () => {
    const { done, api } = await ordering(order, {}, asking())
    expect({ done, sent: api.sent }).toMatchObject({ done: { thrown: { code: 'duplicate' } }, sent: [] })
  })
})

test('a conflict found after the order was added is reported, and the order is cancelled', async () => {
  await ordering({ ...order, package_id: 13 }, { creates: [taken(idOf(1))] })
  const { done, api } = await ordering(order, {
    ledger: {
      async beginInQuota(...given) {
        await store.waiting.recordLikelySuccessors('http://127.0.0.1:4010', [[13, 12]], 1)
        return store.ledger.beginInQuota(...given)
      },
    },
  })
  expect({ done, sent: api.sent }).toMatchObject({ done: { thrown: { code: 'duplicate' } }, sent: [] })
  expect(await states()).toEqual(['accepted', 'cancelled'])
})

test('an order that another process changed is an internal error', async () => {
  const nothing = { waitMs: 0, attempt: undefined, conflict: undefined }
  const { done, api } = await ordering(order, { ledger: { beginInQuota: () => Promise.resolve(nothing) } })
  expect({ done, sent: api.sent }).toMatchObject({ done: { thrown: { code: 'internal' } }, sent: [] })
})

describe('the quota', () => {
  const windows = [{ calls: 1, seconds: 60 }]

  /** One call was made within the last minute. */
  const used = async () => ordering(orderFor('first@example.com'), { creates: [taken(idOf(1))], windows })

  test('is waited for, and the wait is reported in seconds', async () => {
    await used()
    const { done, events, clock } = await ordering(order, { creates: [taken(idOf(2))], windows })
    expect(done).toMatchObject({ requestId: idOf(2) })
    const [waitMs = 0] = clock.sleeps
    expect(waitMs).toBeGreaterThanOrEqual(60_000)
    expect(events).toContainEqual({ name: 'paced', seconds: waitMs / 1000 })
  })

  test('is not waited for longer than the wait budget; nothing is sent, and the order is cancelled', async () => {
    await used()
    const { done, api, clock } = await ordering(order, { windows }, { waitBudgetMs: 59_999 })
    expect({ done, sent: api.sent, sleeps: clock.sleeps }).toMatchObject({
      done: { thrown: { code: 'throttled' } },
      sent: [],
      sleeps: [],
    })
    expect(await states()).toEqual(['accepted', 'cancelled'])
  })

  test('is waited for if the wait is exactly the wait budget', async () => {
    await used()
    const { clock } = await ordering(orderFor('second@example.com'), { windows, creates: [taken(idOf(2))] })
    const [waitMs = 0] = clock.sleeps
    const fresh = await memoryStore()
    await store.close()
    store = fresh
    await used()
    const { done } = await ordering(order, { windows, creates: [taken(idOf(3))] }, { waitBudgetMs: waitMs })
    expect(done).toMatchObject({ requestId: idOf(3) })
  })

  test('Ctrl-C while it is waited for: nothing was ordered, and nothing waits', async () => {
    await used()
    const stop = new AbortController()
    const onEvent = ({ name }: { name: string }) => name === 'paced' && stop.abort()
    const { done, api } = await ordering(order, { windows, signal: stop.signal, onEvent })
    expect({ done, sent: api.sent }).toMatchObject({
      done: { thrown: { code: 'interrupted', message: 'interrupted; nothing was ordered' } },
      sent: [],
    })
    expect(await states()).toEqual(['accepted', 'cancelled'])
  })

  test('is changed by a 429 for all processes with the key, and not by a connection that was not established', async () => {
    const throttled = await ordering(order, { creates: [clientError(429, 'too many', '7'), taken(idOf(2))] })
    expect(throttled.clock.sleeps[0]).toBe(7000)
    const { notBefore } = await throttled.ports.governor.status()
    expect(notBefore).toBeGreaterThanOrEqual(throttled.clock.now())
    await store.close()
    store = await memoryStore()
    const away = await ordering(order, { creates: [unsent, taken(idOf(2))] })
    expect((await away.ports.governor.status()).notBefore).toBe(0)
  })
})

test('the error of an unknown outcome names its row, and the same order is refused', async () => {
  const { done } = await ordering(order, { creates: [lost] })
  const [row] = await store.ledger.list({})
  const hint = expect.stringContaining(`batch reconcile ${row?.batchId}`) as string
  expect(done).toMatchObject({
    thrown: { code: 'outcome_unknown', hint, order: { batchId: row?.batchId, row: 1 } },
  })
  const again = await ordering(order, {}, { allowDuplicate: true })
  expect({ done: again.done, sent: again.api.sent }).toMatchObject({
    done: { thrown: { code: 'duplicate' } },
    sent: [],
  })
})
