import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { parseRetryAfter } from '../../src/contract/headers.ts'
import type { Random } from '../../src/host/random.ts'
import { TransportError } from '../../src/http/failure.ts'
import { type RetryEvent, type RetryPolicy, withRetries } from '../../src/http/retry.ts'
import type { HttpHeaders } from '../../src/http/types.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('retry-after', 'hot loops')

/** "A GET is tried at most 4 times"; "429 waits Retry-After … within --timeout, else exit 6" (src/docs/cli.md). */

type Step = number | 'cut' | 'certificate' | [status: number, retryAfter: string | undefined]

const rng = (fraction: number): Random => ({
  uuid: () => '',
  bytes: (count) => Buffer.alloc(count),
  fraction: () => fraction,
})

interface Run {
  tries: number
  events: RetryEvent[]
  clock: ManualClock
  policy: RetryPolicy
  /** Each step in turn, the last one for ever. */
  attempt: () => Promise<{ status: number; headers: HttpHeaders }>
}

function script(steps: Step[], policy: Partial<RetryPolicy> & { clock?: ManualClock } = {}): Run {
  const clock = policy.clock ?? new ManualClock({ auto: true })
  const run: Run = {
    tries: 0,
    events: [],
    clock,
    policy: {
      random: rng(1),
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
      const step = steps[Math.min(run.tries, steps.length - 1)] ?? 200
      run.tries += 1
      if (typeof step === 'string') {
        throw new TransportError(step, { sent: false, hint: 'x', permanent: step === 'certificate' })
      }
      const [status, retryAfter] = typeof step === 'number' ? [step, undefined] : step
      return { status, headers: { 'retry-after': retryAfter } }
    },
  }
  return run
}

test.each([200, 204, 301, 400, 401, 403, 404, 422, 499])('a %i is the answer: one try', async (status) => {
  const run = script([status])
  expect((await withRetries(run.attempt, run.policy)).status).toBe(status)
  expect(run).toMatchObject({ tries: 1, events: [], clock: { sleeps: [] } })
})

test.each([500, 501, 502, 503, 504, 599])('a %i is tried 4 times and then returned', async (status) => {
  const run = script([status])
  expect((await withRetries(run.attempt, run.policy)).status).toBe(status)
  expect(run.tries).toBe(4)
})

test('a connection error is tried 4 times and then thrown as it came', async () => {
  const run = script(['cut'])
  await expect(withRetries(run.attempt, run.policy)).rejects.toThrow(
    new TransportError('cut', { sent: false, hint: 'x' }),
  )
  expect(run.tries).toBe(4)
})

test('a failure that would end the same again is not repeated', async () => {
  const run = script(['certificate'])
  await expect(withRetries(run.attempt, run.policy)).rejects.toThrow('certificate')
  expect(run).toMatchObject({ tries: 1, events: [] })
})

test('an error that is not of the transport is not repeated', async () => {
  const run = script([200])
  const fault = new RangeError('a fault of ours')
  await expect(withRetries(() => Promise.reject(fault), run.policy)).rejects.toBe(fault)
  expect(run.clock.sleeps).toEqual([])
})

test.each<[Step[]]>([[[500, 200]], [['cut', 200]], [[500, 'cut', 503, 200]]])(
  '%j ends well',
  async (steps) => {
    const run = script(steps)
    expect((await withRetries(run.attempt, run.policy)).status).toBe(200)
    expect(run.tries).toBe(steps.length)
  },
)

test('each wait is reported with what went wrong', async () => {
  const run = script([503, 'cut', 200])
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
])('the backoff doubles, half of it is random (%f)', async (fraction, sleeps) => {
  const run = script([500], { random: rng(fraction) })
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
])('a budget of %f ms for all waits allows %i tries', async (budgetMs, tries) => {
  const run = script([500], { budgetMs })
  await withRetries(run.attempt, run.policy)
  expect(run.tries).toBe(tries)
})

test('the time the tries take themselves counts against the budget', async () => {
  const clock = new ManualClock({ auto: true })
  const run = script([500], { clock, budgetMs: 10_000 })
  const slow = async (): ReturnType<Run['attempt']> => {
    await clock.advance(6_000)
    return run.attempt()
  }
  await withRetries(slow, run.policy)
  expect(run.tries).toBe(2)
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
])('a 429 with Retry-After %j waits %i s', async (header, seconds, understood) => {
  const run = script([[429, header], 200], { budgetMs: 3_660_000 })
  expect((await withRetries(run.attempt, run.policy)).status).toBe(200)
  expect(run.clock.sleeps).toEqual([seconds * 1_000])
  expect(run.events).toEqual([{ kind: 'throttled', seconds, understood }])
})

test('waiting out a 429 is no try: nothing failed', async () => {
  const run = script([[429, '1'], 500, [429, '2'], 500, [429, '3'], 500, 200])
  expect((await withRetries(run.attempt, run.policy)).status).toBe(200)
  expect(run.tries).toBe(7)
})

test('a 429 longer than what is left of the budget fails at once, and says how long', async () => {
  const run = script([[429, '40']], { budgetMs: 100_000 })
  await expect(withRetries(run.attempt, run.policy)).rejects.toMatchObject({
    code: 'throttled',
    status: 429,
    retryAfter: 40,
    message: 'the quota is used up for the next 40 s',
    hint: 'Run it again in 40 s, or wait automatically with a longer --timeout.',
  })
  expect(run.tries).toBe(3)
})

test('a 429 that the budget just allows is waited for', async () => {
  const run = script([[429, '40'], 200], { budgetMs: 40_000 })
  expect((await withRetries(run.attempt, run.policy)).status).toBe(200)
})

test('giving up ends a wait at once, with its reason', async () => {
  const clock = new ManualClock()
  const stop = new AbortController()
  const run = script([[429, '3600']], { clock, signal: stop.signal, budgetMs: Number.POSITIVE_INFINITY })
  const work = withRetries(run.attempt, run.policy)
  await clock.waitUntilSleeping()
  const reason = new Error('stopped')
  stop.abort(reason)
  await expect(work).rejects.toBe(reason)
  expect(run.tries).toBe(1)
})

test('no answers whatever make more than 4 tries that failed, or a wait under a quarter of a second', async () => {
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
        const run = script([...steps, 200], { random: rng(fraction), budgetMs })
        await withRetries(run.attempt, run.policy).catch((error: unknown) => error)
        const waits = run.events.filter(({ kind }) => kind === 'throttled').length
        expect(run.tries - waits).toBeLessThanOrEqual(4)
        expect(run.clock.sleeps.every((ms) => ms >= 250)).toBe(true)
        expect(run.clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(budgetMs)
      },
    ),
  )
})
