import { describe, expect, test } from 'vitest'

import {
  bookOf,
  claim,
  emptyBook,
  learn,
  type QuotaBook,
  record,
  standing,
} from '../../../src/domain/quota/book.ts'

const windows = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]
const start = Date.UTC(2026, 10, 21, 9, 30, 17)

/** Takes places at one moment until there is none; how many there were, and the wait. */
function fill(book: QuotaBook, now: number, kind: 'create' | 'poll' = 'create'): [QuotaBook, number, number] {
  for (let taken = 0; ; taken += 1) {
    const { state, waitMs } = claim(book, kind, now)
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
      const { state, waitMs } = claim(book, 'create', now)
      book = state
      if (waitMs === 0) sent.push(now)
    }
    const most = Math.max(
      ...sent.map((at) => sent.filter((other) => other >= at && other < at + 60_000).length),
    )
    expect(most).toBe(60)
    expect(sent.length).toBeGreaterThanOrEqual(970)
  })

  test('an hour’s calls are the hour’s limit', () => {
    let book = emptyBook(windows)
    let sent = 0
    for (let now = start; now < start + 3_600_000; now += 500) {
      const { state, waitMs } = claim(book, 'create', now)
      book = state
      if (waitMs === 0) sent += 1
    }
    expect(sent).toBe(1000)
  })
})

describe('what a 429 says wins', () => {
  test('nothing goes before the time it names, and then a whole window is open', () => {
    const [full] = fill(emptyBook(windows), start)
    const book = learn(full, 12, start + 1000)
    const end = start + 13_000
    expect(claim(book, 'create', end - 1).waitMs).toBe(1)
    const [after, taken] = fill(book, end)
    expect(taken).toBe(60)
    expect(fill(after, end + 59_000)[1]).toBe(0)
    expect(fill(after, end + 60_000)[1]).toBe(60)
    expect(standing(after, end).windows[0]).toMatchObject({
      used: 60,
      left: 0,
      learnt: true,
      resetsAt: end + 60_000,
    })
  })

  test('a long wait is about the hour', () => {
    const book = learn(emptyBook(windows), 1800, start)
    expect(claim(book, 'create', start + 1).waitMs).toBe(1_799_999)
    expect(standing(book, start).windows.map(({ learnt, left }) => [learnt, left])).toEqual([
      [false, 60],
      [true, 0],
    ])
  })

  test('a short wait is about the window that is fuller', () => {
    let book = emptyBook(windows)
    book = record(book, 990, start)
    expect(standing(learn(book, 30, start + 3_570_000), start + 3_570_000).windows[1]).toMatchObject({
      learnt: true,
    })
  })

  test('after a pause at the boundary the cautious rule is back: the next window may start later', () => {
    const book = learn(fill(emptyBook(windows), start)[0], 12, start + 1000)
    const [after] = fill(book, start + 13_000)
    expect(standing(after, start + 13_000 + 90_000).windows[0]).toMatchObject({ learnt: false })
  })
})

describe('creates go first', () => {
  test('a loop of reads keeps half of a window free while creates are made, and a few places always', () => {
    const creating = claim(emptyBook(windows), 'create', start).state
    expect(fill(creating, start + 1, 'poll')[1]).toBe(29)
    expect(fill(emptyBook(windows), start, 'poll')[1]).toBe(57)
  })

  test('a read of a loop does not take the place that a create waits for', () => {
    const [book, , waitMs] = fill(emptyBook(windows), start)
    expect(claim(book, 'poll', start + waitMs).waitMs).toBeGreaterThan(0)
    expect(claim(book, 'create', start + waitMs).waitMs).toBe(0)
  })

  test('reads counted after the fact take places, beyond the limit too', () => {
    const book = record(emptyBook(windows), 65, start)
    expect(claim(book, 'create', start).waitMs).toBeGreaterThan(60_000)
    expect(standing(book, start).windows[0]).toMatchObject({ used: 60, left: 0 })
  })
})

describe('a clock that jumps', () => {
  const day = 86_400_000

  test('back by a day: what was counted still counts, and no wait is longer than an hour’s window', () => {
    const [book] = fill(emptyBook(windows), start)
    const { waitMs } = claim(book, 'create', start - day)
    expect(waitMs).toBeGreaterThan(0)
    expect(waitMs).toBeLessThan(62_000)
    expect(claim(learn(book, 3600, start), 'create', start - day).waitMs).toBeLessThanOrEqual(3_660_000)
  })

  test('forward by a day: windows are over', () => {
    const [book] = fill(emptyBook(windows), start)
    expect(fill(book, start + day)[1]).toBe(60)
  })
})

test('a book of other windows is begun anew', () => {
  const [book] = fill(emptyBook(windows), start)
  expect(bookOf(JSON.parse(JSON.stringify(book)), windows)).toEqual(JSON.parse(JSON.stringify(book)))
  expect(bookOf(book, [{ calls: 5, seconds: 1 }])).toEqual(emptyBook([{ calls: 5, seconds: 1 }]))
  expect(bookOf(undefined, windows)).toEqual(emptyBook(windows))
})
