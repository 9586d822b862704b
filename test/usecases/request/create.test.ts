import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createRequest } from '../../../src/usecases/request/create.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { bindLedger } from '../../store/ledger/bound.ts'
import { scratch, type Scratch } from '../../store/ledger/scratch.ts'
import type { ManualClock } from '../../harness/manual-clock.ts'
import { clientError, lost, order, requestId, taken, unsent } from './answers.ts'
import type { Script } from './scripted-api.ts'
import {
  halfPastNine,
  refusal,
  scriptedOrdering,
  type ScriptedOrdering,
  twoMinutes,
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

const ordering = (script: Script, over = ledger): ScriptedOrdering =>
  scriptedOrdering({ ledger: over, batches: store.batches }, script)
const states = async (): Promise<string[]> => (await ledger.list({})).map(({ state }) => state)
const hint = (pattern: RegExp) => ({ hint: expect.stringMatching(pattern) as string })

test('an accepted order is recorded with its request id', async () => {
  const parts = ordering({ creates: [taken()] })
  const created = await createRequest(parts, order, twoMinutes)
  expect(created).toEqual({
    requestId,
    status: 'RECEIVED',
    batchId: expect.any(String) as string,
    interruption: undefined,
  })
  expect(parts.api.sent).toEqual([JSON.stringify(order)])
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
  const seen: string[] = []
  const readStore = async () => {
    seen.push(...(await other.list({})).map(({ state }) => state))
    return taken()
  }
  await createRequest(ordering({ creates: [readStore] }), order, twoMinutes)
  expect(seen).toEqual(['sending'])
})

describe('the same order twice', () => {
  test('is refused with the matching request, its time and a hint', async () => {
    await createRequest(ordering({ creates: [taken()] }), order, twoMinutes)
    const shouting = {
      ...order,
      recipient: { ...order.recipient, first_name: ' ANA ', phone: '+61 400-000-001' },
    }
    const parts = ordering({})
    const error = await refusal(parts, {}, shouting)
    expect(error).toMatchObject({
      code: 'duplicate',
      message:
        `package 12 was already ordered for "ana.silva@example.com": ` +
        `request ${requestId}, on 2026-11-21 09:30 +00:00, last seen RECEIVED when it was ordered`,
      ...hint(/--allow-duplicate.* refcheck request get /),
    })
    expect(parts.api.sent).toEqual([])
  })

  test('is ordered once more with allowDuplicate', async () => {
    await createRequest(ordering({ creates: [taken()] }), order, twoMinutes)
    const second = '00000000-0000-4000-8000-000000000002'
    const options = { ...twoMinutes, allowDuplicate: true }
    const created = await createRequest(ordering({ creates: [taken(second)] }), order, options)
    expect(created.requestId).toBe(second)
  })

  test('with other additional information is the same order', async () => {
    await createRequest(ordering({ creates: [taken()] }), order, twoMinutes)
    const mended = { ...order, additional_information: [{ code: 'reference', fields: { role: 'nurse' } }] }
    expect(await refusal(ordering({}), {}, mended)).toMatchObject({ code: 'duplicate' })
  })

  test('for another package, or on another service, is another order', async () => {
    await createRequest(ordering({ creates: [taken()] }), order, twoMinutes)
    const second = taken('00000000-0000-4000-8000-000000000002')
    await createRequest(ordering({ creates: [second] }), { ...order, package_id: 13 }, twoMinutes)
    const elsewhere = ordering({ baseUrl: 'https://service.example', creates: [taken()] })
    await createRequest(elsewhere, order, twoMinutes)
    expect(await states()).toEqual(['accepted', 'accepted', 'accepted'])
  })

  test.each([true, false])(
    'after an unknown outcome is refused, allowDuplicate %s',
    async (allowDuplicate) => {
      await refusal(ordering({ creates: [lost] }))
      const parts = ordering({})
      expect(await refusal(parts, { allowDuplicate })).toMatchObject({
        code: 'duplicate',
        message: expect.stringMatching(/with an unknown outcome/) as string,
        ...hint(
          /may have been ordered.*--allow-duplicate does not override this.*refcheck batch reconcile [0-9a-f-]{36}$/,
        ),
      })
      expect(parts.api.sent).toEqual([])
    },
  )

  test('while the first is in flight is refused, even with allowDuplicate', async () => {
    const errors: unknown[] = []
    const meanwhile = async () => {
      for (const allowDuplicate of [false, true]) errors.push(await refusal(ordering({}), { allowDuplicate }))
      return taken()
    }
    await createRequest(ordering({ creates: [meanwhile] }), order, twoMinutes)
    const inTheWay = {
      code: 'duplicate',
      message: expect.stringMatching(/is being ordered .* by another command/) as string,
    }
    expect(errors).toMatchObject([inTheWay, inTheWay])
    expect(await states()).toEqual(['accepted'])
  })

  test('while the first waits out a 429 is refused', async () => {
    const errors: unknown[] = []
    const parts = ordering({ creates: [clientError(429, 'rate limit exceeded', '5'), taken()] })
    const { clock } = parts
    const sleep = clock.sleep.bind(clock)
    clock.sleep = async (ms) => {
      errors.push(await refusal(ordering({})))
      await sleep(ms)
    }
    await createRequest(parts, order, twoMinutes)
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
    expect(await refusal(ordering({ creates: [answer] }))).toMatchObject(error)
    expect(await states()).toEqual(['rejected'])
    await createRequest(ordering({ creates: [taken()] }), order, twoMinutes)
    expect(await states()).toEqual(['rejected', 'accepted'])
  })

  test.each([
    [clientError(401, 'invalid API key'), 'unauthenticated'],
    [clientError(403, 'organisation has no credits remaining'), 'forbidden'],
  ])(
    'a refused key or membership creates nothing, and the same order can be sent: %#',
    async (answer, code) => {
      const parts = ordering({ creates: [answer] })
      expect(await refusal(parts)).toMatchObject({ code })
      expect(await states()).toEqual(['cancelled'])
      parts.api.expectDone()
      await createRequest(ordering({ creates: [taken()] }), order, twoMinutes)
    },
  )
})

describe('a call that created nothing is repeated as a new attempt', () => {
  test('after the Retry-After of a 429', async () => {
    const parts = ordering({ creates: [clientError(429, 'rate limit exceeded', '17'), taken()] })
    await createRequest(parts, order, twoMinutes)
    expect(parts.clock.sleeps).toEqual([17_000])
    expect(parts.events).toEqual([
      { name: 'waiting', cause: 'throttled', seconds: 17, understood: true, reason: 'rate limit exceeded' },
      { name: 'retrying', attempt: 2 },
    ])
    expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 2 }])
  })

  test('after a minute if the Retry-After of a 429 is invalid, which is reported', async () => {
    const parts = ordering({ creates: [clientError(429, 'rate limit exceeded', 'soon'), taken()] })
    await createRequest(parts, order, twoMinutes)
    expect(parts.events[0]).toMatchObject({ name: 'waiting', seconds: 60, understood: false })
  })

  test('after growing pauses if the connection is not established', async () => {
    const parts = ordering({ creates: [unsent, unsent, unsent, taken()] })
    await createRequest(parts, order, twoMinutes)
    expect(parts.clock.sleeps).toEqual([375, 750, 1500])
    expect(parts.events[0]).toMatchObject({
      name: 'waiting',
      cause: 'unreachable',
      reason: 'connection refused',
    })
    parts.api.expectDone()
  })

  test('but not if the wait exceeds the budget: the order is cancelled and can be sent later', async () => {
    const parts = ordering({ creates: [clientError(429, 'rate limit exceeded', '3600')] })
    expect(await refusal(parts)).toMatchObject({
      code: 'throttled',
      status: 429,
      retryAfter: 3600,
      ...hint(/^Nothing was ordered\. Run it again in 3600 s.*--timeout/),
    })
    expect(parts.clock.sleeps).toEqual([])
    expect(await states()).toEqual(['cancelled'])
    await createRequest(ordering({ creates: [taken()] }), order, twoMinutes)
  })

  test('until all waits together exceed the budget', async () => {
    const creates = Array.from({ length: 3 }, () => clientError(429, 'rate limit exceeded', '50'))
    const parts = ordering({ creates })
    expect(await refusal(parts)).toMatchObject({ code: 'throttled' })
    expect(parts.clock.sleeps).toEqual([50_000, 50_000])
  })

  test('until the budget of an hour without a connection is used up', async () => {
    const creates = Array.from({ length: 200 }, () => unsent)
    const parts = ordering({ creates })
    expect(await refusal(parts, { waitBudgetMs: 3_600_000 })).toMatchObject({
      code: 'unavailable',
    })
    expect(Math.max(...parts.clock.sleeps)).toBe(22_500)
    expect(await states()).toEqual(['cancelled'])
  })

  test('but not without a budget', async () => {
    const parts = ordering({ creates: [unsent] })
    expect(await refusal(parts, { waitBudgetMs: 0 })).toMatchObject({ code: 'unavailable' })
  })
})

