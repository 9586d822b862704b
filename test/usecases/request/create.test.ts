import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createRequest } from '../../../src/usecases/request/create.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { bindLedger } from '../../store/ledger/bound.ts'
import { createTemporaryStores, type TemporaryStores } from '../../store/ledger/temporary-stores.ts'
import type { ManualClock } from '../../harness/manual-clock.ts'
import { clientError, lostAnswer, order, requestId, answer201, connectionRefused } from './answers.ts'
import type { Script } from './scripted-api.ts'
import {
  halfPastNine,
  catchOrderError,
  createScriptedServices,
  type ScriptedOrderServices,
  defaultCreateOptions,
} from './scripted-ordering.ts'

let stores: TemporaryStores
let store: Store
let ledger: Ledger

beforeEach(async () => {
  stores = createTemporaryStores()
  store = await stores.openStore()
  ledger = store.ledger
})
afterEach(() => stores.remove())

/**
 * Returns services whose API gives scripted answers: `creates` are the answers to the calls that create a request, in
 * order, and `reads` are those to reads, by request id.
 */
const createServices = (script: Script, usedLedger = ledger): ScriptedOrderServices =>
  createScriptedServices({ ledger: usedLedger, batches: store.batches }, script)
const readStates = async (): Promise<string[]> => (await ledger.list({})).map(({ state }) => state)
const hintMatching = (pattern: RegExp) => ({ hint: expect.stringMatching(pattern) as string })

test('an accepted order is recorded with its request id', async () => {
  const services = createServices({ creates: [answer201()] })
  const created = await createRequest(services, order, defaultCreateOptions)
  expect(created).toEqual({
    requestId,
    status: 'RECEIVED',
    batchId: expect.any(String) as string,
    interruption: undefined,
  })
  expect(services.api.sentBodies).toEqual([JSON.stringify(order)])
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
  const other = await stores.openLedger()
  const readDuringCall: string[] = []
  const readStore = async () => {
    readDuringCall.push(...(await other.list({})).map(({ state }) => state))
    return answer201()
  }
  await createRequest(createServices({ creates: [readStore] }), order, defaultCreateOptions)
  expect(readDuringCall).toEqual(['sending'])
})

describe('the same order twice', () => {
  test('is refused with the matching request, its time and a hint', async () => {
    await createRequest(createServices({ creates: [answer201()] }), order, defaultCreateOptions)
    const orderInCapitals = {
      ...order,
      recipient: { ...order.recipient, first_name: ' ANA ', phone: '+61 400-000-001' },
    }
    const services = createServices({})
    const error = await catchOrderError(services, {}, orderInCapitals)
    expect(error).toMatchObject({
      code: 'duplicate',
      message:
        `package 12 was already ordered for "ana.silva@example.com": ` +
        `request ${requestId}, on 2026-11-21 09:30 +00:00, last seen RECEIVED when it was ordered`,
      ...hintMatching(/--allow-duplicate.* refcheck request get /),
    })
    expect(services.api.sentBodies).toEqual([])
  })

  test('is sent with allowDuplicate', async () => {
    await createRequest(createServices({ creates: [answer201()] }), order, defaultCreateOptions)
    const second = '00000000-0000-4000-8000-000000000002'
    const options = { ...defaultCreateOptions, allowDuplicate: true }
    const created = await createRequest(createServices({ creates: [answer201(second)] }), order, options)
    expect(created.requestId).toBe(second)
  })

  test('is refused even if the additional information is different', async () => {
    await createRequest(createServices({ creates: [answer201()] }), order, defaultCreateOptions)
    const orderWithMoreInformation = {
      ...order,
      additional_information: [{ code: 'reference', fields: { role: 'nurse' } }],
    }
    expect(await catchOrderError(createServices({}), {}, orderWithMoreInformation)).toMatchObject({
      code: 'duplicate',
    })
  })

  test('is accepted if it is for another package, or at another service', async () => {
    await createRequest(createServices({ creates: [answer201()] }), order, defaultCreateOptions)
    const second = answer201('00000000-0000-4000-8000-000000000002')
    await createRequest(
      createServices({ creates: [second] }),
      { ...order, package_id: 13 },
      defaultCreateOptions,
    )
    const servicesOfOtherUrl = createServices({
      baseUrl: 'https://service.example',
      creates: [answer201()],
    })
    await createRequest(servicesOfOtherUrl, order, defaultCreateOptions)
    expect(await readStates()).toEqual(['accepted', 'accepted', 'accepted'])
  })

  test.each([true, false])(
    'is refused after an unknown outcome, with allowDuplicate %s',
    async (allowDuplicate) => {
      await catchOrderError(createServices({ creates: [lostAnswer] }))
      const services = createServices({})
      expect(await catchOrderError(services, { allowDuplicate })).toMatchObject({
        code: 'duplicate',
        message: expect.stringMatching(/with an unknown outcome/) as string,
        ...hintMatching(
          /may have been ordered.*--allow-duplicate does not override this.*refcheck batch reconcile [0-9a-f-]{36}$/,
        ),
      })
      expect(services.api.sentBodies).toEqual([])
    },
  )

  test('is refused while the first order is being sent, even with allowDuplicate', async () => {
    const errors: unknown[] = []
    const meanwhile = async () => {
      for (const allowDuplicate of [false, true])
        errors.push(await catchOrderError(createServices({}), { allowDuplicate }))
      return answer201()
    }
    await createRequest(createServices({ creates: [meanwhile] }), order, defaultCreateOptions)
    const duplicateError = {
      code: 'duplicate',
      message: expect.stringMatching(/is being ordered .* by another command/) as string,
    }
    expect(errors).toMatchObject([duplicateError, duplicateError])
    expect(await readStates()).toEqual(['accepted'])
  })

  test('is refused while the first order waits after a 429', async () => {
    const errors: unknown[] = []
    const services = createServices({
      creates: [clientError(429, 'rate limit exceeded', '5'), answer201()],
    })
    const { clock } = services
    const sleep = clock.sleep.bind(clock)
    clock.sleep = async (ms) => {
      errors.push(await catchOrderError(createServices({})))
      await sleep(ms)
    }
    await createRequest(services, order, defaultCreateOptions)
    expect(errors).toMatchObject([
      { code: 'duplicate', message: expect.stringMatching(/is queued for .* in batch/) as string },
    ])
  })
})

