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

const form = /^([1-9]\d{0,4})(d|mo|y)$/

/**
 * The moment before which a retention purges data, such as `365d`, `24mo` or `7y`, as milliseconds since the
 * epoch; undefined where the text is none. Months and years are the calendar's, in UTC.
 */
export function retainedSince(text: string, now: number): number | undefined {
  const [, amount = '', unit] = form.exec(text) ?? []
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
