import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { parseDuration } from '../../domain/wording/duration.ts'
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
