import { expect, test } from 'vitest'

import { ManualClock } from '../../../src/sandbox/control/manual-clock.ts'
import { Scheduler } from '../../../src/sandbox/service/scheduler.ts'

test('the manual clock does not move until it is advanced', async () => {
  const clock = new ManualClock(1000)
  expect([clock.now(), clock.monotonic()]).toEqual([1000, 1000])
  await clock.advance(500)
  expect([clock.now(), clock.monotonic()]).toEqual([1500, 1500])
})

test('advance ends sleeps in the order of their due times, and each sleeper then reads its due time from the clock', async () => {
  const clock = new ManualClock(0)
  const endedSleeps: [string, number][] = []
  const sleep = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms)
    endedSleeps.push([name, clock.now()])
  }
  const sleeps = [sleep('late', 30), sleep('early', 10), sleep('early too', 10), sleep('not yet', 31)]
  await clock.advance(30)
  expect(endedSleeps).toEqual([
    ['early', 10],
    ['early too', 10],
    ['late', 30],
  ])
  await clock.advance(1)
  await Promise.all(sleeps)
})

test('a sleep that begins during an advance can end in the same advance', async () => {
  const clock = new ManualClock(0)
  let beatCount = 0
  const countBeats = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(10)
      beatCount += 1
    }
  }
  void countBeats()
  await clock.advance(1000)
  expect(beatCount).toBe(100)
})

test('a sleep rejects when its signal is aborted', async () => {
  const clock = new ManualClock(0)
  const controller = new AbortController()
  const sleepResult = clock.sleep(10, controller.signal)
  controller.abort()
  await expect(sleepResult).rejects.toThrow('aborted')
  await expect(clock.sleep(10, controller.signal)).rejects.toThrow('aborted')
})

test('concurrent advances are made one after the other', async () => {
  const clock = new ManualClock(0)
  await Promise.all([clock.advance(10), clock.advance(20)])
  expect(clock.now()).toBe(30)
})

test('advance waits for the work given to waitFor before it moves the clock further', async () => {
  const clock = new ManualClock(0)
  const workTimes: number[] = []
  const recordWorkTime = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    workTimes.push(clock.now())
  }
  const sleepThenWork = async (): Promise<void> => {
    await clock.sleep(10)
    clock.waitFor(recordWorkTime())
  }
  void sleepThenWork()
  await clock.advance(100)
  expect(workTimes).toEqual([10])
})

test('a scheduler runs each job when it is due, and jobs of the same time in the order in which they were added', async () => {
  const clock = new ManualClock(0)
  const errors: unknown[] = []
  const scheduler = new Scheduler(clock, (error) => errors.push(error))
  const finishedJobs: string[] = []
  const createJob = (name: string) => () => void finishedJobs.push(`${name}@${clock.now()}`)
  for (const time of [50, 10, 40, 20, 30, 60]) scheduler.add(time, createJob(String(time)))
  scheduler.add(20, createJob('20 too'))
  scheduler.add(20, () => scheduler.add(25, createJob('added')))
  scheduler.add(30, () => {
    throw new RangeError('no good')
  })
  await clock.advance(50)
  expect(finishedJobs).toEqual(['10@10', '20@20', '20 too@20', 'added@25', '30@30', '40@40', '50@50'])
  expect(errors).toEqual([new RangeError('no good')])
  scheduler.close()
  await clock.advance(50)
  expect(finishedJobs).toHaveLength(7)
})
