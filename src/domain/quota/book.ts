import type { QuotaWindow } from './windows.ts'

/**
 * How the calls of one key stand in its windows. Pure: every function takes the book and the wall time and
 * returns what they make of it.
 *
 * Where a window starts is not documented: with the first call in it, or on the clock. Until that is learnt,
 * no more calls go out in *any* stretch of a window's length than the window holds; so whatever its start,
 * no window is overfilled, and at a steady pace nothing is lost by it. A 429 tells when the window that it
 * breached ends. From that moment calls are counted in that window and those that follow it, as long as
 * calls go on at its boundary: after a pause the next window may start anew with its first call, so the
 * cautious rule takes over again.
 */
export interface QuotaBook {
  windows: WindowBook[]
  /** No call before this: what the service said in a 429. */
  notBefore: number
  /** Until then a create waits for its place, and no loop of reads goes before it. */
  createWaitsUntil: number
  lastCreateAt: number
}

interface WindowBook extends QuotaWindow {
  /** Calls by the hundredth of the window they went out in: [number of the hundredth, calls]. */
  parts: [part: number, calls: number][]
  /** The window that is open now, once its start was learnt. */
  open: { start: number; used: number } | null
  learntAt: number | null
}

/** What a place is for. Creates go first; loops of reads leave room for them and for people. */
export type CallKind = 'create' | 'poll'

const partsPerWindow = 100
/** Of a window: how late a call may arrive after it was counted, a second for a minute. */
const lateness = 1 / 60
/** The longest that a 429 can mean, in ms; more is a clock that jumped. */
const longestWaitMs = 3_660_000
/** Polls keep this share of a window free while creates are being made, and otherwise. */
const shareKept = { busy: 0.5, idle: 0.05 }
const busyForMs = 60_000

export function emptyBook(windows: readonly QuotaWindow[]): QuotaBook {
  return {
    windows: windows.map((window) => ({ ...window, parts: [], open: null, learntAt: null })),
    notBefore: 0,
    createWaitsUntil: 0,
    lastCreateAt: 0,
  }
}

/** A book as it was kept, for the windows that hold now; an empty one where it is of other windows or none. */
export function bookOf(state: unknown, windows: readonly QuotaWindow[]): QuotaBook {
  const book = state as QuotaBook | undefined
  const same =
    book?.windows.length === windows.length &&
    windows.every((window, at) => {
      const kept = book.windows[at]
      return kept?.calls === window.calls && kept.seconds === window.seconds
    })
  return same ? book : emptyBook(windows)
}

/** Takes a place if there is one: `waitMs` is 0 then, else what has to go by before it is worth asking again. */
export function claim(kept: QuotaBook, kind: CallKind, now: number): { state: QuotaBook; waitMs: number } {
  const book = settled(kept, now)
  const busy = now - book.lastCreateAt < busyForMs
  const free = kind === 'create' ? 0 : busy ? shareKept.busy : shareKept.idle
  const waits = book.windows.map((window) => roomIn(window, Math.floor(window.calls * free), now))
  const yields = kind === 'poll' ? book.createWaitsUntil - now : 0
  const waitMs = Math.ceil(Math.max(0, book.notBefore - now, yields, ...waits))
  if (waitMs > 0) {
    const createWaitsUntil = kind === 'create' ? now + waitMs + 1000 : book.createWaitsUntil
    return { state: { ...book, createWaitsUntil }, waitMs }
  }
  return { state: counted(book, 1, kind, now), waitMs: 0 }
}

/** Calls that have been made without asking: a person's single reads. */
export function record(kept: QuotaBook, calls: number, now: number): QuotaBook {
  return counted(settled(kept, now), calls, undefined, now)
}

/** A 429: "the number of seconds left in the window that was breached". It wins over what was counted. */
export function learn(kept: QuotaBook, seconds: number, now: number): QuotaBook {
  const book = settled(kept, now)
  const end = now + seconds * 1000
  const breached = breachedWindow(book, seconds, now)
  return {
    ...book,
    notBefore: Math.max(book.notBefore, end),
    windows: book.windows.map((window) => (window === breached ? full(window, end, now) : window)),
  }
}

function full(window: WindowBook, end: number, now: number): WindowBook {
  return { ...window, open: { start: end - window.seconds * 1000, used: window.calls }, learntAt: now }
}

