import { expect, test } from 'vitest'

import { ManualClock } from '../../../src/sandbox/control/manual-clock.ts'
import { Scheduler } from '../../../src/sandbox/service/scheduler.ts'

test('stands still until it is advanced', async () => {
  const clock = new ManualClock(1000)
  expect([clock.now(), clock.monotonic()]).toEqual([1000, 1000])
  await clock.advance(500)
  expect([clock.now(), clock.monotonic()]).toEqual([1500, 1500])
})

test('wakes those who sleep in order, each at its own moment', async () => {
  const clock = new ManualClock(0)
  const woken: [string, number][] = []
  const sleep = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms)
    woken.push([name, clock.now()])
  }
  const sleeping = [sleep('late', 30), sleep('early', 10), sleep('early too', 10), sleep('not yet', 31)]
  await clock.advance(30)
  expect(woken).toEqual([
    ['early', 10],
    ['early too', 10],
    ['late', 30],
  ])
  await clock.advance(1)
  await Promise.all(sleeping)
})

test('what sleeps again while time moves is woken in the same advance', async () => {
  const clock = new ManualClock(0)
  let beats = 0
  const beat = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(10)
      beats += 1
    }
  }
  void beat()
  await clock.advance(1000)
  expect(beats).toBe(100)
})

test('a sleep ends with its signal', async () => {
  const clock = new ManualClock(0)
  const stop = new AbortController()
  const sleeping = clock.sleep(10, stop.signal)
  stop.abort()
  await expect(sleeping).rejects.toThrow('aborted')
  await expect(clock.sleep(10, stop.signal)).rejects.toThrow('aborted')
})

test('advances asked for together happen one after the other', async () => {
  const clock = new ManualClock(0)
  await Promise.all([clock.advance(10), clock.advance(20)])
  expect(clock.now()).toBe(30)
})

test('waits for work that was begun before it moves on', async () => {
  const clock = new ManualClock(0)
  const seen: number[] = []
  const work = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    seen.push(clock.now())
  }
  const begin = async (): Promise<void> => {
    await clock.sleep(10)
    clock.waitFor(work())
  }
  void begin()
  await clock.advance(100)
  expect(seen).toEqual([10])
})

test('a timetable runs its jobs when due, those of one moment in the order given', async () => {
  const clock = new ManualClock(0)
  const failed: unknown[] = []
  const timetable = new Scheduler(clock, (error) => failed.push(error))
  const done: string[] = []
  const job = (name: string) => () => void done.push(`${name}@${clock.now()}`)
  for (const at of [50, 10, 40, 20, 30, 60]) timetable.add(at, job(String(at)))
  timetable.add(20, job('20 too'))
  timetable.add(20, () => timetable.add(25, job('added')))
  timetable.add(30, () => {
    throw new RangeError('no good')
  })
  await clock.advance(50)
  expect(done).toEqual(['10@10', '20@20', '20 too@20', 'added@25', '30@30', '40@40', '50@50'])
  expect(failed).toEqual([new RangeError('no good')])
  timetable.close()
  await clock.advance(50)
  expect(done).toHaveLength(7)
})
