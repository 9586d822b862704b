import { currentContext } from '../../app/context.ts'
import { parseDuration } from '../../domain/wording/duration.ts'
import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { UsageError } from '../../errors/kinds.ts'
import { Flags } from '../oclif.ts'

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

/**
 * A day (`2026-11-01`, from its first moment in UTC), a moment (`2026-11-01T09:30:00Z`), or how long
 * ago (`7d`), as milliseconds since the epoch; undefined for anything else, days that do not exist
 * included.
 */
export function parseMoment(text: string, now: number): number | undefined {
  const ago = parseDuration(text)
  if (ago !== undefined) return now - ago
  const form = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(
    text,
  )
  if (form === null) return undefined
  const day = new Date(`${form[1]}T00:00:00Z`)
  // Date rolls 30 February over into March.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== form[1]) return undefined
  const at = new Date(text).getTime()
  return Number.isNaN(at) ? undefined : at
}

/** A flag that takes a moment and yields milliseconds since the epoch. */
export const momentFlag = Flags.custom<number>({
  helpValue: 'DATE',
  async parse(text, _context, options) {
    const at = parseMoment(text, currentContext().clock.now())
    if (at === undefined) {
      throw new UsageError(`--${options.name}: "${redactArgument(text)}" is not a date`, {
        hint: 'Give a date such as 2026-11-01 or 2026-11-01T09:30:00Z, or how long ago: 7d or 12h.',
      })
    }
    return at
  },
})
