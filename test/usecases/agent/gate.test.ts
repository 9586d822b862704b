import { expect, test } from 'vitest'

import { ConcurrencyLimit } from '../../../src/usecases/agent/concurrency-limit.ts'

const never = new AbortController().signal

test('four jobs run at a time, in their order, and a hundred wait; more are refused', async () => {
  const gate = new ConcurrencyLimit()
  const done: number[] = []
  let [running, most] = [0, 0]
  const job = (at: number) => async (): Promise<void> => {
    most = Math.max(most, (running += 1))
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    done.push(at)
  }
  const jobs = Array.from({ length: 110 }, async (_, at) => gate.through(never, job(at)))
  const ends = await Promise.allSettled(jobs)
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(6)
  expect([most, done.length, done.slice(0, 5)]).toEqual([4, 104, [0, 1, 2, 3, 4]])
  await expect(gate.through(never, async () => 'free')).resolves.toBe('free')
})

test('a job that fails lets the next one in, and one that is cancelled while it waits never runs', async () => {
  const gate = new ConcurrencyLimit()
  const held = Promise.withResolvers<void>()
  const first = Array.from({ length: 4 }, async () =>
    gate.through(never, async () => {
      await held.promise
      throw new Error('failed')
    }),
  )
  const cancelled = new AbortController()
  let ran = false
  const second = gate.through(cancelled.signal, async () => (ran = true))
  const third = gate.through(never, async () => 'ran')
  cancelled.abort()
  await expect(second).rejects.toThrow('abort')
  held.resolve()
  await Promise.allSettled(first)
  await expect(third).resolves.toBe('ran')
  expect(ran).toBe(false)
})
