import { describe, expect, test } from 'vitest'

import {
  bookOf,
  claimCall,
  emptyBook,
  withThrottle,
  type QuotaBook,
  recordCalls,
  quotaStatus,
} from '../../../src/domain/quota/book.ts'

const minute = { calls: 60, seconds: 60 }
const hour = { calls: 1000, seconds: 3600 }
const windows = [minute, hour]
/** A time that is not the start of a minute. */
const start = Date.UTC(2026, 10, 21, 9, 30, 17)

/** Claims calls at one time until a wait is needed; returns the book, the number of calls and the wait. */
function claimUntilWait(
  book: QuotaBook,
  now: number,
  kind: 'create' | 'poll' = 'create',
): [QuotaBook, number, number] {
  for (let claimedCount = 0; ; claimedCount += 1) {
    const { state, waitMs } = claimCall(book, kind, now)
    if (waitMs > 0) return [state, claimedCount, waitMs]
    book = state
  }
}

describe('while the start of a window is unknown', () => {
  test('the calls of a minute may be made at once, and the next ones a minute later', () => {
    const [book, claimedCount, waitMs] = claimUntilWait(emptyBook(windows), start)
    expect(claimedCount).toBe(60)
    expect(waitMs).toBeGreaterThan(60_000)
    expect(waitMs).toBeLessThan(62_000)
    expect(claimUntilWait(book, start + waitMs - 1)[1]).toBe(0)
    expect(claimUntilWait(book, start + waitMs)[1]).toBe(60)
  })

  test('no period of a minute has more calls than the limit, wherever it starts', () => {
    let book = emptyBook(windows)
    const sent: number[] = []
    for (let now = start; now < start + 20 * 60_000; now += 137) {
      const { state, waitMs } = claimCall(book, 'create', now)
      book = state
      if (waitMs === 0) sent.push(now)
    }
    const highest = Math.max(
      ...sent.map((at) => sent.filter((other) => other >= at && other < at + 60_000).length),
    )
    expect(highest).toBe(60)
    expect(sent.length).toBeGreaterThanOrEqual(970)
  })

  test('an hour has exactly the number of calls of its limit', () => {
    let book = emptyBook(windows)
    let sent = 0
    for (let now = start; now < start + 3_600_000; now += 500) {
      const { state, waitMs } = claimCall(book, 'create', now)
      book = state
      if (waitMs === 0) sent += 1
    }
    expect(sent).toBe(1000)
  })
})

describe('the time of a 429 has precedence', () => {
  test('no call is made before the stated time, and from then on the window is empty', () => {
    const [full] = claimUntilWait(emptyBook(windows), start)
    const book = withThrottle(full, 12, start + 1000)
    const end = start + 13_000
    expect(claimCall(book, 'create', end - 1).waitMs).toBe(1)
    expect(quotaStatus(book, end - 1).windows[0]).toMatchObject({
      used: 60,
      left: 0,
      learnt: true,
      resetsAt: end,
    })
    expect(quotaStatus(book, end).windows[0]).toMatchObject({ used: 0, left: 60, learnt: false })
  })

  test('calls before the stated end no longer count in that window, and still count in the others', () => {
    const book = withThrottle(recordCalls(emptyBook(windows), 60, start), 12, start + 1000)
    expect(quotaStatus(book, start + 13_000).windows.map(({ used }) => used)).toEqual([0, 60])
  })

  test('for an hour after a 429 calls are spaced, so that a single call meets the next limit', () => {
    const end = start + 13_000
    const [after, claimedCount, waitMs] = claimUntilWait(
      withThrottle(emptyBook(windows), 12, start + 1000),
      end,
    )
    expect([claimedCount, waitMs]).toEqual([1, 1000])
    expect(claimUntilWait(after, end + 1000)[1]).toBe(1)
    expect(claimUntilWait(after, start + 3_602_000)[1]).toBe(60)
  })

  test('an assumed wait is waited, and does not set the end of a window', () => {
    const book = withThrottle(recordCalls(emptyBook(windows), 990, start - 600_000), 60, start, false)
    expect(claimCall(book, 'create', start).waitMs).toBe(60_000)
    expect(quotaStatus(book, start + 60_000).windows).toMatchObject([
      { used: 0, learnt: false },
      { used: 990, learnt: false },
    ])
  })

  test('a wait that ends at the known end of the hour is attributed to the hour', () => {
    const once = withThrottle(emptyBook(windows), 1800, start)
    const later = start + 1_800_000 + 3_600_000 - 20_000
    expect(quotaStatus(withThrottle(once, 20, later), later).windows[1]).toMatchObject({ learnt: true })
  })

  test('a wait of more than a minute is attributed to the hour', () => {
    const book = withThrottle(emptyBook(windows), 1800, start)
    expect(claimCall(book, 'create', start + 1).waitMs).toBe(1_799_999)
    expect(quotaStatus(book, start).windows.map(({ learnt, left }) => [learnt, left])).toEqual([
      [false, 60],
      [true, 0],
    ])
  })

  test('a short wait is attributed to the fuller window', () => {
    let book = emptyBook(windows)
    book = recordCalls(book, 990, start)
    expect(
      quotaStatus(withThrottle(book, 30, start + 3_570_000), start + 3_570_000).windows[1],
    ).toMatchObject({
      learnt: true,
    })
  })
})

