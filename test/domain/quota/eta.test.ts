import { expect, test } from 'vitest'

import {
  claimCall,
  emptyBook,
  type QuotaBook,
  recordCalls,
  secondsForCreates,
  withThrottle,
} from '../../../src/domain/quota/book.ts'

const windows = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]
const start = Date.UTC(2026, 10, 21, 9, 30, 17)

/** Returns after how many seconds the last of the creates is allowed, by simulating all claims. */
function simulateSeconds(stored: QuotaBook, creates: number): number {
  let [book, at] = [stored, start]
  for (let done = 0; done < creates;) {
    const { state, waitMs } = claimCall(book, 'create', at)
    if (waitMs === 0) done += 1
    book = state
    at += waitMs
  }
  return (at - start) / 1000
}

test('calls that fit into the windows take only the time of the calls', () => {
  expect(secondsForCreates(emptyBook(windows), 0, start)).toBe(0)
  expect(secondsForCreates(emptyBook(windows), 60, start)).toBe(0)
  expect(secondsForCreates(emptyBook(windows), 60, start, 200)).toBeCloseTo(12)
})

test('29 creates wait until the minute that 60 earlier calls filled is over', () => {
  const book = recordCalls(emptyBook(windows), 60, start - 10_000)
  const estimated = secondsForCreates(book, 29, start)
  expect(estimated).toBeGreaterThan(50)
  expect(estimated).toBeLessThan(53)
  expect(estimated).toBe(simulateSeconds(book, 29))
})

test('the estimate includes the wait of a 429 and the spacing after it', () => {
  const book = withThrottle(emptyBook(windows), 40, start)
  expect(secondsForCreates(book, 1, start)).toBe(40)
  expect(secondsForCreates(book, 11, start)).toBe(50)
})

test('the estimate for more calls than an hour allows differs by less than 3 percent', () => {
  const book = recordCalls(emptyBook(windows), 300, start - 600_000)
  for (const creates of [500, 1000, 2500]) {
    const [estimatedSeconds, actualSeconds] = [
      secondsForCreates(book, creates, start),
      simulateSeconds(book, creates),
    ]
    expect(Math.abs(estimatedSeconds - actualSeconds) / actualSeconds).toBeLessThan(0.03)
  }
})

test.each([
  ['a minute, held a hundredth and a second longer', [{ calls: 10, seconds: 60 }], 25, 0, 123.2],
  ['an hour, held ten seconds longer', [{ calls: 10, seconds: 3600 }], 11, 0, 3646],
  [
    'the longest window, in any order of the windows',
    [
      { calls: 10, seconds: 3600 },
      { calls: 20, seconds: 60 },
    ],
    11,
    0,
    3646,
  ],
  ['calls that take longer than their windows', [{ calls: 10, seconds: 60 }], 25, 60_000, 1500],
])('several full windows: %s', (_what, all, creates, callMs, seconds) => {
  expect(secondsForCreates(emptyBook(all), creates, start, callMs)).toBeCloseTo(seconds)
})
