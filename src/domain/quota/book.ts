import type { QuotaWindow } from './windows.ts'

/**
 * The state of the calls of one key in its windows. Pure: every function takes the book and the time and
 * returns the result.
 *
 * Where a window starts is not documented: on the clock, with the key, or with the first call after the
 * last one ended. A rule that is right for all of them: in no stretch of a window's length do more calls
 * go out than the window holds. Any window is such a stretch, so none is overfilled; and since the hour's
 * calls are far fewer than sixty minutes' worth, next to nothing is lost by it (calls are counted by
 * hundredths of a window, and each may arrive a little late: together under 3%).
 *
 * A 429 means that others use the key too, or that calls were made which this store knows nothing of. Its
 * Retry-After is where the breached window ends: no call is made before that, and those made before it count
 * no more in that window, since any window that is open later began there or after it. Which window it was
 * follows from the length of the wait (more than a minute is the hour), else from where that window was
 * stated to end before, and from which is fuller. For an hour after a 429 calls are spaced as the shortest
 * window allows instead of sent in a burst, so that when others have used the window up again, one call
 * finds out and not one of each process.
 *
 * Loops of reads get what is left: a burst of a fifth of the longest window, then three quarters of its
 * rate, all processes together, so that they never use an hour up in twenty minutes; in each window they
 * keep a twentieth free for people, and half of it while creates are made; and none goes while a create
 * waits.
 */
export interface QuotaBook {
  windows: WindowBook[]
  /** No call before this: what the service said in a 429. */
  notBefore: number
  /** When it was said; 0 where it never was. */
  learntAt: number
  /** Until then a create waits for quota, and no loop of reads overtakes it. */
  createWaitsUntil: number
  lastCreateAt: number
  lastCallAt: number
  /** Reads of loops that are not made up for yet, as of a time. */
  polls: { level: number; at: number }
}

interface WindowBook extends QuotaWindow {
  /** Calls by the hundredth of the window they went out in: [number of the hundredth, calls]. */
  parts: [part: number, calls: number][]
  /** Where a 429 said that this window ends: its phase. */
  end: number | null
  learntAt: number | null
}

/** What a place is for. Creates go first; loops of reads leave room for them and for people. */
export type CallKind = 'create' | 'poll'

const partsPerWindow = 100
/** How late a call may arrive after it was counted: a second for a minute's window, ten at most. */
const lateness = { ofWindow: 1 / 60, mostMs: 10_000 }
/** The longest that a 429 can mean, in ms; more is a clock that jumped. */
const longestWaitMs = 3_660_000
/** Polls keep this share of a window free while creates are being made, and otherwise. */
const reservedShare = { busy: 0.5, idle: 0.05 }
const busyForMs = 60_000
/** Shares of the longest window: how many polls may go at once, and how many in its length after that. */
const polling = { burst: 0.2, rate: 0.75 }
/** After a 429, how long calls go out one by one, and how far apart at most, in ms. */
const spaced = { forMs: 3_600_000, mostMs: 1000 }
/** In ms: two 429s that tell of the same boundary, in whole seconds and after some time on the way. */
const samePhaseMs = 2000

export function emptyBook(windows: readonly QuotaWindow[]): QuotaBook {
  return {
    windows: windows.map((window) => ({ ...window, parts: [], end: null, learntAt: null })),
    notBefore: 0,
    learntAt: 0,
    createWaitsUntil: 0,
    lastCreateAt: 0,
    lastCallAt: 0,
    polls: { level: 0, at: 0 },
  }
}

/** A book as it was stored, for the windows that apply now; an empty one where it is of other windows or none. */
export function bookOf(state: unknown, windows: readonly QuotaWindow[]): QuotaBook {
  const book = state as QuotaBook | undefined
  const same =
    book?.windows.length === windows.length &&
    // A book of an earlier version.
    'polls' in book &&
    windows.every((window, at) => {
      const previous = book.windows[at]
      return previous?.calls === window.calls && previous.seconds === window.seconds
    })
  return same ? book : emptyBook(windows)
}

/** Takes a place if there is one: `waitMs` is 0 then, else what has to go by before it is worth asking again. */
export function claim(
  previous: QuotaBook,
  kind: CallKind,
  now: number,
): { state: QuotaBook; waitMs: number } {
  const book = withoutExpired(previous, now)
  const busy = book.lastCreateAt > 0 && now - book.lastCreateAt < busyForMs
  const free = kind === 'create' ? 0 : busy ? reservedShare.busy : reservedShare.idle
  const waits = book.windows.map((window) => roomIn(window, Math.floor(window.calls * free), now))
  if (kind === 'poll') waits.push(book.createWaitsUntil - now, pollWait(book, now))
  const waitMs = Math.ceil(Math.max(0, book.notBefore - now, spacingWait(book, now), ...waits))
  if (waitMs > 0) {
    const createWaitsUntil = kind === 'create' ? now + waitMs + 1000 : book.createWaitsUntil
    return { state: { ...book, createWaitsUntil }, waitMs }
  }
  return { state: counted(book, 1, kind, now), waitMs: 0 }
}

