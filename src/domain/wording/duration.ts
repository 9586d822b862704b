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
