import {
  type Batch,
  type BatchCounts,
  type BatchRow,
  type Halt,
  type Match,
  noCounts,
} from '../../domain/batch/batch.ts'
import { type SubmissionState, submissionStates } from '../../domain/submission/states.ts'
import type { BatchKind } from '../../domain/submission/submission.ts'
import type { StopReason } from '../../domain/submission/match.ts'
import { resultsBatch, witnessedOrder } from '../../domain/submission/witness.ts'
import { sharesOf, witnessesOf } from './match-rows.ts'
import { submissionOf } from './submission-rows.ts'

/** What was or will be sent for a row, to the byte. */
export interface RowBody {
  row: number
  packageId: number
  body: Uint8Array
}

/** A row of `batches`, with its counts, as `selectBatches` gives it. */
export type SelectedBatch = {
  id: string
  kind: BatchKind
  base_url: string
  user_email: string
  added_at: number
  name: string | null
  sha256: string | null
  package_id: number | null
  first_package: number | null
  path: string | null
  results_file: string | null
  reading: string | null
  allow_duplicate: number
  account: string
  allow_similar: number
  shared: string
  halted_at: number | null
  halt_code: string | null
  halt_message: string | null
  halt_hint: string | null
  queued_at: number | null
} & Record<`n_${SubmissionState}`, number> &
  Record<`changed_${SubmissionState}`, number | null>

/** STRICT tables hold the types that the columns promise. */
export function batchOf(row: SelectedBatch, holder: Batch['holder']): Batch {
  const counts = noCounts()
  for (const state of submissionStates) {
    counts[state] = row[`n_${state}`]
    counts.total += counts[state]
  }
  const isFile = row.kind === 'file'
  return {
    id: row.id,
    kind: row.kind,
    addedAt: row.added_at,
    baseUrl: row.base_url,
    userEmail: row.user_email,
    name: row.name ?? (isFile ? 'a file' : 'request create'),
    sha256: row.sha256 ?? '',
    packageId: (isFile ? row.package_id : row.first_package) ?? undefined,
    path: row.path ?? undefined,
    resultsFile: row.results_file ?? undefined,
    reading: row.reading ?? '{}',
    account: row.account,
    allowDuplicate: row.allow_duplicate === 1,
    allowSimilar: row.allow_similar === 1,
    shared: JSON.parse(row.shared) as string[],
    counts,
    halt:
      row.halted_at === null
        ? undefined
        : {
            at: row.halted_at,
            code: row.halt_code ?? '',
            message: row.halt_message ?? '',
            hint: row.halt_hint ?? undefined,
          },
    queuedAt: row.queued_at ?? undefined,
    changedAt: Math.max(row.added_at, ...submissionStates.map((state) => row[`changed_${state}`] ?? 0)),
    holder,
  }
}

/** A row as `selectRows` gives it. */
export function batchRowOf(selected: unknown): BatchRow {
  const row = selected as {
    package_id: number | null
    email: string | null
    matches_batch: string | null
    matches_row: number | null
    matches_request: string | null
    matches_state: SubmissionState | null
    matches_package: number | null
    matches_at: number | null
    held_for: StopReason | null
    shares: string | null
    witnesses: string | null
  }
  const { matches_batch, matches_row, matches_request } = row
  const submission = submissionOf(selected)
  return {
    ...submission,
    packageId: row.package_id ?? undefined,
    email: row.email ?? undefined,
    matches:
      matches_batch === null || matches_row === null
        ? undefined
        : matches_batch === resultsBatch
          ? toldMatch(row.witnesses, matches_row, submission)
          : {
              batchId: matches_batch,
              row: matches_row,
              requestId: matches_request ?? undefined,
              state: row.matches_state ?? undefined,
              packageId: row.matches_package ?? undefined,
              orderedAt: row.matches_at ?? undefined,
            },
    heldFor: row.held_for ?? undefined,
    shares: sharesOf(row.shares),
  }
}

/** An order that a results file alone tells of. */
function toldMatch(
  witnesses: string | null,
  number: number,
  row: Pick<BatchRow, 'baseUrl' | 'addedAt'> & { packageId: number },
): Match | undefined {
  const witness = witnessesOf(witnesses)?.[number - 1]
  if (witness === undefined) return undefined
  const { requestId, state, packageId, attemptedAt } = witnessedOrder(witness, number, row)
  const { file, line } = witness
  return {
    batchId: resultsBatch,
    row: number,
    requestId,
    state,
    packageId,
    orderedAt: attemptedAt,
    told: { file, line },
  }
}

/** What was or will be sent for a row, as `selectBodies` gives it; undefined where nothing is. */
export function bodyOf(selected: unknown): RowBody | undefined {
  const { row_number, package_id, body } = selected as {
    row_number: number
    package_id: number | null
    body: Uint8Array | null
  }
  return body === null || package_id === null ? undefined : { row: row_number, packageId: package_id, body }
}

/** Rows by state, as `selectCounts` gives them. */
export function countsOf(selected: readonly unknown[]): BatchCounts {
  const counts = noCounts()
  for (const each of selected) {
    const { state, count } = each as { state: SubmissionState; count: number }
    counts[state] = count
    counts.total += count
  }
  return counts
}

/** Why a batch stands still, as its columns have it. */
export function haltColumns(halt: Halt | undefined) {
  return {
    at: halt?.at ?? null,
    code: halt?.code ?? null,
    message: halt?.message ?? null,
    hint: halt?.hint ?? null,
  }
}
