import type { QuotaWindow } from './windows.ts'

/**
 * The calls of one API key in the windows of its quota. All functions are pure: they take the book and the time, and
 * return the result.
 *
 * Where a window starts is not documented: on the clock, with the key, or with the first call after the previous
 * window. The following rule is right in all cases. In any period of a window's length, the number of calls is at most
 * the limit of the window. Every window is such a period, so no window is exceeded. The cost is small, because the
 * limit of an hour is far below sixty times the limit of a minute. Calls are counted by hundredths of a window, and
 * each may arrive late, which together costs less than 3%.
 *
 * A 429 means that others use the key too, or that this store has not counted some calls. Its Retry-After is the end of
 * the exceeded window. No call is made before that end. Earlier calls no longer count in that window, because its next
 * period begins at that end. The exceeded window is found from the wait (more than a minute means the hour), or else
 * from its last known end and from which window is fuller. For an hour after a 429 calls are spaced evenly instead of
 * sent in a burst. So if others have exceeded the window again, one call gets the 429 and not one call of each process.
 *
 * Polls (reads in loops) get the rest of the quota. All processes together may make a burst of a fifth of the longest
 * window, and then three quarters of its rate, so that they do not use up an hour in twenty minutes. In each window
 * they leave a twentieth free for commands of users, and half while creates are made. No poll is made while a create
 * waits.
 */
export interface QuotaBook {
  windows: WindowBook[]
  /** The end of the last Retry-After: no call is made before that time. */
  notBefore: number
  /** The time of the last 429; 0 if there was none. */
  learntAt: number
  /** Until this time a create waits for quota, and no poll may go first. */
  createWaitsUntil: number
  lastCreateAt: number
  lastCallAt: number
  /**
   * A leaky bucket of polls with its level at a time. The level rises by one with each poll, and falls with
   * `pollRate`.
   */
  polls: { level: number; at: number }
}

interface WindowBook extends QuotaWindow {
  /** The number of calls in each hundredth of the window. `part` counts the hundredths since the epoch. */
  parts: [part: number, calls: number][]
  /** The end of the window according to a 429, and the time of that 429; null if there was none. */
  end: number | null
  learntAt: number | null
}

/** The kind of a call. Creates go first; polls leave room for them and for commands of users. */
export type CallKind = 'create' | 'poll'

const partsPerWindow = 100
/** The time after which a counted call may still arrive: a sixtieth of the window, and at most ten seconds. */
const maxLateness = { shareOfWindow: 1 / 60, maxMs: 10_000 }
/** The longest wait that a 429 can mean. A longer one is caused by a change of the clock. */
const maxWaitMs = 3_660_000
/** The share of a window that polls leave free: `busy` while creates are made, and `idle` otherwise. */
const pollReserve = { busy: 0.5, idle: 0.05 }
/** For this time after a create, creates count as being made. */
const recentCreateMs = 60_000
/** Shares of the longest window: the number of polls in a burst, and the number in its length after that. */
const pollShares = { burst: 0.2, rate: 0.75 }
/** The time for which calls are spaced after a 429, and the maximum interval between two calls. */
const spacing = { durationMs: 3_600_000, maxMs: 1000 }
/**
 * Two 429s within this difference state the same boundary, because Retry-After is in whole seconds and the response
 * takes time.
 */
const maxPhaseErrorMs = 2000

/** Returns a book without calls. */
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

/** Returns a stored book if it has the windows that apply now, or else an empty one. */
export function bookOf(state: unknown, windows: readonly QuotaWindow[]): QuotaBook {
  const book = state as QuotaBook | undefined
  const isSameQuota =
    book?.windows.length === windows.length &&
    // Books of earlier versions have no polls.
    'polls' in book &&
    windows.every((window, index) => {
      const previous = book.windows[index]
      return previous?.calls === window.calls && previous.seconds === window.seconds
    })
  return isSameQuota ? book : emptyBook(windows)
}

/** Counts a call if the quota allows it. `waitMs` is 0 then, or else the time until the next attempt. */
export function claimCall(
  previous: QuotaBook,
  kind: CallKind,
  now: number,
): { state: QuotaBook; waitMs: number } {
  const book = withoutExpired(previous, now)
  const hasRecentCreate = book.lastCreateAt > 0 && now - book.lastCreateAt < recentCreateMs
  const reserved = kind === 'create' ? 0 : hasRecentCreate ? pollReserve.busy : pollReserve.idle
  const waits = book.windows.map((window) => waitForRoom(window, Math.floor(window.calls * reserved), now))
  if (kind === 'poll') waits.push(book.createWaitsUntil - now, pollWait(book, now))
  const waitMs = Math.ceil(Math.max(0, book.notBefore - now, spacingWait(book, now), ...waits))
  if (waitMs > 0) {
    const createWaitsUntil = kind === 'create' ? now + waitMs + 1000 : book.createWaitsUntil
    return { state: { ...book, createWaitsUntil }, waitMs }
  }
  return { state: withCounted(book, 1, kind, now), waitMs: 0 }
}

