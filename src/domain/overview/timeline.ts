import { localDay } from '../wording/local-time.ts'

/** What happened in one stretch of time, of the reader’s own clock. */
export interface TimeBucket {
  label: string
  ordered: number
  completed: number
}

export interface Timeline {
  /** The stretch of one bucket. */
  per: 'hour' | 'day' | 'week' | 'month'
  buckets: TimeBucket[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Bars that can be told apart. */
const mostBars = 36

/** Orders and completions (wall times in ms), by the shortest stretch that keeps the bars few. */
export function timelineOf(ordered: readonly number[], completed: readonly number[]): Timeline | undefined {
  const all = [...ordered, ...completed]
  if (all.length === 0) return undefined
  const first = all.reduce((one, other) => Math.min(one, other))
  const last = all.reduce((one, other) => Math.max(one, other))
  const span = last - first
  const per =
    span <= dayMs
      ? 'hour'
      : span <= mostBars * dayMs
        ? 'day'
        : span <= mostBars * 7 * dayMs
          ? 'week'
          : 'month'
  const buckets = new Map<number, TimeBucket>()
  // A bucket that nothing happened in has its place too.
  for (let at = startOf(first, per); at <= last; at = next(at, per))
    buckets.set(at, { label: labelOf(at, per), ordered: 0, completed: 0 })
  for (const at of ordered) count(buckets.get(startOf(at, per)), 'ordered')
  for (const at of completed) count(buckets.get(startOf(at, per)), 'completed')
  return { per, buckets: [...buckets.values()] }
}

function count(bucket: TimeBucket | undefined, what: 'ordered' | 'completed'): void {
  if (bucket !== undefined) bucket[what] += 1
}

function startOf(at: number, per: Timeline['per']): number {
  const date = new Date(at)
  if (per === 'hour') return date.setMinutes(0, 0, 0)
  date.setHours(0, 0, 0, 0)
  if (per === 'week') date.setDate(date.getDate() - ((date.getDay() + 6) % 7))
  if (per === 'month') date.setDate(1)
  return date.getTime()
}

/** By the calendar, so that a day of 23 or 25 hours is one. */
function next(at: number, per: Timeline['per']): number {
  const date = new Date(at)
  if (per === 'hour') return at + hourMs
  if (per === 'month') return date.setMonth(date.getMonth() + 1)
  return date.setDate(date.getDate() + (per === 'week' ? 7 : 1))
}

function labelOf(at: number, per: Timeline['per']): string {
  const day = localDay(at)
  if (per === 'hour') return `${String(new Date(at).getHours()).padStart(2, '0')}:00`
  return per === 'month' ? day.slice(0, 7) : day.slice(5)
}
