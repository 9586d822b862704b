import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { batchRow } from '../../domain/batch/rows.ts'
import { SimilarQuestion } from '../../../src/usecases/request/create.ts'
import { ScriptedPrompter } from '../../harness/scripted-prompter.ts'
import {
  clientError,
  lostAnswer,
  order,
  orderFor,
  requestId,
  answer201,
  connectionRefused,
} from './answers.ts'
import { memoryStore, createRunner } from '../batch/runner.ts'
import type { RequestBody } from '../../../src/contract/request.ts'
import type { Conflict } from '../../../src/domain/submission/conflicts.ts'
import type { OrderServices } from '../../../src/usecases/request/send.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { createRequest } from '../../../src/usecases/request/create.ts'

// Tests a single order with a limited quota, and with a user who can be asked a question.
let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

type RunOverrides = NonNullable<Parameters<typeof createRunner>[1]>
type Options = Partial<Parameters<typeof createRequest>[2]>

async function runOrder(body: RequestBody, overrides: RunOverrides = {}, options: Options = {}) {
  const runner = createRunner(store, overrides)
  const done = await createRequest(runner.ports, body, {
    allowDuplicate: false,
    waitBudgetMs: 120_000,
    ...options,
  }).catch((thrown: unknown) => ({ thrown }))
  return { ...runner, done }
}

const readStates = async () => (await store.ledger.list({})).map(({ state }) => state)
const idOf = (digit: number): string => `${digit}${requestId.slice(1)}`
const orderForName = (first_name: string): RequestBody => ({
  ...order,
  recipient: { ...order.recipient, first_name },
})

describe('a similar person was ordered', () => {
  const answerWith = (...answers: boolean[]) => {
    const asked: string[] = []
    const onSimilar = ({ order: { recipient }, reason }: Conflict) => {
      asked.push(`${reason} ${recipient?.first_name}`)
      const yes = answers.shift()
      if (yes === undefined) throw new Error('no question was expected')
      return Promise.resolve(yes)
    }
    return { asked, onSimilar }
  }

  beforeEach(() => runOrder(order, { creates: [answer201(idOf(1))] }))

  test('an answer of no orders nothing and stores nothing', async () => {
    const { asked, onSimilar } = answerWith(false)
    const { done, api } = await runOrder(orderForName('Anna'), {}, { onSimilar })
    expect({ done, sent: api.sentBodies, asked }).toMatchObject({
      done: { thrown: { code: 'duplicate' } },
      sent: [],
      asked: ['similar Ana'],
    })
    expect(await readStates()).toEqual(['accepted'])
  })

  test('an answer of yes is needed for each similar person', async () => {
    const { asked, onSimilar } = answerWith(true)
    expect(
      (await runOrder(orderForName('Anna'), { creates: [answer201(idOf(2))] }, { onSimilar })).done,
    ).toMatchObject({
      requestId: idOf(2),
    })
    const both = answerWith(true, true)
    const third = await runOrder(orderForName('Ann'), { creates: [answer201(idOf(3))] }, both)
    expect(third.done).toMatchObject({ requestId: idOf(3) })
    expect([asked, both.asked.toSorted()]).toEqual([['similar Ana'], ['similar Ana', 'similar Anna']])
    const half = answerWith(true, false)
    const { done, api } = await runOrder(orderForName('Anni'), {}, half)
    expect({ done, sent: api.sentBodies }).toMatchObject({
      done: { thrown: { code: 'duplicate' } },
      sent: [],
    })
  })

  test('without a question the order is refused', async () => {
    const { done, api } = await runOrder(orderForName('Anna'))
    expect({ done, sent: api.sentBodies }).toMatchObject({
      done: { thrown: { code: 'duplicate' } },
      sent: [],
    })
  })

  test('the same person is refused, and no question is asked', async () => {
    const { done, api } = await runOrder(order, {}, answerWith())
    expect({ done, sent: api.sentBodies }).toMatchObject({
      done: { thrown: { code: 'duplicate' } },
      sent: [],
    })
  })
})

test('a conflict found after the order was added is reported, and the order is cancelled', async () => {
  await runOrder({ ...order, package_id: 13 }, { creates: [answer201(idOf(1))] })
  const { done, api } = await runOrder(order, {
    ledger: {
      async beginInQuota(...given) {
        await store.heldRows.recordLikelySuccessors('http://127.0.0.1:4010', [[13, 12]], 1)
        return store.ledger.beginInQuota(...given)
      },
    },
  })
  expect({ done, sent: api.sentBodies }).toMatchObject({ done: { thrown: { code: 'duplicate' } }, sent: [] })
  expect(await readStates()).toEqual(['accepted', 'cancelled'])
})

test('an order that another process changed is an internal error', async () => {
  const nothing = { waitMs: 0, attempt: undefined, conflict: undefined }
  const { done, api } = await runOrder(order, { ledger: { beginInQuota: () => Promise.resolve(nothing) } })
  expect({ done, sent: api.sentBodies }).toMatchObject({ done: { thrown: { code: 'internal' } }, sent: [] })
})

