import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { parseRetryAfter } from '../../src/contract/headers.ts'
import type { Random } from '../../src/host/random.ts'
import { TransportError } from '../../src/http/failure.ts'
import { type RetryEvent, type RetryPolicy, withRetries } from '../../src/http/retry.ts'
import type { HttpHeaders } from '../../src/http/types.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `retry-after` of the fault table (test/resilience/rows.ts).
recordForFaultTable('retry-after', { mustNotHappen: 'hot loops' })

/**
 * src/docs/cli.md, "Flags of every command": "A GET is sent at most 4 times", and --timeout limits the waits for retries
 * and 429s.
 */

/** What one attempt gets: a status, a cut connection, an untrusted certificate, or a status with its Retry-After. */
type Step = number | 'cut' | 'certificate' | [status: number, retryAfter: string | undefined]

const fixedRandom = (fraction: number): Random => ({
  uuid: () => '',
  bytes: (count) => Buffer.alloc(count),
  fraction: () => fraction,
})

interface ScriptedRun {
  attemptCount: number
  events: RetryEvent[]
  clock: ManualClock
  policy: RetryPolicy
  /** Returns or throws the next step. The last step is repeated. */
  attempt: () => Promise<{ status: number; headers: HttpHeaders }>
}

function createRun(steps: Step[], policy: Partial<RetryPolicy> & { clock?: ManualClock } = {}): ScriptedRun {
  const clock = policy.clock ?? new ManualClock({ auto: true })
  const run: ScriptedRun = {
    attemptCount: 0,
    events: [],
    clock,
    policy: {
      random: fixedRandom(1),
      budgetMs: 120_000,
      retryAfter: ({ headers }) => {
        const value = headers['retry-after']
        return parseRetryAfter(typeof value === 'string' ? value : undefined)
      },
      onRetry: (event) => run.events.push(event),
      ...policy,
      clock,
    },
    attempt: async () => {
      const step = steps[Math.min(run.attemptCount, steps.length - 1)] ?? 200
      run.attemptCount += 1
      if (typeof step === 'string') {
        throw new TransportError(step, { sent: false, hint: 'x', permanent: step === 'certificate' })
      }
      const [status, retryAfter] = typeof step === 'number' ? [step, undefined] : step
      return { status, headers: { 'retry-after': retryAfter } }
    },
  }
  return run
}

test.each([200, 204, 301, 400, 401, 403, 404, 422, 499])(
  'a %i is returned after one attempt',
  async (status) => {
    const run = createRun([status])
    expect((await withRetries(run.attempt, run.policy)).status).toBe(status)
    expect(run).toMatchObject({ attemptCount: 1, events: [], clock: { sleeps: [] } })
  },
)

test.each([500, 501, 502, 503, 504, 599])('a %i is returned after 4 attempts', async (status) => {
  const run = createRun([status])
  expect((await withRetries(run.attempt, run.policy)).status).toBe(status)
  expect(run.attemptCount).toBe(4)
})

test('a connection error is thrown unchanged after 4 attempts', async () => {
  const run = createRun(['cut'])
  await expect(withRetries(run.attempt, run.policy)).rejects.toThrow(
    new TransportError('cut', { sent: false, hint: 'x' }),
  )
  expect(run.attemptCount).toBe(4)
})

test('a permanent failure is not repeated', async () => {
  const run = createRun(['certificate'])
  await expect(withRetries(run.attempt, run.policy)).rejects.toThrow('certificate')
  expect(run).toMatchObject({ attemptCount: 1, events: [] })
})

test('an error that is not of the transport is not repeated', async () => {
  const run = createRun([200])
  const fault = new RangeError('a fault of ours')
  await expect(withRetries(() => Promise.reject(fault), run.policy)).rejects.toBe(fault)
  expect(run.clock.sleeps).toEqual([])
})

test.each<[Step[]]>([[[500, 200]], [['cut', 200]], [[500, 'cut', 503, 200]]])(
  'the steps %j end with the answer 200',
  async (steps) => {
    const run = createRun(steps)
    expect((await withRetries(run.attempt, run.policy)).status).toBe(200)
    expect(run.attemptCount).toBe(steps.length)
  },
)

test('each wait is reported with its reason', async () => {
  const run = createRun([503, 'cut', 200])
  await withRetries(run.attempt, run.policy)
  expect(run.events).toEqual([
    { kind: 'retry', attempt: 2, of: 4, seconds: 0.5, reason: 'answer 503' },
    { kind: 'retry', attempt: 3, of: 4, seconds: 1, reason: 'cut' },
  ])
})

