import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createRequest } from '../../../src/usecases/request/create.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { bindLedger } from '../../store/ledger/bound.ts'
import { scratch, type Scratch } from '../../store/ledger/scratch.ts'
import type { ManualClock } from '../../harness/manual-clock.ts'
import { clientError, lostAnswer, order, requestId, answer201, unsentAnswer } from './answers.ts'
import type { Script } from './scripted-api.ts'
import {
  halfPastNine,
  catchOrderError,
  scriptedOrdering,
  type ScriptedOrdering,
  createOptions,
} from './scripted-ordering.ts'

let home: Scratch
let store: Store
let ledger: Ledger

beforeEach(async () => {
  home = scratch()
  store = await home.store()
  ledger = store.ledger
})
afterEach(() => home.end())

const createOrdering = (script: Script, usedLedger = ledger): ScriptedOrdering =>
  scriptedOrdering({ ledger: usedLedger, batches: store.batches }, script)
const readStates = async (): Promise<string[]> => (await ledger.list({})).map(({ state }) => state)
const hintMatching = (pattern: RegExp) => ({ hint: expect.stringMatching(pattern) as string })

test('an accepted order is recorded with its request id', async () => {
  const parts = createOrdering({ creates: [answer201()] })
  const created = await createRequest(parts, order, createOptions)
  expect(created).toEqual({
    requestId,
    status: 'RECEIVED',
    batchId: expect.any(String) as string,
    interruption: undefined,
  })
  expect(parts.api.sentBodies).toEqual([JSON.stringify(order)])
  expect(await ledger.list({})).toMatchObject([
    {
      state: 'accepted',
      requestId,
      requestStatus: 'RECEIVED',
      batchId: created.batchId,
      attempts: 1,
      row: 1,
    },
  ])
})

test('another process reads the state "sending" before the first byte is sent', async () => {
  const other = await home.open()
  const readDuringCall: string[] = []
  const readStore = async () => {
    readDuringCall.push(...(await other.list({})).map(({ state }) => state))
    return answer201()
  }
  await createRequest(createOrdering({ creates: [readStore] }), order, createOptions)
  expect(readDuringCall).toEqual(['sending'])
})

describe('the same order twice', () => {
  test('is refused with the matching request, its time and a hint', async () => {
    await createRequest(createOrdering({ creates: [answer201()] }), order, createOptions)
    const orderInCapitals = {
      ...order,
      recipient: { ...order.recipient, first_name: ' ANA ', phone: '+61 400-000-001' },
    }
    const parts = createOrdering({})
    const error = await catchOrderError(parts, {}, orderInCapitals)
    expect(error).toMatchObject({
      code: 'duplicate',
      message:
        `package 12 was already ordered for "ana.silva@example.com": ` +
        `request ${requestId}, on 2026-11-21 09:30 +00:00, last seen RECEIVED when it was ordered`,
      ...hintMatching(/--allow-duplicate.* refcheck request get /),
    })
    expect(parts.api.sentBodies).toEqual([])
  })

  test('is ordered once more with allowDuplicate', async () => {
    await createRequest(createOrdering({ creates: [answer201()] }), order, createOptions)
    const second = '00000000-0000-4000-8000-000000000002'
    const options = { ...createOptions, allowDuplicate: true }
    const created = await createRequest(createOrdering({ creates: [answer201(second)] }), order, options)
    expect(created.requestId).toBe(second)
  })

  test('with other additional information is the same order', async () => {
    await createRequest(createOrdering({ creates: [answer201()] }), order, createOptions)
    const orderWithMoreInformation = {
      ...order,
      additional_information: [{ code: 'reference', fields: { role: 'nurse' } }],
    }
    expect(await catchOrderError(createOrdering({}), {}, orderWithMoreInformation)).toMatchObject({
      code: 'duplicate',
    })
  })

  test('for another package, or on another service, is another order', async () => {
    await createRequest(createOrdering({ creates: [answer201()] }), order, createOptions)
    const second = answer201('00000000-0000-4000-8000-000000000002')
    await createRequest(createOrdering({ creates: [second] }), { ...order, package_id: 13 }, createOptions)
    const orderingAtOtherService = createOrdering({
      baseUrl: 'https://service.example',
      creates: [answer201()],
    })
    await createRequest(orderingAtOtherService, order, createOptions)
    expect(await readStates()).toEqual(['accepted', 'accepted', 'accepted'])
  })

  test.each([true, false])(
    'after an unknown outcome is refused, allowDuplicate %s',
    async (allowDuplicate) => {
      await catchOrderError(createOrdering({ creates: [lostAnswer] }))
      const parts = createOrdering({})
      expect(await catchOrderError(parts, { allowDuplicate })).toMatchObject({
        code: 'duplicate',
        message: expect.stringMatching(/with an unknown outcome/) as string,
        ...hintMatching(
          /may have been ordered.*--allow-duplicate does not override this.*refcheck batch reconcile [0-9a-f-]{36}$/,
        ),
      })
      expect(parts.api.sentBodies).toEqual([])
    },
  )

  test('while the first is in flight is refused, even with allowDuplicate', async () => {
    const errors: unknown[] = []
    const meanwhile = async () => {
      for (const allowDuplicate of [false, true])
        errors.push(await catchOrderError(createOrdering({}), { allowDuplicate }))
      return answer201()
    }
    await createRequest(createOrdering({ creates: [meanwhile] }), order, createOptions)
    const duplicateError = {
      code: 'duplicate',
      message: expect.stringMatching(/is being ordered .* by another command/) as string,
    }
    expect(errors).toMatchObject([duplicateError, duplicateError])
    expect(await readStates()).toEqual(['accepted'])
  })

  test('while the first waits out a 429 is refused', async () => {
    const errors: unknown[] = []
    const parts = createOrdering({
      creates: [clientError(429, 'rate limit exceeded', '5'), answer201()],
    })
    const { clock } = parts
    const sleep = clock.sleep.bind(clock)
    clock.sleep = async (ms) => {
      errors.push(await catchOrderError(createOrdering({})))
      await sleep(ms)
    }
    await createRequest(parts, order, createOptions)
    expect(errors).toMatchObject([
      { code: 'duplicate', message: expect.stringMatching(/is queued for .* in batch/) as string },
    ])
  })
})