/** Calls that have been made without asking: a person's single reads. */
export function record(book: QuotaBook, calls: number, now: number): QuotaBook {
  return counted(withoutExpired(book, now), calls, undefined, now)
}

/**
 * A 429: "the number of seconds left in the window that was breached". It wins over what was counted.
 * `understood` is false where the wait was assumed: then it is waited, and nothing else is known.
 */
export function withThrottle(
  previous: QuotaBook,
  seconds: number,
  now: number,
  understood = true,
): QuotaBook {
  const book = withoutExpired(previous, now)
  const end = now + seconds * 1000
  const breached = understood ? breachedWindow(book, seconds, now) : undefined
  return {
    ...book,
    notBefore: Math.max(book.notBefore, end),
    learntAt: now,
    windows: book.windows.map((window) => (window === breached ? endingAt(window, end, now) : window)),
  }
}

function endingAt({ calls, seconds }: QuotaWindow, end: number, now: number): WindowBook {
  return { calls, seconds, parts: [], end, learntAt: now }
}

export type WindowStatus = ReturnType<typeof quotaStatus>['windows'][number]

/** The status of each window, for people. `resetsAt`: when all of it is free again at the latest, ms on the book's clock. */
export function quotaStatus(previous: QuotaBook, now: number) {
  const book = withoutExpired(previous, now)
  return {
    notBefore: book.notBefore,
    windows: book.windows.map((window) => {
      const { calls, seconds, end } = window
      const used = Math.min(calls, usedIn(window, now))
      const last = window.parts.at(-1)
      const isOpen = end !== null && now < end
      const resetsAt = isOpen ? end : last === undefined ? now : expiry(window, last[0])
      // `learnt`: whether the service has stated when it ends.
      return { calls, seconds, used, left: calls - used, resetsAt, learnt: isOpen }
    }),
  }
}

/** The book at `now`: what has ended is removed, and a clock that was set back delays nothing. */
function withoutExpired(book: QuotaBook, now: number): QuotaBook {
  const isSetBack = book.learntAt > now
  const notBefore = isSetBack ? now + book.notBefore - book.learntAt : book.notBefore
  return {
    notBefore: Math.min(notBefore, now + longestWaitMs),
    learntAt: Math.min(book.learntAt, now),
    createWaitsUntil: Math.min(book.createWaitsUntil, now + longestWaitMs),
    lastCreateAt: Math.min(book.lastCreateAt, now),
    lastCallAt: Math.min(book.lastCallAt, now),
    polls: { level: pollLevel(book, now), at: now },
    windows: book.windows.map((window) => windowWithoutExpired(window, now)),
  }
}

function windowWithoutExpired(window: WindowBook, now: number): WindowBook {
  const { learntAt, end } = window
  const latest = partAt(window, now)
  const recent = window.parts.filter(([part]) => expiry(window, part) > now)
  const parts =
    (recent.at(-1)?.[0] ?? 0) > latest
      ? mergeParts(recent.map(([part, calls]) => [Math.min(part, latest), calls]))
      : recent
  const isSetBack = end !== null && learntAt !== null && learntAt > now
  const phase = isSetBack ? { end: now + end - learntAt, learntAt: now } : { end, learntAt }
  return { ...window, ...phase, parts }
}

function usedIn({ calls, end, parts }: WindowBook, now: number): number {
  return end !== null && now < end ? calls : parts.reduce((sum, [, each]) => sum + each, 0)
}

/** Milliseconds until the window has room for one more call, with `reserved` calls left free; 0 where it has. */
function roomIn(window: WindowBook, reserved: number, now: number): number {
  const { end, seconds, parts } = window
  if (end !== null && now < end) return end - now
  const usable = Math.max(1, window.calls - reserved)
  let used = usedIn(window, now)
  if (used < usable) return 0
  for (const [part, calls] of parts) {
    used -= calls
    if (used < usable) return expiry(window, part) - now
  }
  return seconds * 1000
}

