import type { Recipient } from '../../contract/request.ts'
import { type ExternalResult, namesOrder, resultsBatch } from './external-results.ts'
import type { SharedDetail } from './similarity.ts'
import type { SubmissionState } from './states.ts'

/**
 * A submission and the state in which it was read. A change is made only if the submission is still in this state.
 */
export interface RowVersion {
  batchId: string
  /** The number of the row in its batch, from 1. */
  row: number
  state: SubmissionState
  /** The id of the last attempt; undefined before the first. */
  attemptId: string | undefined
}

export type RowId = Pick<RowVersion, 'batchId' | 'row'>

/** One order in its current state. Times are milliseconds of wall time since the epoch. */
export interface Submission extends RowVersion {
  /** The service that the order was or will be sent to; no trailing slash. */
  baseUrl: string
  /** The user to whom the order is attributed: of the last attempt, or of the batch before the first attempt. */
  userEmail: string
  packageId: number
  /** Undefined once the person was erased. */
  recipient: Recipient | undefined
  attempts: number
  addedAt: number
  attemptedAt: number | undefined
  /** When the state was last changed. */
  changedAt: number
  requestId: string | undefined
  /** The request's overall status when it was last read, and the time of that read. */
  requestStatus: string | undefined
  requestStatusAt: number | undefined
  /**
   * The request's checks when they were last read; undefined if the status has changed since (see
   * domain/request/listed-request.ts).
   */
  checks: string | undefined
  /** When a user first looked at the finished request. */
  acknowledgedAt?: number | undefined
  /** The request id that a failed answer named; it does not prove that this order created the request. */
  offeredId: string | undefined
  /** Why the order is not accepted (yet), and the field that the service named. */
  reason: string | undefined
  field: string | undefined
}

/** Returns an order with the given fields; all others are empty. */
export function orderWith(
  fields: Pick<Submission, 'batchId' | 'row' | 'state' | 'baseUrl' | 'packageId' | 'addedAt'> &
    Partial<Submission>,
): Submission {
  return {
    attemptId: undefined,
    userEmail: '',
    recipient: undefined,
    attempts: 0,
    attemptedAt: undefined,
    changedAt: fields.addedAt,
    requestId: undefined,
    requestStatus: undefined,
    requestStatusAt: undefined,
    checks: undefined,
    offeredId: undefined,
    reason: undefined,
    field: undefined,
    ...fields,
  }
}

interface NewSubmission {
  packageId: number
  recipient: Recipient
  /** The exact bytes that will be sent. */
  body: Uint8Array
  /** The external results about the person. They are set when the order is compared. */
  externalResults?: readonly ExternalResult[] | undefined
}

/** `single` is a batch of one order, which does not outlive the process that added it. */
export type BatchKind = 'single' | 'file'

export interface BatchRef {
  /** A UUID that is never used again. */
  id: string
  kind: BatchKind
}

export interface NewBatch extends BatchRef {
  addedAt: number
  baseUrl: string
  userEmail: string
  /** The account of the orders; '' without one. */
  account?: string | undefined
  submissions: readonly NewSubmission[]
}

export interface NewAttempt {
  /** A fresh UUID. */
  attemptId: string
  /** Wall time in ms. */
  at: number
  /** The time of the attempt on the monotonic clock of this process, in ms. */
  monotonic: number
  /** The user whose e-mail is sent with the call. */
  userEmail: string
}

/** An attempt that is recorded in the journal, so that its request may be sent once. */
export interface Attempt extends RowVersion {
  state: 'sending'
  attemptId: string
  at: number
  monotonic: number
  /** The bytes as they are stored, checked against their hash. */
  body: Uint8Array
}

/** Filters submissions by all given conditions. */
export interface SubmissionFilter {
  batchId?: string | undefined
  states?: readonly SubmissionState[] | undefined
  requestId?: string | undefined
  /** The first characters of a request id: hexadecimal digits and hyphens. */
  requestStart?: string | undefined
  /** Compared without regard to ASCII case. */
  email?: string | undefined
  /** The account; '' for orders without one. */
  account?: string | undefined
  /** Only orders attempted (or added, if there was no attempt) at this wall time or later. */
  since?: number | undefined
  /** Only orders whose request was in progress when it was last read. */
  unfinished?: boolean | undefined
}

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
 * Returns the order that a results file names, as an order of the store. `number`: the position of the external
 * result, from 1.
 */
export function orderOfResult(
  externalResult: ExternalResult,
  number: number,
  row: { baseUrl: string; packageId: number; addedAt: number },
): Submission {
  const { requestId, requestStatus, at = row.addedAt } = externalResult
  return orderWith({
    batchId: resultsBatch,
    row: number,
    // A duplicate without a request repeats an order whose outcome was unknown.
    state: namesOrder(externalResult)
      ? 'accepted'
      : externalResult.state === 'pending'
        ? 'pending'
        : 'unknown',
    baseUrl: externalResult.baseUrl ?? row.baseUrl,
    packageId: externalResult.packageId ?? row.packageId,
    attempts: 1,
    addedAt: at,
    attemptedAt: externalResult.at,
    requestId,
    requestStatus,
  })
}

/**
 * A possible duplicate that a user should look at: an order of this store is for the same or a similar person as a request
 * that the store did not make, and for the same package or one that counts as the same.
 */
export interface SecondOrder {
  requestId: string
  createdAt: string
  packageId: number
  /** What a similar person has in common with the person of the request; empty for the same person. */
  shares: SharedDetail[]
  order: { requestId: string; batchId: string; row: number; packageId: number }
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
 * The last read of a request: `reader` is empty if it was found, and `createdAt` is then when it was created. Otherwise
 * `createdAt` is when its event was received.
 */
export interface RequestRead {
  requestId: string
  reader: string
  readAt: number
  createdAt: number
}

/**
 * Whether a request needs no further read. A request that was not found is read again until its event is an hour old,
 * because a service may send the event before all of its servers have the request.
 */
export const isFinalRead = ({ reader, readAt, createdAt }: RequestRead): boolean =>
  reader === '' || readAt - createdAt >= readWindowMs

/**
 * Returns the ids that may be read now: in the given order those that were not read, then those that were not found and
 * whose last read is so long ago that the age of the event has doubled. `recentReadCount`: the number of requests that
 * were read in the last hour.
 */
export function idsToRead(
  ids: readonly string[],
  { reads, recentReadCount, now }: { reads: readonly RequestRead[]; recentReadCount: number; now: number },
): string[] {
  const final = new Set(reads.filter(isFinalRead).map(({ requestId }) => requestId))
  const readsById = new Map(reads.map((read) => [read.requestId, read]))
  const isDue = (id: string): boolean => {
    const read = readsById.get(id)
    return read === undefined || now - read.readAt >= read.readAt - read.createdAt
  }
  const lastReadAt = (id: string): number => readsById.get(id)?.readAt ?? 0
  return ids
    .filter((id) => !final.has(id) && isDue(id))
    .toSorted((one, other) => lastReadAt(one) - lastReadAt(other))
    .slice(0, Math.max(0, maxReads - recentReadCount))
}

/**
 * Whether the row's person was not erased: reports of erased people are not downloaded again. A row that was
 * recovered from the attempt log without its person has no `recipient` either, but it has a `reason`.
 */
export function hasPerson({ recipient, reason }: Submission): boolean {
  return recipient !== undefined || reason !== undefined
}