/** How a window stands, for people. */
export interface WindowStanding extends QuotaWindow {
  used: number
  left: number
  /** When all of it is free again at the latest, wall time in ms. */
  resetsAt: number
  /** Whether the service has told when it ends. */
  learnt: boolean
}

export function standing(kept: QuotaBook, now: number): { windows: WindowStanding[]; notBefore: number } {
  const book = settled(kept, now)
  return {
    notBefore: book.notBefore,
    windows: book.windows.map((window) => {
      const { calls, seconds, open } = window
      const used = Math.min(calls, usedIn(window, now))
      const last = window.parts.at(-1)
      const resetsAt =
        open === null ? (last === undefined ? now : expiry(window, last[0])) : open.start + seconds * 1000
      return { calls, seconds, used, left: calls - used, resetsAt, learnt: open !== null }
    }),
  }
}

/** The book at `now`: what is over is forgotten, and a clock that was set back takes nothing hostage. */
function settled(book: QuotaBook, now: number): QuotaBook {
  return {
    ...book,
    notBefore: Math.min(book.notBefore, now + longestWaitMs),
    createWaitsUntil: Math.min(book.createWaitsUntil, now + longestWaitMs),
    lastCreateAt: Math.min(book.lastCreateAt, now),
    windows: book.windows.map((window) => settledWindow(window, now)),
  }
}

function settledWindow(window: WindowBook, now: number): WindowBook {
  const latest = partAt(window, now)
  const parts = window.parts
    .map(([part, calls]): [number, number] => [Math.min(part, latest), calls])
    .filter(([part]) => expiry(window, part) > now)
  return { ...window, parts: joined(parts), open: openAt(window, now) }
}

/** The open window at `now`: the next one begins where one ends as long as calls go on there. */
function openAt({ open, seconds }: WindowBook, now: number): WindowBook['open'] {
  if (open === null) return null
  const length = seconds * 1000
  const start = Math.min(open.start, now)
  if (now < start + length) return { ...open, start }
  return now < start + length * (1 + 2 * lateness) ? { start: now, used: 0 } : null
}

function usedIn(window: WindowBook, now: number): number {
  const { open, parts } = window
  if (open !== null && now >= open.start) return open.used
  return parts.reduce((sum, [, calls]) => sum + calls, 0)
}

/** Milliseconds until the window has room for one more call, `kept` places left free; 0 where it has. */
function roomIn(window: WindowBook, kept: number, now: number): number {
  const { open, seconds, parts } = window
  const most = Math.max(1, window.calls - kept)
  if (usedIn(window, now) < most) return 0
  if (open !== null) return open.start + seconds * 1000 - now
  let used = usedIn(window, now)
  for (const [part, calls] of parts) {
    used -= calls
    if (used < most) return expiry(window, part) - now
  }
  return seconds * 1000
}

function counted(book: QuotaBook, calls: number, kind: CallKind | undefined, now: number): QuotaBook {
  return {
    ...book,
    lastCreateAt: kind === 'create' ? now : book.lastCreateAt,
    windows: book.windows.map((window) => ({
      ...window,
      parts: joined([...window.parts, [partAt(window, now), calls]]),
      open: window.open === null ? null : { ...window.open, used: window.open.used + calls },
    })),
  }
}

/** Which window a 429 is about: one that is as long as the wait at least, the fullest of those. */
function breachedWindow(book: QuotaBook, seconds: number, now: number): WindowBook | undefined {
  const fullness = (window: WindowBook): number => usedIn(window, now) / window.calls
  const long = book.windows.filter((window) => window.seconds >= seconds)
  return long.sort((a, b) => fullness(b) - fullness(a) || a.seconds - b.seconds)[0]
}

function partMs({ seconds }: QuotaWindow): number {
  return (seconds * 1000) / partsPerWindow
}

function partAt(window: QuotaWindow, at: number): number {
  return Math.floor(at / partMs(window))
}

/** When the last call of a part is a window's length ago, arrived late as it may have. */
function expiry(window: QuotaWindow, part: number): number {
  return (part + 1) * partMs(window) + window.seconds * 1000 * (1 + lateness)
}

function joined(parts: readonly [part: number, calls: number][]): [part: number, calls: number][] {
  const sums = new Map<number, number>()
  for (const [part, calls] of parts) sums.set(part, (sums.get(part) ?? 0) + calls)
  return [...sums].sort(([a], [b]) => a - b)
}
