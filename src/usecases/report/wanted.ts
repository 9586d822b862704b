import { addressOf } from '../../domain/submission/identity.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { IncompleteError, NotFoundError } from '../../errors/kinds.ts'
import { requireSameService } from '../batch/same-organisation.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'

/** Statuses of requests that end without a report ("Request status"). */
const fruitless = new Set<string | undefined>(['CANCELLED', 'ERROR'])

/** The requests of a batch that the service took. Throws where there is no such batch here, or none of it was taken. */
export async function batchRequests(ledger: Ledger, batchId: string, baseUrl: string): Promise<string[]> {
  const rows = await ledger.list({ batchId })
  const [first] = rows
  if (first === undefined) {
    throw new NotFoundError(`no batch ${batchId} in this store`, {
      hint: 'List the batches with: refcheck batch list',
    })
  }
  requireSameService({ id: batchId, baseUrl: first.baseUrl }, { baseUrl })
  const known = rows.filter(isKnown)
  const ids = requestIds(known)
  if (ids.length > 0) return ids
  if (known.length === 0) {
    throw new IncompleteError(`every person of batch ${batchId} was removed from the store`, {
      hint: 'A report can still be had by its check: refcheck report download CHECK_ID',
    })
  }
  throw new IncompleteError(`no row of batch ${batchId} has been accepted yet`, {
    hint: `See its progress with: refcheck batch status ${batchId}`,
  })
}

export interface WantedOfStore {
  baseUrl: string
  since?: number | undefined
  isOurs?: ((request: { baseUrl: string; userEmail: string }) => boolean) | undefined
}

/**
 * Requests of this service that the store knows and that may have reports: all but those last seen
 * CANCELLED or ERROR, which never change, and those of people who were removed.
 */
export async function requestsWithReports(
  ledger: Ledger,
  { baseUrl, since, isOurs }: WantedOfStore,
): Promise<string[]> {
  const service = addressOf(baseUrl)
  const rows = await ledger.list({ states: ['accepted'], since })
  return requestIds(
    rows.filter(
      (row) =>
        isKnown(row) &&
        isOurs?.(row) !== false &&
        addressOf(row.baseUrl) === service &&
        !fruitless.has(row.requestStatus),
    ),
  )
}

/** What was purged stays so: their reports are not fetched again. */
function isKnown({ recipient }: Submission): boolean {
  return recipient !== undefined
}

function requestIds(rows: readonly Submission[]): string[] {
  return [...new Set(rows.flatMap((row) => row.requestId ?? []))]
}