describe('refused by the service', () => {
  test.each([
    [clientError(400, 'recipient.phone: invalid'), { code: 'invalid_input', field: 'recipient.phone' }],
    [clientError(404, 'resource not found'), { code: 'not_found' }],
  ])('a rejected body has its own error, and a corrected order can be sent', async (answer, error) => {
    expect(await catchOrderError(createOrdering({ creates: [answer] }))).toMatchObject(error)
    expect(await readStates()).toEqual(['rejected'])
    await createRequest(createOrdering({ creates: [answer201()] }), order, createOptions)
    expect(await readStates()).toEqual(['rejected', 'accepted'])
  })

  test.each([
    [clientError(401, 'invalid API key'), 'unauthenticated'],
    [clientError(403, 'organisation has no credits remaining'), 'forbidden'],
  ])(
    'a refused key or membership creates nothing, and the same order can be sent: %#',
    async (answer, code) => {
      const parts = createOrdering({ creates: [answer] })
      expect(await catchOrderError(parts)).toMatchObject({ code })
      expect(await readStates()).toEqual(['cancelled'])
      parts.api.expectAllAnswersUsed()
      await createRequest(createOrdering({ creates: [answer201()] }), order, createOptions)
    },
  )
})

describe('a call that created nothing is repeated as a new attempt', () => {
  test('after the Retry-After of a 429', async () => {
    const parts = createOrdering({
      creates: [clientError(429, 'rate limit exceeded', '17'), answer201()],
    })
    await createRequest(parts, order, createOptions)
    expect(parts.clock.sleeps).toEqual([17_000])
    expect(parts.events).toEqual([
      { name: 'waiting', cause: 'throttled', seconds: 17, isStated: true, reason: 'rate limit exceeded' },
      { name: 'retrying', attempt: 2 },
    ])
    expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 2 }])
  })

  test('after a minute if the Retry-After of a 429 is invalid, which is reported', async () => {
    const parts = createOrdering({
      creates: [clientError(429, 'rate limit exceeded', 'soon'), answer201()],
    })
    await createRequest(parts, order, createOptions)
    expect(parts.events[0]).toMatchObject({ name: 'waiting', seconds: 60, isStated: false })
  })

  test('after growing pauses if the connection is not established', async () => {
    const parts = createOrdering({ creates: [unsentAnswer, unsentAnswer, unsentAnswer, answer201()] })
    await createRequest(parts, order, createOptions)
    expect(parts.clock.sleeps).toEqual([375, 750, 1500])
    expect(parts.events[0]).toMatchObject({
      name: 'waiting',
      cause: 'unreachable',
      reason: 'connection refused',
    })
    parts.api.expectAllAnswersUsed()
  })

  test('but not if the wait exceeds the budget: the order is cancelled and can be sent later', async () => {
    const parts = createOrdering({ creates: [clientError(429, 'rate limit exceeded', '3600')] })
    expect(await catchOrderError(parts)).toMatchObject({
      code: 'throttled',
      status: 429,
      retryAfter: 3600,
      ...hintMatching(/^Nothing was ordered\. Run it again in 3600 s.*--timeout/),
    })
    expect(parts.clock.sleeps).toEqual([])
    expect(await readStates()).toEqual(['cancelled'])
    await createRequest(createOrdering({ creates: [answer201()] }), order, createOptions)
  })

  test('until all waits together exceed the budget', async () => {
    const creates = Array.from({ length: 3 }, () => clientError(429, 'rate limit exceeded', '50'))
    const parts = createOrdering({ creates })
    expect(await catchOrderError(parts)).toMatchObject({ code: 'throttled' })
    expect(parts.clock.sleeps).toEqual([50_000, 50_000])
  })

  test('until the budget of an hour without a connection is used up', async () => {
    const creates = Array.from({ length: 200 }, () => unsentAnswer)
    const parts = createOrdering({ creates })
    expect(await catchOrderError(parts, { waitBudgetMs: 3_600_000 })).toMatchObject({
      code: 'unavailable',
    })
    expect(Math.max(...parts.clock.sleeps)).toBe(22_500)
    expect(await readStates()).toEqual(['cancelled'])
  })

  test('but not without a budget', async () => {
    const parts = createOrdering({ creates: [unsentAnswer] })
    expect(await catchOrderError(parts, { waitBudgetMs: 0 })).toMatchObject({ code: 'unavailable' })
  })
})