/** Counts calls that were made without a claim: single reads of a command. */
export function recordCalls(book: QuotaBook, calls: number, now: number): QuotaBook {
  return withCounted(withoutExpired(book, now), calls, undefined, now)
}

/**
 * Applies a 429: "the number of seconds left in the window that was breached". It overrides the counted calls.
 * `isStated` is false if the wait was assumed; then no window is changed.
 */
export function withThrottle(previous: QuotaBook, seconds: number, now: number, isStated = true): QuotaBook {
  const book = withoutExpired(previous, now)
  const end = now + seconds * 1000
  const breached = isStated ? breachedWindow(book, seconds, now) : undefined
  return {
    ...book,
    notBefore: Math.max(book.notBefore, end),
    learntAt: now,
    windows: book.windows.map((window) => (window === breached ? windowEndingAt(window, end, now) : window)),
  }
}

function windowEndingAt({ calls, seconds }: QuotaWindow, end: number, now: number): WindowBook {
  return { calls, seconds, parts: [], end, learntAt: now }
}

export type WindowStatus = ReturnType<typeof quotaStatus>['windows'][number]

/**
 * Returns the status of each window for display. `resetsAt` is the latest time at which the whole window is free
 * again, in ms on the clock of the book.
 */
export function quotaStatus(previous: QuotaBook, now: number) {
  const book = withoutExpired(previous, now)
  return {
    notBefore: book.notBefore,
    windows: book.windows.map((window) => {
      const { calls, seconds, end } = window
      const used = Math.min(calls, usedIn(window, now))
      const last = window.parts.at(-1)
      const isOpen = end !== null && now < end
      const resetsAt = isOpen ? end : last === undefined ? now : partExpiry(window, last[0])
      // `learnt` is whether the service has stated the end of the window.
      return { calls, seconds, used, left: calls - used, resetsAt, learnt: isOpen }
    }),
  }
}

/** Returns the book at `now` without expired calls. If the clock was set back, no call is delayed by it. */
function withoutExpired(book: QuotaBook, now: number): QuotaBook {
  const isClockSetBack = book.learntAt > now
  const notBefore = isClockSetBack ? now + book.notBefore - book.learntAt : book.notBefore
  return {
    notBefore: Math.min(notBefore, now + maxWaitMs),
    learntAt: Math.min(book.learntAt, now),
    createWaitsUntil: Math.min(book.createWaitsUntil, now + maxWaitMs),
    lastCreateAt: Math.min(book.lastCreateAt, now),
    lastCallAt: Math.min(book.lastCallAt, now),
    polls: { level: pollLevel(book, now), at: now },
    windows: book.windows.map((window) => windowWithoutExpired(window, now)),
  }
}

function windowWithoutExpired(window: WindowBook, now: number): WindowBook {
  const { learntAt, end } = window
  const currentPart = partAt(window, now)
  const recent = window.parts.filter(([part]) => partExpiry(window, part) > now)
  const parts =
    (recent.at(-1)?.[0] ?? 0) > currentPart
      ? mergeParts(recent.map(([part, calls]) => [Math.min(part, currentPart), calls]))
      : recent
  const isClockSetBack = end !== null && learntAt !== null && learntAt > now
  const phase = isClockSetBack ? { end: now + end - learntAt, learntAt: now } : { end, learntAt }
  return { ...window, ...phase, parts }
}

function usedIn({ calls, end, parts }: WindowBook, now: number): number {
  return end !== null && now < end ? calls : parts.reduce((sum, [, each]) => sum + each, 0)
}

/**
 * Returns the milliseconds until the window allows one more call with `reserved` calls left free; 0 if it allows one
 * now.
 */
function waitForRoom(window: WindowBook, reserved: number, now: number): number {
  const { end, seconds, parts } = window
  if (end !== null && now < end) return end - now
  const usable = Math.max(1, window.calls - reserved)
  let used = usedIn(window, now)
  if (used < usable) return 0
  for (const [part, calls] of parts) {
    used -= calls
    if (used < usable) return partExpiry(window, part) - now
  }
  return seconds * 1000
}

