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
/** On no boundary of a minute. */
const start = Date.UTC(2026, 10, 21, 9, 30, 17)

/** Takes places at one moment until there is none; how many there were, and the wait. */
function fill(book: QuotaBook, now: number, kind: 'create' | 'poll' = 'create'): [QuotaBook, number, number] {
  for (let taken = 0; ; taken += 1) {
    const { state, waitMs } = claimCall(book, kind, now)
    if (waitMs > 0) return [state, taken, waitMs]
    book = state
  }
}

describe('while it is not known when a window starts', () => {
  test('a minute’s calls may go at once, and the next ones a minute after them', () => {
    const [book, taken, waitMs] = fill(emptyBook(windows), start)
    expect(taken).toBe(60)
    expect(waitMs).toBeGreaterThan(60_000)
    expect(waitMs).toBeLessThan(62_000)
    expect(fill(book, start + waitMs - 1)[1]).toBe(0)
    expect(fill(book, start + waitMs)[1]).toBe(60)
  })

  test('no stretch of a minute holds more than a minute’s calls, wherever a window may start', () => {
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

  test('an hour’s calls are the hour’s limit', () => {
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

describe('what a 429 says wins', () => {
  test('no call is made before the time it names, and then a whole window is open', () => {
    const [full] = fill(emptyBook(windows), start)
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

  test('what went before the end counts no more in that window, and still does in the others', () => {
    const book = withThrottle(recordCalls(emptyBook(windows), 60, start), 12, start + 1000)
    expect(quotaStatus(book, start + 13_000).windows.map(({ used }) => used)).toEqual([0, 60])
  })

  test('calls go one by one for an hour after it, so that one of them finds out the next time', () => {
    const end = start + 13_000
    const [after, taken, waitMs] = fill(withThrottle(emptyBook(windows), 12, start + 1000), end)
    expect([taken, waitMs]).toEqual([1, 1000])
    expect(fill(after, end + 1000)[1]).toBe(1)
    expect(fill(after, start + 3_602_000)[1]).toBe(60)
  })

  test('a wait that was assumed is waited, and teaches nothing', () => {
    const book = withThrottle(recordCalls(emptyBook(windows), 990, start - 600_000), 60, start, false)
    expect(claimCall(book, 'create', start).waitMs).toBe(60_000)
    expect(quotaStatus(book, start + 60_000).windows).toMatchObject([
      { used: 0, learnt: false },
      { used: 990, learnt: false },
    ])
  })

  test('a wait that ends where the hour was stated to end is about the hour', () => {
    const once = withThrottle(emptyBook(windows), 1800, start)
    const later = start + 1_800_000 + 3_600_000 - 20_000
    expect(quotaStatus(withThrottle(once, 20, later), later).windows[1]).toMatchObject({ learnt: true })
  })

  test('a long wait is about the hour', () => {
    const book = withThrottle(emptyBook(windows), 1800, start)
    expect(claimCall(book, 'create', start + 1).waitMs).toBe(1_799_999)
    expect(quotaStatus(book, start).windows.map(({ learnt, left }) => [learnt, left])).toEqual([
      [false, 60],
      [true, 0],
    ])
  })

  test('a short wait is about the window that is fuller', () => {
    let book = emptyBook(windows)
    book = recordCalls(book, 990, start)
    expect(
      quotaStatus(withThrottle(book, 30, start + 3_570_000), start + 3_570_000).windows[1],
    ).toMatchObject({
      learnt: true,
    })
  })
})

describe('creates go first', () => {
  test('a loop of reads keeps half of a window free while creates are made, and a few places always', () => {
    const creating = claimCall(emptyBook(windows), 'create', start).state
    expect(fill(creating, start + 1, 'poll')[1]).toBe(29)
    expect(fill(emptyBook(windows), start, 'poll')[1]).toBe(57)
  })

  test('loops of reads use three quarters of an hour’s calls at most, and a fifth of them at once', () => {
    let book = emptyBook(windows)
    const read: number[] = []
    for (let now = start; now < start + 4 * 3_600_000; now += 900) {
      const { state, waitMs } = claimCall(book, 'poll', now)
      book = state
      if (waitMs === 0) read.push(now)
    }
    const within = (ms: number): number[] =>
      read.map((at, first) => read.findIndex((other) => other >= at + ms) - first)
    expect(Math.max(...within(3_600_000))).toBeLessThanOrEqual(950)
    expect(read.length).toBeGreaterThan(3 * 750)
    // No stretch of five minutes without a read.
    expect(Math.max(...read.map((at, one) => at - (read[one - 1] ?? at)))).toBeLessThan(300_000)
  })

  test('a read of a loop does not take the place that a create waits for', () => {
    const [book, , waitMs] = fill(emptyBook(windows), start)
    expect(claimCall(book, 'poll', start + waitMs).waitMs).toBeGreaterThan(0)
    expect(claimCall(book, 'create', start + waitMs).waitMs).toBe(0)
  })

  test('reads counted after the fact take places, beyond the limit too', () => {
    const book = recordCalls(emptyBook(windows), 65, start)
    expect(claimCall(book, 'create', start).waitMs).toBeGreaterThan(60_000)
    expect(quotaStatus(book, start).windows[0]).toMatchObject({ used: 60, left: 0 })
  })
})

describe('a clock that jumps', () => {
  const day = 86_400_000

  test('back by a day: what was counted still counts, and no wait is longer than an hour’s window', () => {
    const [book] = fill(emptyBook(windows), start)
    const { waitMs } = claimCall(book, 'create', start - day)
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThan(62_000)
    expect(claimCall(withThrottle(book, 3600, start), 'create', start - day).waitMs).toBeLessThanOrEqual(
      3_660_000,
    )
  })

  test('forward by a day: windows are over', () => {
    const [book] = fill(emptyBook(windows), start)
    expect(fill(book, start + day)[1]).toBe(60)
  })
})

test('a book of other windows is begun again', () => {
  const [book] = fill(emptyBook(windows), start)
  expect(bookOf(JSON.parse(JSON.stringify(book)), windows)).toEqual(JSON.parse(JSON.stringify(book)))
  expect(bookOf(book, [{ calls: 5, seconds: 1 }])).toEqual(emptyBook([{ calls: 5, seconds: 1 }]))
  expect(bookOf(undefined, windows)).toEqual(emptyBook(windows))
})

const learnt = (book: QuotaBook, now: number): boolean[] =>
  quotaStatus(book, now).windows.map((window) => window.learnt)

test('a book is of other windows where one number of one of them differs', () => {
  const book = recordCalls(emptyBook(windows), 1, start)
  const longer = [minute, { calls: 1000, seconds: 7200 }]
  const more = [minute, { calls: 2000, seconds: 3600 }]
  for (const others of [longer, more]) expect(bookOf(book, others)).toEqual(emptyBook(others))
})

test('a window is free again when its last call is its length ago, at the latest', () => {
  const once = recordCalls(emptyBook([minute]), 3, 60_000)
  // Hundredths of 600 ms, a minute, and a second on the way.
  expect(quotaStatus(once, 60_000).windows[0]?.resetsAt).toBe(121_600)
  expect(quotaStatus(recordCalls(once, 2, 90_000), 90_000).windows[0]?.resetsAt).toBe(151_600)
  expect(quotaStatus(emptyBook([minute]), 90_000).windows[0]?.resetsAt).toBe(90_000)
})

test('calls are spaced as the shortest window allows, a second at most, until an hour after a 429', () => {
  const spacing = (all: (typeof minute)[]): number => {
    const throttled = withThrottle(emptyBook(all), 1, start)
    return claimCall(recordCalls(throttled, 1, start + 5_000), 'create', start + 5_000).waitMs
  }
  expect(spacing([{ calls: 100, seconds: 1 }, hour])).toBe(10)
  expect(spacing([{ calls: 10, seconds: 60 }, hour])).toBe(1000)
  const throttled = withThrottle(emptyBook(windows), 1, start)
  const later = (ms: number): number =>
    claimCall(recordCalls(throttled, 1, start + ms), 'create', start + ms).waitMs
  expect([later(3_600_000), later(3_600_001)]).toEqual([1000, 0])
})

describe('which window a 429 is about', () => {
  /** The minute's end was stated; long after it the hour is nearly half full, the minute empty. */
  const throttled = recordCalls(withThrottle(emptyBook(windows), 7, start), 400, start + 60_000)
  const later = start + 600_000
  const wait = (book: QuotaBook, end: number, now = later): boolean[] =>
    learnt(withThrottle(book, (end - now) / 1000, now), now)

  test('where no end was stated, or another, the fuller one', () => {
    expect(wait(throttled, start + 630_000)).toEqual([false, true])
  })

  test.each([
    ['the same end a whole number of minutes later', 0],
    ['a second earlier', -1000],
    ['two seconds later', 2000],
  ])('%s is the minute', (_what, off) => {
    expect(wait(throttled, start + 607_000 + off)).toEqual([true, false])
  })

  test('three seconds off it is another end', () => {
    expect(wait(throttled, start + 610_000)).toEqual([false, true])
  })

  test('an end that was stated weighs half a window: one that is full weighs more', () => {
    const ofHour = withThrottle(emptyBook(windows), 1800, start)
    const at = start + 1_800_000 + 3_600_000 - 20_000
    expect(learnt(withThrottle(recordCalls(ofHour, 60, at), 20, at), at)).toEqual([true, false])
  })

  test('a window whose end was never stated has none on the clock either', () => {
    const ofMinute = withThrottle(emptyBook(windows), 7, start)
    const onTheHour = Date.UTC(2026, 10, 21, 10)
    const now = onTheHour - 30_000
    expect(learnt(withThrottle(recordCalls(ofMinute, 12, now), 30, now), now)).toEqual([true, false])
  })

  test('a second longer than a window may be that window, two are not', () => {
    const full = recordCalls(emptyBook(windows), 60, start)
    expect(learnt(withThrottle(full, 61, start), start)).toEqual([true, false])
    expect(learnt(withThrottle(full, 62, start), start)).toEqual([false, true])
  })

  test.each([
    ['minute first', windows],
    ['hour first', windows.toReversed()],
  ])('where both are alike, the shorter: %s', (_what, all) => {
    const { windows: stand } = quotaStatus(withThrottle(emptyBook(all), 30, start), start)
    expect(stand.filter((each) => each.learnt).map(({ seconds }) => seconds)).toEqual([60])
  })
})

describe('a clock that is set back, to the millisecond', () => {
  const day = 86_400_000

  test('a wait that was stated is waited from there, no longer', () => {
    const throttled = withThrottle(emptyBook(windows), 12, start)
    expect(claimCall(throttled, 'create', start - day).waitMs).toBe(12_000)
  })

  test('calls of several moments all count, each once', () => {
    const book = recordCalls(recordCalls(emptyBook(windows), 5, start), 7, start + 1000)
    expect(quotaStatus(book, start - day).windows.map(({ used }) => used)).toEqual([12, 12])
  })
})
