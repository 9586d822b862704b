import type { Recipient } from '../../contract/request.ts'
import type { SubmissionState } from './states.ts'

/** A submission as it was read. A change is made only while it is still in this state. */
export interface RowVersion {
  batchId: string
  /** Counts the rows of the batch from 1. */
  row: number
  state: SubmissionState
  /** The last attempt's; undefined before the first. */
  attemptId: string | undefined
}

export type RowId = Pick<RowVersion, 'batchId' | 'row'>

/** One order in its present state. Times are milliseconds of wall time since the epoch. */
export interface Submission extends RowVersion {
  /** The service it was or will be sent to; no trailing slash. */
  baseUrl: string
  /** The user it is attributed to: the last attempt's, or the batch's before the first. */
  userEmail: string
  packageId: number
  /** Undefined once the person was erased. */
  recipient: Recipient | undefined
  attempts: number
  addedAt: number
  attemptedAt: number | undefined
  /** When it came into its state. */
  changedAt: number
  requestId: string | undefined
  /** The request's overall status as last read, and when that was. */
  requestStatus: string | undefined
  requestStatusAt: number | undefined
  /** Its checks as last read, unless the status has changed since: see domain/request/listed-request.ts. */
  checks: string | undefined
  /** When a person first looked at the finished request. */
  acknowledgedAt?: number | undefined
  /** An id that came with an answer that is no proof by itself. */
  offeredId: string | undefined
  /** Why it is not accepted (yet), and the field the service named. */
  reason: string | undefined
  field: string | undefined
}

/** An order of which only what is given is known. */
export function orderWith(
  known: Pick<Submission, 'batchId' | 'row' | 'state' | 'baseUrl' | 'packageId' | 'addedAt'> &
    Partial<Submission>,
): Submission {
  return {
    attemptId: undefined,
    userEmail: '',
    recipient: undefined,
    attempts: 0,
    attemptedAt: undefined,
    changedAt: known.addedAt,
    requestId: undefined,
    requestStatus: undefined,
    requestStatusAt: undefined,
    checks: undefined,
    offeredId: undefined,
    reason: undefined,
    field: undefined,
    ...known,
  }
}

interface NewSubmission {
  packageId: number
  recipient: Recipient
  /** What will be sent, to the byte. */
  body: Uint8Array
}

/** `single` is a batch of one that lives no longer than the process that added it. */
export type BatchKind = 'single' | 'file'

export interface BatchRef {
  /** A UUID, never used twice. */
  id: string
  kind: BatchKind
}

export interface NewBatch extends BatchRef {
  addedAt: number
  baseUrl: string
  userEmail: string
  /** The account of these people; '' where none was named. */
  account?: string | undefined
  submissions: readonly NewSubmission[]
}

export interface NewAttempt {
  /** A fresh UUID. */
  attemptId: string
  /** Wall time. */
  at: number
  /** The same moment on this process's clock that never goes back. */
  monotonic: number
  /** The user the call is made as. */
  userEmail: string
}

/** An attempt that is journaled: what may now be sent, once. */
export interface Attempt extends RowVersion {
  state: 'sending'
  attemptId: string
  at: number
  monotonic: number
  /** The bytes as the ledger keeps them, checked against their hash. */
  body: Uint8Array
}

/** Every condition that is given must hold. */
export interface SubmissionFilter {
  batchId?: string | undefined
  states?: readonly SubmissionState[] | undefined
  requestId?: string | undefined
  /** The first characters of one, of hexadecimal digits and hyphens. */
  requestStart?: string | undefined
  /** Compared without regard to ASCII case. */
  email?: string | undefined
  /** '' for orders without one. */
  account?: string | undefined
  /** Attempted (or added, before the first attempt) at this wall time or later. */
  since?: number | undefined
  /** Whose request, as last read, is in progress. */
  unfinished?: boolean | undefined
}