describe('a journal entry that is more than 5 s old before the order is sent', () => {
  /** Returns a ledger after whose claims the given pauses take place, as if the machine was suspended. */
  function suspended(...pauses: (() => Promise<void>)[]): Ledger {
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
  async function pass(clock: ManualClock, ms: number, which: 'wall' | 'monotonic'): Promise<void> {
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
      const sleepy = suspended(() => pass(clock, 5_001, which))
      const parts = scriptedOrdering(
        { ledger: sleepy, batches: store.batches },
        { creates: [taken()] },
        { clock },
      )
      await createRequest(parts, order, twoMinutes)
      expect(parts.api.sent).toHaveLength(1)
      expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 2 }])
    },
  )

  test('is sent if it is 5 s old, also if the wall clock is set back', async () => {
    const clock = halfPastNine()
    const setBack = async (): Promise<void> => {
      await pass(clock, 5_000, 'monotonic')
      clock.jump(-86_400_000)
    }
    await createRequest(
      scriptedOrdering(
        { ledger: suspended(setBack), batches: store.batches },
        { creates: [taken()] },
        { clock },
      ),
      order,
      twoMinutes,
    )
    expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 1 }])
  })
})

test('an order that another process changed is not sent and not repeated', async () => {
  const changed: Ledger = {
    ...bindLedger(ledger),
    beginInQuota: () => Promise.resolve({ waitMs: 0, attempt: undefined, conflict: undefined }),
  }
  const parts = ordering({}, changed)
  expect(await refusal(parts)).toMatchObject({ code: 'internal' })
  expect({ sent: parts.api.sent, sleeps: parts.clock.sleeps }).toEqual({ sent: [], sleeps: [] })
})

test('a store in memory can order only from a loopback service', async () => {
  const memory = await home.store(':memory:')
  const local = scriptedOrdering(memory, { creates: [taken()] })
  await createRequest(local, order, twoMinutes)
  const real = scriptedOrdering(memory, { baseUrl: 'https://service.example' })
  expect(await refusal(real)).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/in memory/) as string,
    ...hint(/REFCHECK_STORE/),
  })
  expect(real.api.sent).toEqual([])
})
