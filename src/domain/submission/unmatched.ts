import type { Submission } from './submission.ts'

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

/** The row number that stands for such a request: rows count from 1, and its batch is the request itself. */
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
  return {
    batchId: requestId,
    row: unmatchedRow,
    state: 'accepted',
    attemptId: undefined,
    baseUrl: service,
    userEmail: '',
    packageId,
    recipient: undefined,
    attempts: 0,
    addedAt: createdAt,
    attemptedAt: createdAt,
    changedAt: createdAt,
    requestId,
    requestStatus: status,
    requestStatusAt: undefined,
    checks: undefined,
    offeredId: undefined,
    reason: undefined,
    field: undefined,
  }
}
