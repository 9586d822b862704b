import { requestStatuses } from '../../contract/statuses.ts'
import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { UsageError } from '../../errors/kinds.ts'
import { Args, Flags, type ValuesOf } from '../oclif.ts'
import { requestIdFlag, momentFlag } from './values.ts'

/** Argument for the number of an event in the inbox. */
export const eventIdArg = Args.custom<number>({
  ignoreStdin: true,
  async parse(text) {
    if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
    throw new UsageError(`ID: "${redactArgument(text)}" is not an event id`, {
      hint: 'Event ids are whole numbers. List them with: refcheck webhook events list',
    })
  },
})

/** Flags that select events of the inbox. */
export const eventFlags = {
  status: Flags.string({
    summary: `Only this status: ${requestStatuses.slice(0, 3).join(', ')} …`,
    helpValue: 'STATUS',
  }),
  'request-id': requestIdFlag({ summary: 'Only this request’s; the start of its id is enough' }),
  since: momentFlag({ summary: 'Received since this date or this long ago: 2026-11-01 or 7d' }),
  until: momentFlag({ summary: 'Received before this date' }),
}

export function eventFilter({ status, 'request-id': requestId, since, until }: ValuesOf<typeof eventFlags>) {
  return { status: status?.toUpperCase(), requestId, since, until }
}

/** Flag of commands that sign or verify: a file that contains only the webhook secret. */
export const secretFileFlag = Flags.string({
  summary: 'Read the webhook secret from a file that only you can read',
  helpValue: 'FILE',
})