describe('a journal entry that is more than 5 s old before the order is sent', () => {
  /** Returns a ledger that runs the next of `pauses` after each claim, as if the machine was suspended. */
  function suspendAfterClaims(...pauses: (() => Promise<void>)[]): Ledger {
    return {
      ...bindLedger(ledger),
      async beginInQuota(...from) {
        const claim = await ledger.beginInQuota(...from)
        await pauses.shift()?.()
        return claim
      },
    }
  }

  /** Advances one of the two clocks and not the other. */
  async function advanceOneClock(clock: ManualClock, ms: number, which: 'wall' | 'monotonic'): Promise<void> {
    if (which === 'wall') {
      clock.jump(ms)
      return
    }
    await clock.advance(ms)
    clock.jump(-ms)
  }

  test.each(['wall', 'monotonic'] as const)(
    'by the %s clock leads to a new attempt, and no byte of the first one is sent',
    async (which) => {
      const clock = halfPastNine()
      const suspendingLedger = suspendAfterClaims(() => advanceOneClock(clock, 5_001, which))
      const parts = scriptedOrdering(
        { ledger: suspendingLedger, batches: store.batches },
        { creates: [answer201()] },
        { clock },
      )
      await createRequest(parts, order, createOptions)
      expect(parts.api.sentBodies).toHaveLength(1)
      expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 2 }])
    },
  )

  test('is sent if it is 5 s old, also if the wall clock is set back', async () => {
    const clock = halfPastNine()
    const setBack = async (): Promise<void> => {
      await advanceOneClock(clock, 5_000, 'monotonic')
      clock.jump(-86_400_000)
    }
    await createRequest(
      scriptedOrdering(
        { ledger: suspendAfterClaims(setBack), batches: store.batches },
        { creates: [answer201()] },
        { clock },
      ),
      order,
      createOptions,
    )
    expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 1 }])
  })
})

test('an order that another process changed is not sent and not repeated', async () => {
  const changed: Ledger = {
    ...bindLedger(ledger),
    beginInQuota: () => Promise.resolve({ waitMs: 0, attempt: undefined, conflict: undefined }),
  }
  const parts = createOrdering({}, changed)
  expect(await catchOrderError(parts)).toMatchObject({ code: 'internal' })
  expect({ sent: parts.api.sentBodies, sleeps: parts.clock.sleeps }).toEqual({ sent: [], sleeps: [] })
})

test('a store in memory can order only from a loopback service', async () => {
  const memory = await home.store(':memory:')
  const local = scriptedOrdering(memory, { creates: [answer201()] })
  await createRequest(local, order, createOptions)
  const real = scriptedOrdering(memory, { baseUrl: 'https://service.example' })
  expect(await catchOrderError(real)).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/in memory/) as string,
    ...hintMatching(/REFCHECK_STORE/),
  })
  expect(real.api.sentBodies).toEqual([])
})