/** Milliseconds until the next call, where calls go out one by one. */
function spacingWait({ windows, learntAt, lastCallAt }: QuotaBook, now: number): number {
  if (learntAt === 0 || now > learntAt + spaced.forMs) return 0
  const shortest = Math.min(...windows.map(({ calls, seconds }) => (seconds * 1000) / calls))
  return lastCallAt + Math.min(spaced.mostMs, shortest) - now
}

/** Milliseconds until the polls made so far allow one more. */
function pollWait(book: QuotaBook, now: number): number {
  const { calls } = longestWindow(book)
  const usable = Math.max(1, Math.floor(calls * polling.burst))
  return (pollLevel(book, now) + 1 - usable) / pollRate(book)
}

function pollLevel(book: QuotaBook, now: number): number {
  const { level, at } = book.polls
  return Math.max(0, level - Math.max(0, now - at) * pollRate(book))
}

/** Polls a millisecond. */
function pollRate(book: QuotaBook): number {
  const { calls, seconds } = longestWindow(book)
  return (calls * polling.rate) / (seconds * 1000)
}

function longestWindow({ windows }: QuotaBook): QuotaWindow {
  return windows.reduce((one, other) => (other.seconds > one.seconds ? other : one))
}

function counted(book: QuotaBook, calls: number, kind: CallKind | undefined, now: number): QuotaBook {
  const { level, at } = book.polls
  return {
    ...book,
    lastCreateAt: kind === 'create' ? now : book.lastCreateAt,
    lastCallAt: now,
    polls: { level: level + (kind === 'poll' ? calls : 0), at },
    windows: book.windows.map((window) => ({
      ...window,
      parts: withCalls(window.parts, partAt(window, now), calls),
    })),
  }
}

/** Which window a 429 is about: one that is as long as the wait at least, the likeliest of those. */
function breachedWindow(book: QuotaBook, seconds: number, now: number): WindowBook | undefined {
  const end = now + seconds * 1000
  const likely = (window: WindowBook): number =>
    usedIn(window, now) / window.calls + (isLearntBefore(window, end) ? 0.5 : 0)
  // A little slack: a clock that is a second off, or a second that was rounded up.
  const long = book.windows.filter((window) => window.seconds + 1 >= seconds)
  return long.sort((a, b) => likely(b) - likely(a) || a.seconds - b.seconds)[0]
}

/** Whether `end` is a whole number of windows after the end that was stated before. */
function isLearntBefore(window: WindowBook, end: number): boolean {
  if (window.end === null) return false
  const length = window.seconds * 1000
  const off = Math.abs(end - window.end) % length
  return Math.min(off, length - off) <= samePhaseMs
}

function partMs({ seconds }: QuotaWindow): number {
  return (seconds * 1000) / partsPerWindow
}

function partAt(window: QuotaWindow, at: number): number {
  return Math.floor(at / partMs(window))
}

/** When the last call of a part is a window's length ago, arrived late as it may have. */
function expiry(window: QuotaWindow, part: number): number {
  const length = window.seconds * 1000
  return (part + 1) * partMs(window) + length + Math.min(length * lateness.ofWindow, lateness.mostMs)
}

/** Parts are in order, and none is later than the one that the calls go into. */
function withCalls(parts: WindowBook['parts'], part: number, calls: number): WindowBook['parts'] {
  const last = parts.at(-1)
  return last?.[0] === part ? [...parts.slice(0, -1), [part, last[1] + calls]] : [...parts, [part, calls]]
}

function mergeParts(parts: readonly [part: number, calls: number][]): [part: number, calls: number][] {
  const sums = new Map<number, number>()
  for (const [part, calls] of parts) sums.set(part, (sums.get(part) ?? 0) + calls)
  return [...sums]
}

/** How much longer than a window its calls are held against it: a hundredth by which they are counted, and the way. */
const heldMs = (seconds: number): number => seconds * 1010 + Math.min((seconds * 1000) / 60, 10_000)

/**
 * Seconds until the last of so many creates can be sent, by the rules of `claim`. `callMs`: what
 * one of them takes besides.
 */
export function secondsForCreates(previous: QuotaBook, creates: number, now: number, callMs = 0): number {
  if (creates <= 0) return 0
  const longest = longestWindow(previous)
  // As many as the longest window holds again come one such window later.
  const rounds = Math.floor((creates - 1) / longest.calls)
  let book = previous
  let at = now
  for (let left = creates - rounds * longest.calls; left > 0;) {
    const { state, waitMs } = claim(book, 'create', at)
    book = state
    if (waitMs === 0) left -= 1
    at += waitMs === 0 ? callMs : waitMs
  }
  const ofRounds = Math.max(rounds * heldMs(longest.seconds), rounds * longest.calls * callMs)
  return (at - now + ofRounds) / 1000
}