/** Returns the milliseconds until the next call while calls are spaced; 0 or less if it is allowed now. */
function spacingWait({ windows, learntAt, lastCallAt }: QuotaBook, now: number): number {
  if (learntAt === 0 || now > learntAt + spacing.durationMs) return 0
  const shortest = Math.min(...windows.map(({ calls, seconds }) => (seconds * 1000) / calls))
  return lastCallAt + Math.min(spacing.maxMs, shortest) - now
}

/** Returns the milliseconds until the poll rate allows one more poll; 0 or less if it is allowed now. */
function pollWait(book: QuotaBook, now: number): number {
  const { calls } = longestWindow(book)
  const usable = Math.max(1, Math.floor(calls * pollShares.burst))
  return (pollLevel(book, now) + 1 - usable) / pollRate(book)
}

function pollLevel(book: QuotaBook, now: number): number {
  const { level, at } = book.polls
  return Math.max(0, level - Math.max(0, now - at) * pollRate(book))
}

/** Returns the number of polls per millisecond. */
function pollRate(book: QuotaBook): number {
  const { calls, seconds } = longestWindow(book)
  return (calls * pollShares.rate) / (seconds * 1000)
}

function longestWindow({ windows }: QuotaBook): QuotaWindow {
  return windows.reduce((one, other) => (other.seconds > one.seconds ? other : one))
}

function withCounted(book: QuotaBook, calls: number, kind: CallKind | undefined, now: number): QuotaBook {
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

/** Returns the likeliest window for a 429, of those that are at least as long as the wait. */
function breachedWindow(book: QuotaBook, seconds: number, now: number): WindowBook | undefined {
  const end = now + seconds * 1000
  const likelihood = (window: WindowBook): number =>
    usedIn(window, now) / window.calls + (matchesKnownEnd(window, end) ? 0.5 : 0)
  // One second is tolerated, because a clock may be off or a second may be rounded up.
  const longEnough = book.windows.filter((window) => window.seconds + 1 >= seconds)
  return longEnough.sort((a, b) => likelihood(b) - likelihood(a) || a.seconds - b.seconds)[0]
}

/** Whether `end` is a whole number of windows after the end that was known before. */
function matchesKnownEnd(window: WindowBook, end: number): boolean {
  if (window.end === null) return false
  const length = window.seconds * 1000
  const phaseError = Math.abs(end - window.end) % length
  return Math.min(phaseError, length - phaseError) <= maxPhaseErrorMs
}

function partMs({ seconds }: QuotaWindow): number {
  return (seconds * 1000) / partsPerWindow
}

function partAt(window: QuotaWindow, time: number): number {
  return Math.floor(time / partMs(window))
}

/** Returns when the calls of a part no longer count: a window's length after the last of them may have arrived. */
function partExpiry(window: QuotaWindow, part: number): number {
  const length = window.seconds * 1000
  return (
    (part + 1) * partMs(window) + length + Math.min(length * maxLateness.shareOfWindow, maxLateness.maxMs)
  )
}

/** Adds calls to a part. Parts are in order, and none is later than `part`. */
function withCalls(parts: WindowBook['parts'], part: number, calls: number): WindowBook['parts'] {
  const last = parts.at(-1)
  return last?.[0] === part ? [...parts.slice(0, -1), [part, last[1] + calls]] : [...parts, [part, calls]]
}

function mergeParts(parts: readonly [part: number, calls: number][]): [part: number, calls: number][] {
  const sums = new Map<number, number>()
  for (const [part, calls] of parts) sums.set(part, (sums.get(part) ?? 0) + calls)
  return [...sums]
}

/** Returns the milliseconds for which a call counts: the window, one hundredth of it, and the lateness. */
const countedMs = (seconds: number): number => seconds * 1010 + Math.min((seconds * 1000) / 60, 10_000)

/**
 * Returns the seconds until the last of these creates can be sent, by the rules of `claimCall`. `callMs` is the
 * duration of one call.
 */
export function secondsForCreates(previous: QuotaBook, creates: number, now: number, callMs = 0): number {
  if (creates <= 0) return 0
  const longest = longestWindow(previous)
  // Each full longest window of creates adds the time of one such window.
  const rounds = Math.floor((creates - 1) / longest.calls)
  let book = previous
  let time = now
  for (let remaining = creates - rounds * longest.calls; remaining > 0;) {
    const { state, waitMs } = claimCall(book, 'create', time)
    book = state
    if (waitMs === 0) remaining -= 1
    time += waitMs === 0 ? callMs : waitMs
  }
  const roundsMs = Math.max(rounds * countedMs(longest.seconds), rounds * longest.calls * callMs)
  return (time - now + roundsMs) / 1000
}
