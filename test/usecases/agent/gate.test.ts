import { expect, test } from 'vitest'

import { ConcurrencyLimit } from '../../../src/usecases/agent/calls.ts'

const neverAborted = new AbortController().signal

test('four jobs run at a time in order, up to a hundred wait, and more are refused', async () => {
  const limit = new ConcurrencyLimit()
  const finished: number[] = []
  let [running, max] = [0, 0]
  const createJob = (at: number) => async (): Promise<void> => {
    max = Math.max(max, (running += 1))
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    finished.push(at)
  }
  const jobs = Array.from({ length: 110 }, async (_, at) => limit.run(neverAborted, createJob(at)))
  const ends = await Promise.allSettled(jobs)
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(6)
  expect([max, finished.length, finished.slice(0, 5)]).toEqual([4, 104, [0, 1, 2, 3, 4]])
  await expect(limit.run(neverAborted, async () => 'free')).resolves.toBe('free')
})

test('after a job that failed the next one runs, and a job that is cancelled while it waits never runs', async () => {
  const limit = new ConcurrencyLimit()
  const release = Promise.withResolvers<void>()
  const first = Array.from({ length: 4 }, async () =>
    limit.run(neverAborted, async () => {
      await release.promise
      throw new Error('failed')
    }),
  )
  const cancelled = new AbortController()
  let hasRun = false
  const second = limit.run(cancelled.signal, async () => (hasRun = true))
  const third = limit.run(neverAborted, async () => 'ran')
  cancelled.abort()
  await expect(second).rejects.toThrow('abort')
  release.resolve()
  await Promise.allSettled(first)
  await expect(third).resolves.toBe('ran')
  expect(hasRun).toBe(false)
})
