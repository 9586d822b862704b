import { describe, expect, test } from 'vitest'

import { waitForRequests } from '../../../src/usecases/request/wait.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { countMaxWithin, simulateWait } from './waiting.ts'

const minute = 60_000
/** Hours of a virtual clock, on a machine that is busy with other tests. */
const slowTestMs = 2 * minute
const hour = 3_600_000

describe('one request', () => {
  test('is read at most two minutes after each change', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const { lateness, failure } = await simulateWait({
        seed,
        requests: 1,
        spanMs: 2 * hour,
        receiver: 'none',
      })
      expect(failure).toBeUndefined()
      expect(Math.max(...lateness), `seed ${seed}`).toBeLessThan(2 * minute + 2000)
    }
  })

  test('is read fewer than a thousand times on a day without changes', async () => {
    const statuses = ['RECEIVED', 'COMPLETED']
    const { reads } = await simulateWait({
      seed: 7,
      requests: 1,
      spanMs: 24 * hour,
      receiver: 'none',
      statuses,
    })
    expect(reads.length).toBeLessThan(1000)
  })

  test.each(['CANCELLED', 'ERROR'])('ends the wait with the first read that shows %s', async (end) => {
    const statuses = ['RECEIVED', 'IN_PROGRESS', end]
    const { failure, lateness, durationMs } = await simulateWait({
      seed: 3,
      requests: 1,
      spanMs: hour,
      receiver: 'none',
      goal: 'completed',
      statuses,
    })
    expect(failure).toBe('incomplete')
    expect(durationMs).toBeLessThan(hour + Math.max(...lateness) + 1000)
  })
})

describe('500 requests at once', () => {
  test('stay within the quota, and a finished request is not read again', async () => {
    const { reads, readsAfterFinalStatus, failure } = await simulateWait({
      seed: 11,
      requests: 500,
      spanMs: 3 * hour,
      receiver: 'none',
    })
    expect({ readsAfterFinalStatus, failure }).toEqual({ readsAfterFinalStatus: 0, failure: undefined })
    expect(countMaxWithin(reads, minute)).toBeLessThanOrEqual(57)
    expect(countMaxWithin(reads, hour)).toBeLessThanOrEqual(950)
  })

  test('end with --timeout even if most were not read yet', async () => {
    const { reads, failure, durationMs } = await simulateWait({
      seed: 13,
      requests: 500,
      spanMs: 12 * hour,
      receiver: 'none',
      timeoutMs: 90_000,
    })
    expect(failure).toBe('timed_out')
    expect(durationMs).toBeLessThanOrEqual(90_500)
    expect(reads.length).toBeLessThanOrEqual(114)
  })
})

describe('with a receiver', () => {
  test('few requests are read rarely, and a change is read at once', { timeout: slowTestMs }, async () => {
    const { reads, lateness } = await simulateWait({
      seed: 5,
      requests: 10,
      spanMs: 6 * hour,
      receiver: 'runs',
    })
    const withoutReceiver = await simulateWait({ seed: 5, requests: 10, spanMs: 6 * hour, receiver: 'none' })
    expect(reads.length).toBeLessThan(withoutReceiver.reads.length / 2)
    expect(lateness.sort((a, b) => a - b)[lateness.length >> 1]).toBeLessThan(3000)
  })

  test('that has died, the next change is found by a safety read, and regular reads continue', async () => {
    const { lateness, failure } = await simulateWait({
      seed: 6,
      requests: 10,
      spanMs: 6 * hour,
      receiver: 'dies',
    })
    expect(failure).toBeUndefined()
    expect(Math.max(...lateness)).toBeLessThan(6 * minute)
  })
})

test('an event that the store announces is read at once; any other at the next poll', async () => {
  const clock = new ManualClock()
  const events: { id: number; requestId: string; status: string }[] = []
  let announce: ((what: 'event') => void) | undefined
  let status = 'RECEIVED'
  let reads = 0
  const waitEnd = waitForRequests(
    {
      baseUrl: 'https://api.example.com',
      getRequest: async (request_id) => ((reads += 1), { request_id, status, checks: [] }) as never,
    },
    ['a'],
    {
      goal: 'terminal',
      timeoutMs: Number.POSITIVE_INFINITY,
      clock,
      inbox: {
        findLatestStatus: async () => undefined,
        async *list({ after = 0 } = {}) {
          for (const event of events) if (event.id > after) yield { ...event, oddity: undefined } as never
        },
        onArrival: async (wake) => {
          announce = wake
        },
      },
    },
  )
  await clock.waitUntilSleeping()
  status = 'PARTIAL'
  events.push({ id: 1, requestId: 'a', status })
  announce?.('event')
  await clock.waitUntilSleeping()
  expect([reads, clock.monotonic()]).toEqual([2, 0])
  status = 'COMPLETED'
  events.push({ id: 2, requestId: 'a', status })
  await clock.advance(1_000)
  expect((await waitEnd).requests).toMatchObject([{ status: 'COMPLETED' }])
  expect([reads, clock.monotonic()]).toEqual([3, 1_000])
})
