/** Wall time to the minute where the reader is, with its offset: `2026-11-20 22:00 +10:00`. Milliseconds or ISO 8601; another text stays. */
export function localTime(at: number | string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return String(at)
  return `${dayOf(date)} ${two(date.getHours())}:${two(date.getMinutes())} ${offsetOf(date)}`
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
