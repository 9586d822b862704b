import type { Recipient } from '../../contract/request.ts'
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
