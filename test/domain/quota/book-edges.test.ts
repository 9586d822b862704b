import { describe, expect, test } from 'vitest'

import {
  bookOf,
  claim,
  emptyBook,
  type QuotaBook,
  record,
  standing,
  withThrottle,
} from '../../../src/domain/quota/book.ts'

const minute = { calls: 60, seconds: 60 }
const hour = { calls: 1000, seconds: 3600 }
const windows = [minute, hour]
/** On no boundary of a minute. */
const start = Date.UTC(2026, 10, 21, 9, 30, 17)

const learnt = (book: QuotaBook, now: number): boolean[] =>
  standing(book, now).windows.map((window) => window.learnt)

test('a book is of other windows where one number of one of them differs', () => {
  const book = record(emptyBook(windows), 1, start)
  const longer = [minute, { calls: 1000, seconds: 7200 }]
  const more = [minute, { calls: 2000, seconds: 3600 }]
  for (const others of [longer, more]) expect(bookOf(book, others)).toEqual(emptyBook(others))
})

test('a window is free again when its last call is its length ago, at the latest', () => {
  const once = record(emptyBook([minute]), 3, 60_000)
  // Hundredths of 600 ms, a minute, and a second on the way.
  expect(standing(once, 60_000).windows[0]?.resetsAt).toBe(121_600)
  expect(standing(record(once, 2, 90_000), 90_000).windows[0]?.resetsAt).toBe(151_600)
  expect(standing(emptyBook([minute]), 90_000).windows[0]?.resetsAt).toBe(90_000)
})

test('calls are spaced as the shortest window allows, a second at most, until an hour after a 429', () => {
  const spacing = (all: (typeof minute)[]): number => {
    const told = withThrottle(emptyBook(all), 1, start)
    return claim(record(told, 1, start + 5_000), 'create', start + 5_000).waitMs
  }
  expect(spacing([{ calls: 100, seconds: 1 }, hour])).toBe(10)
  expect(spacing([{ calls: 10, seconds: 60 }, hour])).toBe(1000)
  const told = withThrottle(emptyBook(windows), 1, start)
  const later = (ms: number): number => claim(record(told, 1, start + ms), 'create', start + ms).waitMs
  expect([later(3_600_000), later(3_600_001)]).toEqual([1000, 0])
})

describe('which window a 429 is about', () => {
  /** The minute's end was told; long after it the hour is nearly half full, the minute empty. */
  const told = record(withThrottle(emptyBook(windows), 7, start), 400, start + 60_000)
  const later = start + 600_000
  const wait = (book: QuotaBook, end: number, now = later): boolean[] =>
    learnt(withThrottle(book, (end - now) / 1000, now), now)

  test('where no end was told, or another, the fuller one', () => {
    expect(wait(told, start + 630_000)).toEqual([false, true])
  })

  test.each([
    ['the same end a whole number of minutes later', 0],
    ['a second earlier', -1000],
    ['two seconds later', 2000],
  ])('%s is the minute', (_what, off) => {
    expect(wait(told, start + 607_000 + off)).toEqual([true, false])
  })

  test('three seconds off it is another end', () => {
    expect(wait(told, start + 610_000)).toEqual([false, true])
  })

  test('an end that was told weighs half a window: one that is full weighs more', () => {
    const ofHour = withThrottle(emptyBook(windows), 1800, start)
    const at = start + 1_800_000 + 3_600_000 - 20_000
    expect(learnt(withThrottle(record(ofHour, 60, at), 20, at), at)).toEqual([true, false])
  })

  test('a window whose end was never told has none on the clock either', () => {
    const ofMinute = withThrottle(emptyBook(windows), 7, start)
    const onTheHour = Date.UTC(2026, 10, 21, 10)
    const now = onTheHour - 30_000
    expect(learnt(withThrottle(record(ofMinute, 12, now), 30, now), now)).toEqual([true, false])
  })

  test('a second longer than a window may be that window, two are not', () => {
    const full = record(emptyBook(windows), 60, start)
    expect(learnt(withThrottle(full, 61, start), start)).toEqual([true, false])
    expect(learnt(withThrottle(full, 62, start), start)).toEqual([false, true])
  })

  test.each([
    ['minute first', windows],
    ['hour first', windows.toReversed()],
  ])('where both are alike, the shorter: %s', (_what, all) => {
    const { windows: stand } = standing(withThrottle(emptyBook(all), 30, start), start)
    expect(stand.filter((each) => each.learnt).map(({ seconds }) => seconds)).toEqual([60])
  })
})

describe('a clock that is set back', () => {
  const day = 86_400_000

  test('a wait that was told is waited from there, no longer', () => {
    const told = withThrottle(emptyBook(windows), 12, start)
    expect(claim(told, 'create', start - day).waitMs).toBe(12_000)
  })

  test('calls of several moments all count, each once', () => {
    const book = record(record(emptyBook(windows), 5, start), 7, start + 1000)
    expect(standing(book, start - day).windows.map(({ used }) => used)).toEqual([12, 12])
  })
})
