/**
 * Returns a time (milliseconds or ISO 8601) to the minute, in the time zone of the process: `2026-11-20 22:00
 * +10:00`. A text that is not a time is returned unchanged.
 */
export function localTime(time: number | string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return String(time)
  return `${localMinute(date.getTime())} ${offsetOf(date)}`
}

/** Returns a time in ISO 8601 and UTC, as --json prints it; null if it is undefined. */
export function isoTime(time: number): string
export function isoTime(time: number | undefined): string | null
export function isoTime(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString()
}

/** Returns the date in the time zone of the process: `2026-11-20`. */
export function localDay(time: number | string): string {
  return dayOf(new Date(time))
}

/**
 * Returns a function that formats the time of an entry in a list: as the day, or to the minute if another entry of the
 * same day has the same name.
 */
export function listedTime<Entry>(
  entries: readonly Entry[],
  timeOf: (entry: Entry) => number | string,
  nameOf: (entry: Entry) => string = () => '',
): (entry: Entry) => string {
  const dayAndName = (entry: Entry): string => `${localDay(timeOf(entry))} ${nameOf(entry)}`
  const groups = Map.groupBy(entries, dayAndName)
  return (entry) =>
    (groups.get(dayAndName(entry))?.length ?? 0) > 1 ? localMinute(timeOf(entry)) : localDay(timeOf(entry))
}

/** Returns a time to the minute in the time zone of the process: `2026-11-20 22:00`. */
function localMinute(at: number | string): string {
  const date = new Date(at)
  return `${dayOf(date)} ${padToTwo(date.getHours())}:${padToTwo(date.getMinutes())}`
}

/** Returns the time of day in the time zone of the process, to the second: `22:00:05`. */
export function localClock(time: number | string): string {
  const date = new Date(time)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(padToTwo).join(':')
}

function dayOf(date: Date): string {
  return `${date.getFullYear()}-${padToTwo(date.getMonth() + 1)}-${padToTwo(date.getDate())}`
}

function offsetOf(date: Date): string {
  const minutes = -date.getTimezoneOffset()
  const absMinutes = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${padToTwo(Math.floor(absMinutes / 60))}:${padToTwo(absMinutes % 60)}`
}

const padToTwo = (number: number): string => String(number).padStart(2, '0')

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses `30s`, `2h`, `1m30s` or `250ms` to milliseconds. Returns undefined for any other text. */
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
 * Returns the time before which a retention such as `365d`, `24mo` or `7y` purges data, in milliseconds since the
 * epoch. Months and years are those of the calendar in UTC. Returns undefined if the text is not a retention.
 */
export function retentionStart(text: string, now: number): number | undefined {
  const [, amount = '', unit] = retentionForm.exec(text) ?? []
  if (unit === undefined) return undefined
  const date = new Date(now)
  if (unit === 'd') return now - Number(amount) * 86_400_000
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() - Number(amount) * (unit === 'y' ? 12 : 1))
  const daysInMonth = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, daysInMonth))
  return date.getTime()
}