describe('creates have precedence over reads', () => {
  test('repeated reads leave half of a window free while creates are made, and otherwise a few calls', () => {
    const creating = claimCall(emptyBook(windows), 'create', start).state
    expect(claimUntilWait(creating, start + 1, 'poll')[1]).toBe(29)
    expect(claimUntilWait(emptyBook(windows), start, 'poll')[1]).toBe(57)
  })

  test('repeated reads stay within 950 calls an hour, and continue at least every five minutes', () => {
    let book = emptyBook(windows)
    const readTimes: number[] = []
    for (let now = start; now < start + 4 * 3_600_000; now += 900) {
      const { state, waitMs } = claimCall(book, 'poll', now)
      book = state
      if (waitMs === 0) readTimes.push(now)
    }
    const countWithin = (ms: number): number[] =>
      readTimes.map((at, first) => readTimes.findIndex((other) => other >= at + ms) - first)
    expect(Math.max(...countWithin(3_600_000))).toBeLessThanOrEqual(950)
    expect(readTimes.length).toBeGreaterThan(3 * 750)
    // There is a read in each period of five minutes.
    expect(Math.max(...readTimes.map((at, one) => at - (readTimes[one - 1] ?? at)))).toBeLessThan(300_000)
  })

  test('a repeated read does not use the call that a create waits for', () => {
    const [book, , waitMs] = claimUntilWait(emptyBook(windows), start)
    expect(claimCall(book, 'poll', start + waitMs).waitMs).toBeGreaterThan(0)
    expect(claimCall(book, 'create', start + waitMs).waitMs).toBe(0)
  })

  test('calls that are recorded afterwards count, also above the limit', () => {
    const book = recordCalls(emptyBook(windows), 65, start)
    expect(claimCall(book, 'create', start).waitMs).toBeGreaterThan(60_000)
    expect(quotaStatus(book, start).windows[0]).toMatchObject({ used: 60, left: 0 })
  })
})

describe('a clock that jumps', () => {
  const day = 86_400_000

  test('back by a day: recorded calls still count, and no wait is longer than the hour’s window', () => {
    const [book] = claimUntilWait(emptyBook(windows), start)
    const { waitMs } = claimCall(book, 'create', start - day)
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThan(62_000)
    expect(claimCall(withThrottle(book, 3600, start), 'create', start - day).waitMs).toBeLessThanOrEqual(
      3_660_000,
    )
  })

  test('forward by a day: all windows are empty', () => {
    const [book] = claimUntilWait(emptyBook(windows), start)
    expect(claimUntilWait(book, start + day)[1]).toBe(60)
  })
})

test('a stored book with other windows is replaced by an empty one', () => {
  const [book] = claimUntilWait(emptyBook(windows), start)
  expect(bookOf(JSON.parse(JSON.stringify(book)), windows)).toEqual(JSON.parse(JSON.stringify(book)))
  expect(bookOf(book, [{ calls: 5, seconds: 1 }])).toEqual(emptyBook([{ calls: 5, seconds: 1 }]))
  expect(bookOf(undefined, windows)).toEqual(emptyBook(windows))
})

const listLearnt = (book: QuotaBook, now: number): boolean[] =>
  quotaStatus(book, now).windows.map((window) => window.learnt)

test('a difference in one number of one window is enough for an empty book', () => {
  const book = recordCalls(emptyBook(windows), 1, start)
  const longer = [minute, { calls: 1000, seconds: 7200 }]
  const more = [minute, { calls: 2000, seconds: 3600 }]
  for (const others of [longer, more]) expect(bookOf(book, others)).toEqual(emptyBook(others))
})