describe('an order that the service refuses', () => {
  test.each([
    [clientError(400, 'recipient.phone: invalid'), { code: 'invalid_input', field: 'recipient.phone' }],
    [clientError(404, 'resource not found'), { code: 'not_found' }],
  ])(
    'the error for a rejected body names the field and has the code that belongs to the status, and the order can be sent again',
    async (answer, error) => {
      expect(await catchOrderError(createServices({ creates: [answer] }))).toMatchObject(error)
      expect(await readStates()).toEqual(['rejected'])
      await createRequest(createServices({ creates: [answer201()] }), order, defaultCreateOptions)
      expect(await readStates()).toEqual(['rejected', 'accepted'])
    },
  )

  test.each([
    [clientError(401, 'invalid API key'), 'unauthenticated'],
    [clientError(403, 'organisation has no credits remaining'), 'forbidden'],
  ])('after a 401 or 403 nothing was created, and the same order can be sent: %#', async (answer, code) => {
    const services = createServices({ creates: [answer] })
    expect(await catchOrderError(services)).toMatchObject({ code })
    expect(await readStates()).toEqual(['cancelled'])
    services.api.expectAllAnswersUsed()
    await createRequest(createServices({ creates: [answer201()] }), order, defaultCreateOptions)
  })
})

describe('a call that created nothing', () => {
  test('is repeated as a new attempt after the Retry-After of a 429', async () => {
    const services = createServices({
      creates: [clientError(429, 'rate limit exceeded', '17'), answer201()],
    })
    await createRequest(services, order, defaultCreateOptions)
    expect(services.clock.sleeps).toEqual([17_000])
    expect(services.events).toEqual([
      { name: 'waiting', cause: 'throttled', seconds: 17, isStated: true, reason: 'rate limit exceeded' },
      { name: 'retrying', attempt: 2 },
    ])
    expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 2 }])
  })

  test('is repeated after a minute if the Retry-After of a 429 is invalid, which is reported', async () => {
    const services = createServices({
      creates: [clientError(429, 'rate limit exceeded', 'soon'), answer201()],
    })
    await createRequest(services, order, defaultCreateOptions)
    expect(services.events[0]).toMatchObject({ name: 'waiting', seconds: 60, isStated: false })
  })

  test('is repeated after growing pauses if the connection is not established', async () => {
    const services = createServices({
      creates: [connectionRefused, connectionRefused, connectionRefused, answer201()],
    })
    await createRequest(services, order, defaultCreateOptions)
    expect(services.clock.sleeps).toEqual([375, 750, 1500])
    expect(services.events[0]).toMatchObject({
      name: 'waiting',
      cause: 'unreachable',
      reason: 'connection refused',
    })
    services.api.expectAllAnswersUsed()
  })

  test('is not repeated if the wait exceeds the time limit for waits: the order is cancelled and can be sent later', async () => {
    const services = createServices({ creates: [clientError(429, 'rate limit exceeded', '3600')] })
    expect(await catchOrderError(services)).toMatchObject({
      code: 'throttled',
      status: 429,
      retryAfter: 3600,
      ...hintMatching(/^Nothing was ordered\. Run it again in 3600 s.*--timeout/),
    })
    expect(services.clock.sleeps).toEqual([])
    expect(await readStates()).toEqual(['cancelled'])
    await createRequest(createServices({ creates: [answer201()] }), order, defaultCreateOptions)
  })

  test('is repeated until all waits together exceed the time limit', async () => {
    const creates = Array.from({ length: 3 }, () => clientError(429, 'rate limit exceeded', '50'))
    const services = createServices({ creates })
    expect(await catchOrderError(services)).toMatchObject({ code: 'throttled' })
    expect(services.clock.sleeps).toEqual([50_000, 50_000])
  })

  test('is repeated for an hour without a connection if the time limit for waits is an hour', async () => {
    const creates = Array.from({ length: 200 }, () => connectionRefused)
    const services = createServices({ creates })
    expect(await catchOrderError(services, { waitBudgetMs: 3_600_000 })).toMatchObject({
      code: 'unavailable',
    })
    expect(Math.max(...services.clock.sleeps)).toBe(22_500)
    expect(await readStates()).toEqual(['cancelled'])
  })

  test('is not repeated without a budget', async () => {
    const services = createServices({ creates: [connectionRefused] })
    expect(await catchOrderError(services, { waitBudgetMs: 0 })).toMatchObject({ code: 'unavailable' })
  })
})

