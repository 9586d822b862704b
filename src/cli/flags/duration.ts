import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { UsageError } from '../../errors/kinds.ts'
import { Flags } from '../oclif.ts'

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

/** A flag that takes a duration and yields milliseconds. */
export const durationFlag = Flags.custom<number>({
  helpValue: 'DURATION',
  async parse(text, _context, options) {
    const parsed = parseDuration(text)
    if (parsed === undefined) {
      throw new UsageError(`--${options.name}: "${redactArgument(text)}" is not a duration`, {
        hint: 'Give a number and a unit: 500ms, 30s, 5m, 2h, 1d or 1m30s.',
      })
    }
    return parsed
  },
})

/** How long a command that calls the service may wait on retries and 429s altogether. */
export const timeoutFlag = durationFlag({
  summary: 'Longest total wait for retries and quota (default 2m)',
})

/** The same of a command that has a long task: without the flag it goes on as long as the quota takes. */
export const longTimeoutFlag = durationFlag({
  summary: 'Longest total wait for retries and quota (default: no limit)',
})

export const defaultTimeoutMs = 120_000
