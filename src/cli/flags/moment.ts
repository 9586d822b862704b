import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { Flags } from '../oclif.ts'
import { UsageError } from '../../errors/kinds.ts'
import { currentContext } from '../../app/context.ts'
import { parseDuration } from '../../domain/wording/duration.ts'

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