describe('a journal entry that is more than 5 s old before the order is sent', () => {
  /** Returns a ledger that runs the next of `pauses` after each attempt is recorded, as if the machine was suspended. */
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
    'is not sent if the %s clock shows this age: a new attempt is made',
    async (which) => {
      const clock = halfPastNine()
      const suspendingLedger = suspendAfterClaims(() => advanceOneClock(clock, 5_001, which))
      const services = createScriptedServices(
        { ledger: suspendingLedger, batches: store.batches },
        { creates: [answer201()] },
        { clock },
      )
      await createRequest(services, order, defaultCreateOptions)
      expect(services.api.sentBodies).toHaveLength(1)
      expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 2 }])
    },
  )

  test('is sent if it is exactly 5 s old, also if the wall clock is set back', async () => {
    const clock = halfPastNine()
    const advanceAndSetBack = async (): Promise<void> => {
      await advanceOneClock(clock, 5_000, 'monotonic')
      clock.jump(-86_400_000)
    }
    await createRequest(
      createScriptedServices(
        { ledger: suspendAfterClaims(advanceAndSetBack), batches: store.batches },
        { creates: [answer201()] },
        { clock },
      ),
      order,
      defaultCreateOptions,
    )
    expect(await ledger.list({})).toMatchObject([{ state: 'accepted', attempts: 1 }])
  })
})

test('an order that another process changed is not sent and not repeated', async () => {
  const ledgerOfChangedOrder: Ledger = {
    ...bindLedger(ledger),
    beginInQuota: () => Promise.resolve({ waitMs: 0, attempt: undefined, conflict: undefined }),
  }
  const services = createServices({}, ledgerOfChangedOrder)
  expect(await catchOrderError(services)).toMatchObject({ code: 'internal' })
  expect({ sent: services.api.sentBodies, sleeps: services.clock.sleeps }).toEqual({ sent: [], sleeps: [] })
})

test('a store in memory can order only from a loopback service', async () => {
  const memory = await stores.openStore(':memory:')
  const local = createScriptedServices(memory, { creates: [answer201()] })
  await createRequest(local, order, defaultCreateOptions)
  const remote = createScriptedServices(memory, { baseUrl: 'https://service.example' })
  expect(await catchOrderError(remote)).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/in memory/) as string,
    ...hintMatching(/REFCHECK_STORE/),
  })
  expect(remote.api.sentBodies).toEqual([])
})
