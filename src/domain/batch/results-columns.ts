import type { BatchRow } from './batch.ts'
import { listedRow } from './batch-status.ts'
import { uuid } from '../../contract/request-body.ts'
import { type Cell, textOf } from '../sheet/cell.ts'
import { type PersonDigests, personDigests, type ExternalResult } from '../submission/external-results.ts'
import { serviceOf } from '../submission/identity.ts'
import { type SubmissionState, submissionStates } from '../submission/states.ts'

/** What tells another store, or a later one, what became of a row: src/docs/ordering.md, section 4, "Results files". */
export const externalResultColumns = [
  'refcheck_ordered_at',
  'refcheck_account',
  'refcheck_service',
  'refcheck_package_id',
  'refcheck_batch_id',
  'refcheck_row',
  'refcheck_name_digest',
  'refcheck_email_digest',
  'refcheck_phone_digest',
] as const

/** What is put at the end of a person's own columns. */
export const resultColumns = [
  'refcheck_state',
  'refcheck_request_id',
  'refcheck_status',
  'refcheck_error',
  ...externalResultColumns,
] as const

/** Undefined where nothing tells whom it was for: of a removed person there are no digests. */
export interface ResultsRow extends Omit<ExternalResult, 'person' | 'shares'> {
  digests: PersonDigests | undefined
  /** Where it stands in a store. */
  batchId: string | undefined
  row: number | undefined
}

/** Whose batch a row is of. */
export interface ResultsOf {
  account?: string | undefined
}

export function resultCells(row: BatchRow, of: ResultsOf): Cell[] {
  const { state, request_id, error } = listedRow(row)
  return [state, request_id ?? '', row.requestStatus ?? '', error ?? '', ...externalResultCells(row, of)]
}

/** The cells of `externalResultColumns`. */
export function externalResultCells(row: BatchRow, { account = '' }: ResultsOf): string[] {
  const { recipient, matches, packageId } = row
  const at = row.attemptedAt ?? matches?.orderedAt
  const digests = recipient && personDigests(recipient)
  return [
    at === undefined ? '' : new Date(at).toISOString(),
    account,
    serviceOf(row.baseUrl),
    packageId === undefined ? '' : String(packageId),
    row.batchId,
    String(row.row),
    digests?.name ?? '',
    digests?.email ?? '',
    digests?.phone ?? '',
  ]
}

/** Where our columns stand in a table; undefined where it has none that could tell of an order. */
export function resultsReader(
  columns: readonly string[],
):
  | ((cells: readonly Cell[], position: Pick<ExternalResult, 'file' | 'line'>) => ResultsRow | undefined)
  | undefined {
  const names = columns.map((column) => column.trim())
  const at = (name: (typeof resultColumns)[number]): number => names.indexOf(name)
  if (at('refcheck_state') === -1 && at('refcheck_request_id') === -1) return undefined
  return (cells, position) => {
    const text = (name: (typeof resultColumns)[number]): string => textOf(cells[at(name)] ?? '').trim()
    const id = uuid.safeParse(text('refcheck_request_id'))
    const requestId = id.success ? id.data.toLowerCase() : undefined
    // A row with a request whose state was cleared in the file was ordered all the same.
    const state =
      submissionStates.find((each) => each === text('refcheck_state')) ??
      (requestId === undefined ? undefined : ('accepted' satisfies SubmissionState))
    if (state === undefined) return undefined
    return {
      ...position,
      state,
      requestId,
      requestStatus: text('refcheck_status') || undefined,
      account: text('refcheck_account'),
      baseUrl: urlIn(text('refcheck_service')),
      packageId: wholeNumber(text('refcheck_package_id')),
      at: momentIn(text('refcheck_ordered_at')),
      batchId: text('refcheck_batch_id') || undefined,
      row: wholeNumber(text('refcheck_row')),
      digests: digestsIn([
        text('refcheck_name_digest'),
        text('refcheck_email_digest'),
        text('refcheck_phone_digest'),
      ]),
    }
  }
}

function digestsIn([name = '', email = '', phone = '']: readonly string[]): PersonDigests | undefined {
  const sound = [name, email, phone].every((each) => /^x[0-9a-f]{32}$/.test(each))
  return sound ? { name, email, phone } : undefined
}

function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
}

function momentIn(text: string): number | undefined {
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

function urlIn(text: string): string | undefined {
  return URL.canParse(text) ? text : undefined
}
