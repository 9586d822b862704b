import { orderWith, type Submission } from './submission.ts'

/** A request that an event names and that no row of the store ordered. */
export interface UnmatchedRequest {
  /** As `serviceOf` has it. */
  service: string
  requestId: string
  /** Wall time of the service. */
  createdAt: number
  packageId: number
  status: string
}

/** The row number of such a request: rows count from 1, and its batch is the request itself. */
export const unmatchedRow = 0

/** Whether what a row matches is such a request, and no row of a batch. */
export const isUnmatched = ({ row }: Pick<Submission, 'row'>): boolean => row === unmatchedRow

/** The order that it is, as the store would have it: of its person the keyed fingerprints alone are known. */
export function unmatchedOrder({
  service,
  requestId,
  createdAt,
  packageId,
  status,
}: UnmatchedRequest): Submission {
  return orderWith({
    batchId: requestId,
    row: unmatchedRow,
    state: 'accepted',
    baseUrl: service,
    packageId,
    addedAt: createdAt,
    attemptedAt: createdAt,
    requestId,
    requestStatus: status,
  })
}

/** A possible second order, for people to look at: the order of this store resembles a request that it did not make. */
export interface SecondOrder {
  requestId: string
  createdAt: string
  order: { requestId: string; batchId: string; row: number }
}

/** Requests that no row ordered are read at most so often in `readsMs`. */
const maxReads = 10
export const readsMs = 60 * 60_000

/**
 * The ids that may be read now, the first ones first. `known`: in lower case, those that were read, or that this user
 * cannot read; `reads`: how many were read in the last hour.
 */
export function idsToRead(
  ids: Iterable<string>,
  { known, reads }: { known: ReadonlySet<string>; reads: number },
): string[] {
  const unread = [...new Set([...ids].map((id) => id.toLowerCase()))].filter((id) => !known.has(id))
  return unread.slice(0, Math.max(0, maxReads - reads))
}
