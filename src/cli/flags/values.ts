import { currentContext } from '../../app/context.ts'
import { parseDuration } from '../../domain/wording/time.ts'
import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { UsageError } from '../../errors/kinds.ts'
import { Flags, Args } from '../oclif.ts'
import { parsePackageId, requestIdStart } from '../../domain/request/id-start.ts'

/** Flag for a duration, in milliseconds. */
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

/** Flag for the total time that a command may wait for retries and after a 429. */
export const timeoutFlag = durationFlag({
  summary: 'Longest total wait for retries and quota (default 2m)',
})

/** The same flag for long-running commands. Without it, they wait without a limit. */
export const longTimeoutFlag = durationFlag({
  summary: 'Longest total wait for retries and quota (default: no limit)',
})

/**
 * Parses a day (`2026-11-01`, which begins at midnight UTC), a moment (`2026-11-01T09:30:00Z`), or an age (`7d`).
 * Returns milliseconds since the epoch, or undefined for any other text, such as a day that does not exist.
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
  const time = new Date(text).getTime()
  return Number.isNaN(time) ? undefined : time
}

/** Flag for a moment, in milliseconds since the epoch. */
export const momentFlag = Flags.custom<number>({
  helpValue: 'DATE',
  async parse(text, _context, options) {
    const time = parseMoment(text, currentContext().clock.now())
    if (time === undefined) {
      throw new UsageError(`--${options.name}: "${redactArgument(text)}" is not a date`, {
        hint: 'Give a date such as 2026-11-01 or 2026-11-01T09:30:00Z, or how long ago: 7d or 12h.',
      })
    }
    return time
  },
})

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Parses a UUID and returns it in lowercase, as the API writes it. Throws a UsageError for any other text. `what` is
 * the flag or argument for messages.
 */
export function parseUuid(text: string, what: string): string {
  if (!uuidPattern.test(text)) {
    throw new UsageError(`${what}: "${redactArgument(text)}" is not a whole id`, {
      hint: 'An id looks like 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55.',
    })
  }
  return text.toLowerCase()
}

export const packageIdArg = Args.custom<number>({
  ignoreStdin: true,
  async parse(text) {
    return parsePackageId(text, 'PACKAGE_ID')
  },
})

export const packageIdFlag = Flags.custom<number>({
  helpValue: 'ID',
  async parse(text, _context, options) {
    return parsePackageId(text, `--${options.name}`)
  },
})

export const uuidFlag = Flags.custom({
  helpValue: 'UUID',
  async parse(text, _context, options) {
    return parseUuid(text, `--${options.name}`)
  },
})

/**
 * Argument or flag for a request: its id, the start of the id, or (only in a terminal) the name or e-mail of a person.
 * See resolveRequestIds in app/ids.
 */
export const requestArg = Args.custom({ ignoreStdin: true })
export const requestFlag = Flags.custom({ helpValue: 'REQUEST_ID' })

/** Flag for the id of a request or the start of one. See completeRequestId in app/ids. */
export const requestIdFlag = Flags.custom({
  helpValue: 'REQUEST_ID',
  async parse(text, _context, options) {
    return requestIdStart(text, `--${options.name}`)
  },
})

/** Parses the id of a batch, or at least its first four characters, and returns it in lowercase. */
function parseBatchId(text: string, what: string): string {
  if (/^[0-9a-f][0-9a-f-]{3,35}$/i.test(text)) return text.toLowerCase()
  throw new UsageError(`${what}: "${redactArgument(text)}" is not a batch id`, {
    hint: 'Give at least the first 4 characters of the id. List the batches with: refcheck batch list',
  })
}

export const batchIdArg = Args.custom({
  ignoreStdin: true,
  async parse(text) {
    return parseBatchId(text, 'BATCH_ID')
  },
})

export const batchArgs = {
  batch_id: batchIdArg({ required: true, description: 'id of a batch, or the start of it' }),
}

export const batchIdFlag = Flags.custom({
  helpValue: 'BATCH_ID',
  async parse(text, _context, options) {
    return parseBatchId(text, `--${options.name}`)
  },
})
