import { orderWith, type Submission } from './submission.ts'

/** A request that an event names and that no row of the store ordered. */
export interface UnmatchedRequest {
  /** The service, as `serviceOf` returns it. */
  service: string
  requestId: string
  /** Wall time of the service, in ms. */
  createdAt: number
  packageId: number
  status: string
}

/** The row number of an unmatched request, whose batch id is its request id. Rows of batches count from 1. */
export const unmatchedRow = 0

/** Whether a conflicting order is an unmatched request and not a row of a batch. */
export const isUnmatched = ({ row }: Pick<Submission, 'row'>): boolean => row === unmatchedRow

/** Returns an unmatched request as an order. Only the keyed fingerprints of its person are known. */
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

/**
 * A possible duplicate that a user should look at: an order of this store resembles a request that the store did not
 * make.
 */
export interface SecondOrder {
  requestId: string
  createdAt: string
  order: { requestId: string; batchId: string; row: number }
}

/** Warns about requests that events name and that were not read, so that no order can be compared with them. */
export function unreadText(count: number): string {
  const [requests, people, them] =
    count === 1
      ? ['1 request that webhook events name was', 'its person', 'it']
      : [`${count} requests that webhook events name were`, 'their people', 'them']
  return `${requests} not ordered with this store and not read yet, so that ${people} can be ordered a second time. Read ${them} (at most ${maxReads} in an hour) with: refcheck batch reconcile`
}

/** The maximum number of unmatched requests that are read within `readWindowMs`. */
const maxReads = 30
export const readWindowMs = 60 * 60_000

/**
 * Returns the ids that may be read now, in the given order. `known`: lower-case ids that were read, or that this user
 * cannot read; `recentReadCount`: the number of reads in the last hour.
 */
export function idsToRead(
  ids: Iterable<string>,
  { known, reads: recentReadCount }: { known: ReadonlySet<string>; reads: number },
): string[] {
  const unread = [...new Set([...ids].map((id) => id.toLowerCase()))].filter((id) => !known.has(id))
  return unread.slice(0, Math.max(0, maxReads - recentReadCount))
}
