/** Wall time to the minute where the reader is, with its offset: `2026-11-20 22:00 +10:00`. Milliseconds or ISO 8601; another text stays. */
export function localTime(at: number | string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return String(at)
  return `${localMinute(date.getTime())} ${offsetOf(date)}`
}

/** ISO 8601 in UTC, as --json has times; null for one that is not known. */
export function isoTime(at: number): string
export function isoTime(at: number | undefined): string | null
export function isoTime(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

/** The day where the reader is: `2026-11-20`. */
export function localDay(at: number | string): string {
  return dayOf(new Date(at))
}

/** Texts for the times of one list: days, or wall times to the minute where two of them are of one day. */
export function listedTimes(times: readonly number[]): (at: number) => string {
  return new Set(times.map(localDay)).size === times.length ? localDay : localMinute
}

/** Wall time to the minute where the reader is: `2026-11-20 22:00`. */
function localMinute(at: number): string {
  const date = new Date(at)
  return `${dayOf(date)} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The time of day where the reader is, to the second: `22:00:05`. */
export function localClock(at: number | string): string {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
}

function dayOf(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

function offsetOf(date: Date): string {
  const minutes = -date.getTimezoneOffset()
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

const two = (number: number): string => String(number).padStart(2, '0')

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `30s`, `2h`, `1m30s`, `250ms` as milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:ms|s|m|h|d))+$/.test(text) || text.length > 40) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(?<!\d)(\d+)(ms|s|m|h|d)/g)) {
    total += Number(amount) * units[unit as keyof typeof units]
  }
  return total
}

const retentionForm = /^([1-9]\d{0,4})(d|mo|y)$/

/**
 * The moment before which a retention purges data, such as `365d`, `24mo` or `7y`, as milliseconds since the
 * epoch; undefined where the text is none. Months and years are the calendar's, in UTC.
 */
export function retainedSince(text: string, now: number): number | undefined {
  const [, amount = '', unit] = retentionForm.exec(text) ?? []
  if (unit === undefined) return undefined
  const date = new Date(now)
  if (unit === 'd') return now - Number(amount) * 86_400_000
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() - Number(amount) * (unit === 'y' ? 12 : 1))
  const longest = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, longest))
  return date.getTime()
}
