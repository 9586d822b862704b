import { requestStatuses } from '../../contract/statuses.ts'
import { type SubmissionState, submissionStates } from '../../domain/submission/states.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { ListFormat } from '../../output/present.ts'
import { Flags, type ValuesOf } from '../oclif.ts'

/** Flags of every command that answers with a list. */
export const listFlags = {
  csv: Flags.boolean({ summary: 'Print CSV', exclusive: ['json'] }),
  columns: Flags.string({
    summary: 'Print only these columns, in this order',
    helpValue: 'A,B',
    exclusive: ['json'],
  }),
  sort: Flags.string({ summary: 'Sort by a column; -COLUMN sorts in reverse', helpValue: 'COLUMN' }),
  'no-header': Flags.boolean({ summary: 'Omit the header line', exclusive: ['json'] }),
}

/** How a list is printed; a table in full where a command has none of these flags. */
export function listFormat(flags: Partial<ValuesOf<typeof listFlags>>): ListFormat {
  const { csv = false, columns, sort, 'no-header': isBare = false } = flags
  return { csv, columns, sort, header: !isBare }
}

/** `rejected,unknown` as states of rows; undefined where the flag is not given. */
export function rowStates(text: string | undefined): SubmissionState[] | undefined {
  return text?.split(',').map((part) => {
    const state = submissionStates.find((each) => each === part.trim().toLowerCase())
    if (state !== undefined) return state
    throw new UsageError(`--state: unknown state "${part.trim().slice(0, 40)}"`, {
      hint: `States: ${submissionStates.join(', ')}`,
    })
  })
}

const withoutStatus = ['unknown', 'dropped', 'sending'] as const

/** `--status` of requests, in any case, or the state of an order without a status yet; undefined where the flag is not given. */
export function requestStatus(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const all = [...requestStatuses.map((each) => each.toLowerCase()), ...withoutStatus]
  const wanted = text.trim().toLowerCase().replaceAll('-', '_')
  if (all.includes(wanted)) return wanted
  throw new UsageError(`--status: unknown status "${text.slice(0, 40)}"`, {
    hint: `Statuses: ${all.join(', ')}`,
  })
}