test('a window resets at the latest one window length after its last call', () => {
  const once = recordCalls(emptyBook([minute]), 3, 60_000)
  // A call counts from the end of its hundredth of the window (600 ms), for a minute and one second of transit.
  expect(quotaStatus(once, 60_000).windows[0]?.resetsAt).toBe(121_600)
  expect(quotaStatus(recordCalls(once, 2, 90_000), 90_000).windows[0]?.resetsAt).toBe(151_600)
  expect(quotaStatus(emptyBook([minute]), 90_000).windows[0]?.resetsAt).toBe(90_000)
})

test('for an hour after a 429 calls are spaced by the shortest window, with at most one second between them', () => {
  const findSpacing = (all: (typeof minute)[]): number => {
    const throttled = withThrottle(emptyBook(all), 1, start)
    return claimCall(recordCalls(throttled, 1, start + 5_000), 'create', start + 5_000).waitMs
  }
  expect(findSpacing([{ calls: 100, seconds: 1 }, hour])).toBe(10)
  expect(findSpacing([{ calls: 10, seconds: 60 }, hour])).toBe(1000)
  const throttled = withThrottle(emptyBook(windows), 1, start)
  const later = (ms: number): number =>
    claimCall(recordCalls(throttled, 1, start + ms), 'create', start + ms).waitMs
  expect([later(3_600_000), later(3_600_001)]).toEqual([1000, 0])
})

describe('the window to which a 429 is attributed', () => {
  /** The end of the minute is known; ten minutes later the hour is nearly half full and the minute is empty. */
  const throttled = recordCalls(withThrottle(emptyBook(windows), 7, start), 400, start + 60_000)
  const later = start + 600_000
  const attribute = (book: QuotaBook, end: number, now = later): boolean[] =>
    listLearnt(withThrottle(book, (end - now) / 1000, now), now)

  test('is the fuller one if the wait does not end at a known end', () => {
    expect(attribute(throttled, start + 630_000)).toEqual([false, true])
  })

  test.each([
    ['the same end a whole number of minutes later', 0],
    ['a second earlier', -1000],
    ['two seconds later', 2000],
  ])('is the minute for %s', (_what, offsetMs) => {
    expect(attribute(throttled, start + 607_000 + offsetMs)).toEqual([true, false])
  })

  test('is the fuller one if the wait ends three seconds from the known end', () => {
    expect(attribute(throttled, start + 610_000)).toEqual([false, true])
  })

  test('is a full window rather than one with a known end', () => {
    const ofHour = withThrottle(emptyBook(windows), 1800, start)
    const at = start + 1_800_000 + 3_600_000 - 20_000
    expect(listLearnt(withThrottle(recordCalls(ofHour, 60, at), 20, at), at)).toEqual([true, false])
  })

  test('is not a window that would end on the full hour if its end was never stated', () => {
    const ofMinute = withThrottle(emptyBook(windows), 7, start)
    const onTheHour = Date.UTC(2026, 10, 21, 10)
    const now = onTheHour - 30_000
    expect(listLearnt(withThrottle(recordCalls(ofMinute, 12, now), 30, now), now)).toEqual([true, false])
  })

  test('is a window that is one second shorter than the wait, but not one that is two seconds shorter', () => {
    const full = recordCalls(emptyBook(windows), 60, start)
    expect(listLearnt(withThrottle(full, 61, start), start)).toEqual([true, false])
    expect(listLearnt(withThrottle(full, 62, start), start)).toEqual([false, true])
  })

  test.each([
    ['minute first', windows],
    ['hour first', windows.toReversed()],
  ])('is the shorter one if both are equally full: %s', (_what, all) => {
    const { windows: statuses } = quotaStatus(withThrottle(emptyBook(all), 30, start), start)
    expect(statuses.filter((each) => each.learnt).map(({ seconds }) => seconds)).toEqual([60])
  })
})

describe('a clock that is set back, to the millisecond', () => {
  const day = 86_400_000

  test('a stated wait lasts as long from the new time', () => {
    const throttled = withThrottle(emptyBook(windows), 12, start)
    expect(claimCall(throttled, 'create', start - day).waitMs).toBe(12_000)
  })

  test('calls of several times are each counted once', () => {
    const book = recordCalls(recordCalls(emptyBook(windows), 5, start), 7, start + 1000)
    expect(quotaStatus(book, start - day).windows.map(({ used }) => used)).toEqual([12, 12])
  })
})
