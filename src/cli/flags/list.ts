import { requestStatuses } from '../../contract/statuses.ts'
import { type SubmissionState, submissionStates } from '../../domain/submission/states.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { ListFormat } from '../../output/present.ts'
import { Flags, type ValuesOf } from '../oclif.ts'

/** Flags of every command that prints a list. */
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

/** Returns the format of a list. For a command without these flags it is a table with all columns. */
export function listFormat(flags: Partial<ValuesOf<typeof listFlags>>): ListFormat {
  const { csv = false, columns, sort, 'no-header': omitsHeader = false } = flags
  return { csv, columns, sort, header: !omitsHeader }
}

/**
 * Parses --state, such as `rejected,unknown`. Returns undefined without the flag. Throws a UsageError for an
 * unknown state.
 */
export function parseRowStates(text: string | undefined): SubmissionState[] | undefined {
  return text?.split(',').map((part) => {
    const state = submissionStates.find((each) => each === part.trim().toLowerCase())
    if (state !== undefined) return state
    throw new UsageError(`--state: unknown state "${part.trim().slice(0, 40)}"`, {
      hint: `States: ${submissionStates.join(', ')}`,
    })
  })
}

const statesWithoutStatus = ['unknown', 'dropped', 'sending'] as const

/**
 * Parses --status: a status of requests in upper or lower case, or the state of an order that has no status
 * yet. Returns undefined without the flag. Throws a UsageError for an unknown status.
 */
export function parseRequestStatus(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const allStatuses = [...requestStatuses.map((each) => each.toLowerCase()), ...statesWithoutStatus]
  const status = text.trim().toLowerCase().replaceAll('-', '_')
  if (allStatuses.includes(status)) return status
  throw new UsageError(`--status: unknown status "${text.slice(0, 40)}"`, {
    hint: `Statuses: ${allStatuses.join(', ')}`,
  })
}
