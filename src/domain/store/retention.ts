const form = /^([1-9]\d{0,4})(d|mo|y)$/

/**
 * The moment before which nothing is kept by a retention such as `365d`, `24mo` or `7y`, as milliseconds since the
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
