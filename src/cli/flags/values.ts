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
    const ms = parseDuration(text)
    if (ms === undefined) {
      throw new UsageError(`--${options.name}: "${redactArgument(text)}" is not a duration`, {
        hint: 'Give a number and a unit: 500ms, 30s, 5m, 2h, 1d or 1m30s.',
      })
    }
    return ms
  },
})

/** Flag for the total time that a command may wait for retries and after a 429. */
export const timeoutFlag = durationFlag({
  summary: 'Longest total wait for retries and quota (default 2m)',
})

/** The flag for the same time of long-running commands. Without it, the commands wait without a limit. */
export const longTimeoutFlag = durationFlag({
  summary: 'Longest total wait for retries and quota (default: no limit)',
})

/**
 * Parses a day (`2026-11-01`, which begins at midnight UTC), a moment (`2026-11-01T09:30:00Z`), or an age
 * (`7d`). Returns milliseconds since the epoch; undefined for any other text, such as a day that does not
 * exist.
 */
export function parseMoment(text: string, now: number): number | undefined {
  const ageMs = parseDuration(text)
  if (ageMs !== undefined) return now - ageMs
  const match = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(
    text,
  )
  if (match === null) return undefined
  const day = new Date(`${match[1]}T00:00:00Z`)
  // Date rolls 30 February over into March.
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== match[1]) return undefined
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
 * Parses a UUID and returns it in lowercase, as the API writes it. Throws a UsageError for any other text.
 * `label` is the name of the flag or argument in messages.
 */
export function parseUuid(text: string, label: string): string {
  if (!uuidPattern.test(text)) {
    throw new UsageError(`${label}: "${redactArgument(text)}" is not a whole id`, {
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
 * Argument or flag for a request: its id, the start of its id, or (only in a terminal) the name or e-mail of
 * a person. `resolveRequestIds` in app/ids finds the request.
 */
export const requestArg = Args.custom({ ignoreStdin: true })
export const requestFlag = Flags.custom({ helpValue: 'REQUEST_ID' })

/** Flag for the id of a request or the start of its id. `completeRequestId` in app/ids completes it. */
export const requestIdFlag = Flags.custom({
  helpValue: 'REQUEST_ID',
  async parse(text, _context, options) {
    return requestIdStart(text, `--${options.name}`)
  },
})

/**
 * Parses the id of a batch, or at least its first four characters, and returns it in lowercase. Throws a
 * UsageError for any other text.
 */
function parseBatchId(text: string, label: string): string {
  if (/^[0-9a-f][0-9a-f-]{3,35}$/i.test(text)) return text.toLowerCase()
  throw new UsageError(`${label}: "${redactArgument(text)}" is not a batch id`, {
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

/** Flags of every command that saves reports as files. */
export const reportFileFlags = {
  'name-template': Flags.string({
    summary: 'Template for file names, with fields in braces',
    helpValue: 'TEMPLATE',
  }),
  concurrency: Flags.integer({
    helpValue: 'N',
    summary: 'Number of downloads at a time (default 8)',
    min: 1,
    max: 64,
  }),
}