test.each([
  [0, [250, 500, 1_000]],
  [0.5, [375, 750, 1_500]],
  [1, [500, 1_000, 2_000]],
])('the backoff doubles, and half of it is random (%f)', async (fraction, sleeps) => {
  const run = createRun([500], { random: fixedRandom(fraction) })
  await withRetries(run.attempt, run.policy)
  expect(run.clock.sleeps).toEqual(sleeps)
})

test.each([
  [0, 1],
  [499, 1],
  [500, 2],
  [1_499, 2],
  [1_500, 3],
  [3_500, 4],
  [Number.POSITIVE_INFINITY, 4],
])('a budget of %f ms for all waits allows %i attempts', async (budgetMs, attemptCount) => {
  const run = createRun([500], { budgetMs })
  await withRetries(run.attempt, run.policy)
  expect(run.attemptCount).toBe(attemptCount)
})

test('the duration of the attempts counts against the budget', async () => {
  const clock = new ManualClock({ auto: true })
  const run = createRun([500], { clock, budgetMs: 10_000 })
  const attemptSlowly = async (): ReturnType<ScriptedRun['attempt']> => {
    await clock.advance(6_000)
    return run.attempt()
  }
  await withRetries(attemptSlowly, run.policy)
  expect(run.attemptCount).toBe(2)
})

test.each([
  ['1', 1, true],
  ['0', 1, true],
  ['59', 59, true],
  ['3660', 3_660, true],
  ['3661', 60, false],
  ['-5', 60, false],
  ['NaN', 60, false],
  ['1e9', 60, false],
  ['99999999999999999999', 60, false],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 60, false],
  ['', 60, false],
  [undefined, 60, false],
])('a 429 with Retry-After %j waits %i s', async (header, seconds, isStated) => {
  const run = createRun([[429, header], 200], { budgetMs: 3_660_000 })
  expect((await withRetries(run.attempt, run.policy)).status).toBe(200)
  expect(run.clock.sleeps).toEqual([seconds * 1_000])
  expect(run.events).toEqual([{ kind: 'throttled', seconds, isStated }])
})

test('a wait after a 429 does not count as a failed attempt', async () => {
  const run = createRun([[429, '1'], 500, [429, '2'], 500, [429, '3'], 500, 200])
  expect((await withRetries(run.attempt, run.policy)).status).toBe(200)
  expect(run.attemptCount).toBe(7)
})

test('a 429 whose wait exceeds the rest of the budget fails at once, and the error contains the wait', async () => {
  const run = createRun([[429, '40']], { budgetMs: 100_000 })
  await expect(withRetries(run.attempt, run.policy)).rejects.toMatchObject({
    code: 'throttled',
    status: 429,
    retryAfter: 40,
    message: 'the quota is used up for the next 40 s',
    hint: 'Run it again in 40 s, or wait automatically with a longer --timeout.',
  })
  expect(run.attemptCount).toBe(3)
})

test('a call is repeated after a 429 whose wait equals the budget', async () => {
  const run = createRun([[429, '40'], 200], { budgetMs: 40_000 })
  expect((await withRetries(run.attempt, run.policy)).status).toBe(200)
})

test('an aborted signal ends a wait at once with its reason', async () => {
  const clock = new ManualClock()
  const controller = new AbortController()
  const run = createRun([[429, '3600']], {
    clock,
    signal: controller.signal,
    budgetMs: Number.POSITIVE_INFINITY,
  })
  const result = withRetries(run.attempt, run.policy)
  await clock.waitUntilSleeping()
  const reason = new Error('stopped')
  controller.abort(reason)
  await expect(result).rejects.toBe(reason)
  expect(run.attemptCount).toBe(1)
})

test('for any answers, at most 4 attempts fail, and no wait is shorter than a quarter of a second', async () => {
  const step = fc.oneof(
    fc.constantFrom<Step>('cut', 500, 503, 200, 404),
    fc.tuple(fc.constant(429), fc.option(fc.string(), { nil: undefined })),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.integer({ min: 0, max: 600_000 }),
      async (steps, fraction, budgetMs) => {
        const run = createRun([...steps, 200], { random: fixedRandom(fraction), budgetMs })
        await withRetries(run.attempt, run.policy).catch((error: unknown) => error)
        const throttledCount = run.events.filter(({ kind }) => kind === 'throttled').length
        expect(run.attemptCount - throttledCount).toBeLessThanOrEqual(4)
        expect(run.clock.sleeps.every((ms) => ms >= 250)).toBe(true)
        expect(run.clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(budgetMs)
      },
    ),
  )
})