describe('the quota', () => {
  const windows = [{ calls: 1, seconds: 60 }]

  /** One call was made within the last minute. */
  const useUpQuota = async () =>
    runOrder(orderFor('first@example.com'), { creates: [answer201(idOf(1))], windows })

  test('is waited for, and the wait is reported in seconds', async () => {
    await useUpQuota()
    const { done, events, clock } = await runOrder(order, { creates: [answer201(idOf(2))], windows })
    expect(done).toMatchObject({ requestId: idOf(2) })
    const [waitMs = 0] = clock.sleeps
    expect(waitMs).toBeGreaterThanOrEqual(60_000)
    expect(events).toContainEqual({ name: 'paced', seconds: waitMs / 1000 })
  })

  test('is not waited for longer than the wait budget; nothing is sent, and the order is cancelled', async () => {
    await useUpQuota()
    const { done, api, clock } = await runOrder(order, { windows }, { waitBudgetMs: 59_999 })
    expect({ done, sent: api.sentBodies, sleeps: clock.sleeps }).toMatchObject({
      done: { thrown: { code: 'throttled' } },
      sent: [],
      sleeps: [],
    })
    expect(await readStates()).toEqual(['accepted', 'cancelled'])
  })

  test('is waited for if the wait is exactly the wait budget', async () => {
    await useUpQuota()
    const { clock } = await runOrder(orderFor('second@example.com'), {
      windows,
      creates: [answer201(idOf(2))],
    })
    const [waitMs = 0] = clock.sleeps
    const fresh = await memoryStore()
    await store.close()
    store = fresh
    await useUpQuota()
    const { done } = await runOrder(
      order,
      { windows, creates: [answer201(idOf(3))] },
      { waitBudgetMs: waitMs },
    )
    expect(done).toMatchObject({ requestId: idOf(3) })
  })

  test('Ctrl-C while it is waited for: nothing was ordered, and nothing waits', async () => {
    await useUpQuota()
    const stop = new AbortController()
    const onEvent = ({ name }: { name: string }) => name === 'paced' && stop.abort()
    const { done, api } = await runOrder(order, { windows, signal: stop.signal, onEvent })
    expect({ done, sent: api.sentBodies }).toMatchObject({
      done: { thrown: { code: 'interrupted', message: 'interrupted; nothing was ordered' } },
      sent: [],
    })
    expect(await readStates()).toEqual(['accepted', 'cancelled'])
  })

  test('is changed by a 429 for all processes with the key, and not by a connection that was not established', async () => {
    const throttled = await runOrder(order, {
      creates: [clientError(429, 'too many', '7'), answer201(idOf(2))],
    })
    expect(throttled.clock.sleeps[0]).toBe(7000)
    const { notBefore } = await throttled.ports.governor.status()
    expect(notBefore).toBeGreaterThanOrEqual(throttled.clock.now())
    await store.close()
    store = await memoryStore()
    const away = await runOrder(order, { creates: [connectionRefused, answer201(idOf(2))] })
    expect((await away.ports.governor.status()).notBefore).toBe(0)
  })
})

test('the error of an unknown outcome names its row, and the same order is refused', async () => {
  const { done } = await runOrder(order, { creates: [lostAnswer] })
  const [row] = await store.ledger.list({})
  const hint = expect.stringContaining(`batch reconcile ${row?.batchId}`) as string
  expect(done).toMatchObject({
    thrown: { code: 'outcome_unknown', hint, order: { batchId: row?.batchId, row: 1 } },
  })
  const again = await runOrder(order, {}, { allowDuplicate: true })
  expect({ done: again.done, sent: again.api.sentBodies }).toMatchObject({
    done: { thrown: { code: 'duplicate' } },
    sent: [],
  })
})

test('the question about a similar person is destructive: keys pressed before it is shown do not answer it', async () => {
  const destructiveFlags: unknown[] = []
  const prompter = new ScriptedPrompter([{ ask: /Order anyway\?$/, confirm: true }])
  const confirm = prompter.confirm.bind(prompter)
  prompter.confirm = (question) => {
    destructiveFlags.push(question.isDestructive)
    return confirm(question)
  }
  const services = { ledger: { list: () => Promise.resolve([]) }, api: {} } as unknown as OrderServices
  const openServices = (): Promise<OrderServices> => Promise.resolve(services)
  const similar = new SimilarQuestion(openServices, prompter, { allowDuplicate: false, allowSimilar: false })
  const other = { ...batchRow({ attemptedAt: 0 }), packageId: 7 }
  const conflict = {
    becomes: 'held',
    reason: 'similar',
    shares: ['email'],
    order: other,
    moreCount: 0,
  } as const
  expect(await similar.isConfirmed({ ...conflict, shares: [...conflict.shares] }, orderForName('Ana'))).toBe(
    true,
  )
  expect(destructiveFlags).toEqual([true])
})
