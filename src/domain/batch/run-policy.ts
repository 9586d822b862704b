import {
  type RefcheckError,
  IncompleteError,
  OutcomeUnknownError,
  ThrottledError,
  UsageError,
} from '../../errors/kinds.ts'
import type { Outcome } from '../submission/outcome.ts'
import { quotaExceededError } from '../quota/windows.ts'
import type { SubmissionState } from '../submission/states.ts'
import type { Submission, SecondOrder } from '../submission/submission.ts'
import type { Recipient } from '../../contract/request.ts'
import type { BatchCounts, Batch } from './batch.ts'
import { serviceOf } from '../submission/identity.ts'
import type { SheetAppearance } from '../sheet/appearance.ts'
import type { Reconciliation } from './reconciliation.ts'

const maxConsecutiveUnknown = 3
const maxEqualRejections = 5

/** The results of the rows of a run that affect the next row. */
export interface RunCounters {
  /** The number of orders that were sent. Throttled orders, and orders of which no byte was sent, do not count. */
  readonly sent: number
  readonly consecutiveUnknowns: number
  readonly consecutiveUnsent: number
  /** The latest rejections in succession with the same message. */
  readonly rejections: { readonly message: string; readonly count: number }
  /** Milliseconds that the run waited for 429s, the quota and an unreachable service. */
  readonly waitedMs: number
}

export const initialCounters: RunCounters = {
  sent: 0,
  consecutiveUnknowns: 0,
  consecutiveUnsent: 0,
  rejections: { message: '', count: 0 },
  waitedMs: 0,
}

/** The action of a run before its next row. */
export type Step =
  | { kind: 'continue' }
  /** A single order has its response, so the run ends. */
  | { kind: 'end' }
  | { kind: 'halt'; error: RefcheckError }
  /** Nothing was created. The same row is sent again after `waitMs`. */
  | { kind: 'wait'; waitMs: number }
  /**
   * Ask the service for the packages (`checkPackage`) or the schema (`checkSchema`) to find the cause of rejections. If
   * they do not explain it, continue with `otherwise`.
   */
  | { kind: 'find common error'; checkPackage: boolean; checkSchema: boolean; otherwise: Step }
  /**
   * "Nothing more is sent until a ping and a read answer well" (src/docs/ordering.md, section 2). Then the run
   * continues with `afterwards`.
   */
  | { kind: 'check health'; afterwards: Step }

interface NextStep {
  counters: RunCounters
  step: Step
}

interface StepOptions extends Pick<RunLimits, 'waitBudgetMs' | 'isSingle'> {
  /** A random number in [0, 1), for the delay after an order that was not sent (`backoffMs`). */
  fraction: number
}

const continueStep: Step = { kind: 'continue' }

/** Returns the step after an outcome that is recorded in the journal (src/docs/ordering.md, section 2). */
export function nextStep(previous: RunCounters, outcome: Outcome, options: StepOptions): NextStep {
  const isSent = outcome.kind !== 'throttled' && outcome.kind !== 'unsent'
  const isAnswered = outcome.kind === 'accepted' || outcome.kind === 'rejected'
  const counters: RunCounters = {
    ...previous,
    sent: isSent ? previous.sent + 1 : previous.sent,
    consecutiveUnsent: outcome.kind === 'unsent' ? previous.consecutiveUnsent + 1 : 0,
    consecutiveUnknowns: isAnswered ? 0 : previous.consecutiveUnknowns,
  }
  if (options.isSingle === true && isSent) return { counters, step: { kind: 'end' } }
  switch (outcome.kind) {
    case 'accepted':
      return {
        counters: { ...counters, rejections: initialCounters.rejections },
        step: outcome.haltError === undefined ? continueStep : { kind: 'halt', error: outcome.haltError },
      }
    case 'rejected':
      return afterRejected(counters, outcome.error)
    case 'halted':
      return { counters, step: { kind: 'halt', error: outcome.error } }
    case 'unknown':
      return afterUnknown(counters, outcome)
    case 'throttled':
      return waitOrHalt(counters, outcome.seconds * 1000, outcome.error, options)
    case 'unsent':
      return waitOrHalt(
        counters,
        backoffMs(counters.consecutiveUnsent, options.fraction),
        outcome.error,
        options,
      )
  }
}

/** Returns the step of a run whose next call the quota delays by `waitMs`. */
export function waitForQuota(
  counters: RunCounters,
  waitMs: number,
  options: Pick<RunLimits, 'waitBudgetMs' | 'isSingle'>,
): NextStep {
  const error = options.isSingle === true ? quotaExceededError(waitMs) : quotaUsedUpError(waitMs)
  return waitOrHalt(counters, waitMs, error, options)
}

/** A single cause must not reject thousands of rows. */
function afterRejected(previous: RunCounters, error: RefcheckError): NextStep {
  const { message, count } = previous.rejections
  const rejections = { message: error.message, count: message === error.message ? count + 1 : 1 }
  const isPackageError = isAboutPackage(error)
  const isSchemaError = error.field?.startsWith('additional_information') === true
  const equalRejectionsHalt =
    rejections.count >= maxEqualRejections ? equalRejectionsError(error, maxEqualRejections) : undefined
  // Without the package every next row would fail too, even if the list of packages still contains it.
  const halt = equalRejectionsHalt ?? (isPackageError ? error : undefined)
  const fallback: Step = halt === undefined ? continueStep : { kind: 'halt', error: halt }
  const step: Step =
    isPackageError || isSchemaError
      ? {
          kind: 'find common error',
          checkPackage: isPackageError,
          checkSchema: isSchemaError,
          otherwise: fallback,
        }
      : fallback
  return { counters: { ...previous, rejections }, step }
}

function afterUnknown(previous: RunCounters, outcome: Extract<Outcome, { kind: 'unknown' }>): NextStep {
  if (outcome.mustHalt === true && outcome.error !== undefined)
    return { counters: previous, step: { kind: 'halt', error: outcome.error } }
  const unknownsInARow = previous.consecutiveUnknowns + 1
  const afterwards: Step =
    unknownsInARow < maxConsecutiveUnknown
      ? continueStep
      : { kind: 'halt', error: manyUnknownError(outcome.reason, maxConsecutiveUnknown) }
  return {
    counters: { ...previous, consecutiveUnknowns: unknownsInARow },
    step: { kind: 'check health', afterwards },
  }
}

function waitOrHalt(
  previous: RunCounters,
  waitMs: number,
  error: RefcheckError,
  { waitBudgetMs }: Pick<RunLimits, 'waitBudgetMs'>,
): NextStep {
  const counters = { ...previous, waitedMs: previous.waitedMs + waitMs }
  const step: Step = counters.waitedMs > waitBudgetMs ? { kind: 'halt', error } : { kind: 'wait', waitMs }
  return { counters, step }
}

/**
 * Whether a refusal is about the package: "404 (package gone), and a 400 that says so of the package, halts"
 * (src/docs/ordering.md, section 2). All other rows would be refused too.
 */
export function isAboutPackage({ status, field, message }: RefcheckError): boolean {
  if (status === 404 || field === 'package_id') return true
  return status === 400 && field === undefined && /\bpackage\b/i.test(message)
}

export function equalRejectionsError(error: RefcheckError, times: number): IncompleteError {
  return new IncompleteError(
    `the service rejected ${times} rows in succession for the same reason: ${error.message}`,
    {
      status: error.status,
      field: error.field,
      hint: 'Fix the cause. The rows that were not sent are kept.',
      cause: error,
    },
  )
}

export function manyUnknownError(reason: string, times: number): OutcomeUnknownError {
  return new OutcomeUnknownError(
    `${times} rows in succession have an unknown outcome although the service answers a ping: ${reason}`,
    { hint: 'Ask the provider’s support about these orders before you continue.' },
  )
}

export function quotaUsedUpError(waitMs: number): ThrottledError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ThrottledError(`the quota is used up for the next ${seconds} s`, {
    retryAfter: seconds,
    hint: 'Wait, or leave out --timeout.',
  })
}

/** An event while orders are sent, for the display of progress. */
export type RunEvent =
  /** Orders of processes that ended during an attempt. Each becomes `unknown`. */
  | { name: 'recovered'; submissions: Submission[] }
  /**
   * Nothing was created, and the same order is sent again after `seconds`. `isStated` is false if a 429 had no valid
   * Retry-After and 60 seconds were assumed.
   */
  | { name: 'waiting'; cause: 'throttled'; seconds: number; isStated: boolean; reason: string }
  | { name: 'waiting'; cause: 'unreachable'; seconds: number; reason: string }
  /** This store has counted the whole quota as used. Nothing was sent yet. */
  | { name: 'paced'; seconds: number }
  /** A single order is sent again. `attempt` counts from 1. */
  | { name: 'retrying'; attempt: number }
  /** A failed response contained an id, and the request with this id is read. */
  | { name: 'reconciling'; requestId: string }
  /** A row of a file has a new state, which is stored. */
  | {
      name: 'row'
      row: number
      recipient?: Recipient | undefined
      state: SubmissionState
      reason: string | undefined
    }
  /** The health check failed. It is repeated after `seconds`, and nothing is sent before it succeeds. */
  | { name: 'outage'; reason: string; seconds: number }
  /** The health check succeeded, and the run continues. */
  | { name: 'well' }

export interface RunLimits {
  /** The maximum number of orders that this run sends. */
  maxOrders: number
  /** The number of the only row that may be sent; undefined if all pending rows may be sent. */
  onlyRow?: number | undefined
  /**
   * Maximal total milliseconds of waits for 429s or an unreachable service. After an unknown outcome, each wait for a
   * healthy service has this limit separately. Infinity means no limit.
   */
  waitBudgetMs: number
  /** Whether the run sends a single order, and ends with its first response. */
  isSingle?: boolean | undefined
  /** Whether a row had an unknown outcome before this run: then nothing is sent until a health check succeeds. */
  afterUnknown?: boolean | undefined
}

/** How a run ended. */
export type RunEnd =
  | { kind: 'done' }
  /** The maximal number of orders was sent. */
  | { kind: 'limited' }
  /** The user interrupted the run after the row in flight was finished. */
  | { kind: 'interrupted' }
  /** All other rows would fail too. They can be sent when the cause of `error` is fixed. */
  | { kind: 'halted'; error: RefcheckError }

/** The progress of a batch. */
export interface BatchProgress {
  counts: BatchCounts
  /** The number of rows with a result, of the rows that should be sent. */
  settled: number
  toSend: number
  /** Seconds until the last row has been sent (domain/quota/book.ts). */
  secondsLeft: number
}

/** Returns the progress, counted as the user sees it. */
export function progressOf(counts: BatchCounts, secondsLeft: number): BatchProgress {
  const toSend = counts.total - counts.invalid - counts.duplicate - counts.cancelled
  return { counts, settled: toSend - counts.pending - counts.sending, toSend, secondsLeft }
}

/** How long a queued batch waits after a halt, by the error code. After any other code, the user has to act. */
const retryDelayMs: Readonly<Record<string, number>> = {
  throttled: 60_000,
  unavailable: 60_000,
  io: 60_000,
  unauthenticated: 900_000,
  forbidden: 900_000,
}

/** Unknown rows are reconciled by events, so a worker tries this at this interval. */
const reconcileIntervalMs = 600_000

type QueuedStep =
  | { kind: 'run' }
  /** Nothing is left that a worker can do. */
  | { kind: 'done' }
  /** The batch is not run before this time. */
  | { kind: 'rest'; untilMs: number }
  /** The user has to act first. */
  | { kind: 'wait' }

/**
 * Returns what a worker does with a queued batch. `lastRunAt` is when this worker last ran it, by the same clock as
 * `now`.
 */
export function nextQueuedStep(batch: Batch, now: number, lastRunAt: number | undefined): QueuedStep {
  const { pending, sending, unknown, dropped, held } = batch.counts
  const unsettled = pending + sending + unknown + dropped
  // A held row becomes pending when it is released.
  if (unsettled === 0) return { kind: held === 0 ? 'done' : 'wait' }
  const delayMs = batch.halt === undefined ? 0 : retryDelayMs[batch.halt.code]
  if (delayMs === undefined) return { kind: 'wait' }
  const afterHaltMs = batch.halt === undefined ? 0 : batch.halt.at + delayMs
  const nextReconcileMs = pending === 0 && lastRunAt !== undefined ? lastRunAt + reconcileIntervalMs : 0
  const untilMs = Math.max(afterHaltMs, nextReconcileMs)
  return now < untilMs ? { kind: 'rest', untilMs } : { kind: 'run' }
}

/** A profile that can order, and the account that it orders for. */
export interface OrderingProfile {
  name: string
  baseUrl: string
  email: string
  account: string
}

/**
 * Returns the profile for a batch or request: one of the same service and, if it is known, account. A profile of the
 * user who started it comes first.
 */
export function findOrderingProfile<T extends OrderingProfile>(
  { baseUrl, userEmail, account }: { baseUrl: string; userEmail: string; account?: string | undefined },
  profiles: readonly T[],
): T | undefined {
  const sameService = profiles.filter(
    (each) =>
      serviceOf(each.baseUrl) === serviceOf(baseUrl) && (account === undefined || each.account === account),
  )
  return sameService.find(({ email }) => email.toLowerCase() === userEmail.toLowerCase()) ?? sameService[0]
}

/** Evidence that an API key belongs to the organisation of a batch, found before the batch continues. */
export type OrganisationEvidence =
  /** Whether the key can read one of the accepted requests of the batch. */
  | { by: 'request'; isReadable: boolean }
  /** No request was accepted yet. These are the users of the organisation of the key. */
  | { by: 'users'; emails: readonly string[] }

/**
 * Whether a person has to confirm that a batch continues with this key. "A batch goes on under another key or user only
 * when that key can read one of the batch's accepted requests, or, where there is none, when the user who began it is
 * among the key's users; with neither a person confirms" (src/docs/ordering.md, section 3). Throws UsageError if the
 * batch belongs to another organisation.
 */
export function requiresConfirmation(
  { id, userEmail }: Pick<Batch, 'id' | 'userEmail'>,
  evidence: OrganisationEvidence,
): boolean {
  if (evidence.by === 'users') {
    return !evidence.emails.some((each) => each.toLowerCase() === userEmail.toLowerCase())
  }
  if (evidence.isReadable) return false
  throw new UsageError(
    `this API key cannot read what batch ${id} has ordered, so it is another organisation’s`,
    {
      hint: `Nothing was sent. Choose the profile that the batch was begun with (as ${userEmail}): --profile NAME`,
    },
  )
}

/** Returns the question about a batch that was started by a user who is not in the organisation of the key. */
export function starterQuestion(id: string, startedAs: string, currentUser: string): string {
  return `Batch ${id} was begun as ${startedAs}, who is no user of this API key’s organisation. Have they left it, and are its rows to be ordered as ${currentUser}?`
}

/** Returns the error if there is no terminal to confirm on, or the user did not confirm. */
export function notConfirmedError({ id, userEmail }: Pick<Batch, 'id' | 'userEmail'>): UsageError {
  return new UsageError(
    `batch ${id} was begun as ${userEmail}, who is no user of this API key’s organisation`,
    {
      hint: `Nothing was sent. If that user has left the organisation, confirm it on a terminal: refcheck batch resume ${id}. Else choose the profile it was begun with: --profile NAME`,
    },
  )
}

/** An event to report while a file is read and ordered, and while its results are written. */
export type BatchEvent =
  /** How the file was read is saved under the name `mapping` (--save-mapping). */
  | { name: 'mapping-kept'; mapping: string }
  /** The columns that the user confirmed are saved for files with the same header. */
  | { name: 'columns-saved' }
  /** The columns that the user confirmed for an earlier file are used; `text` describes them. */
  | { name: 'columns-agreed-before'; text: string }
  /** No results file can be written to this folder. */
  | { name: 'no-results-folder'; folder: string }
  /** --allow-duplicate was given for a file that is a batch already. */
  | { name: 'duplicates-too-late'; batchId: string }
  /** --allow-similar or --shared was given for a file that is a batch already. */
  | { name: 'similar-too-late'; batchId: string; held: number }
  /** Another user, `now`, continues the batch: its next orders count for the organisation of that user. */
  | { name: 'other-user'; startedAs: string; now: string }
  | { name: 'reconciled'; found: Reconciliation }
  /** The file of people has changed, so no results file is written. */
  | { name: 'file-changed'; file: string; batchId: string }
  /** `batchId` is set if `batch export` can write the results instead. */
  | { name: 'results-unwritten'; why: string; batchId: string | undefined }
  /** The written workbook lacks parts of the user's workbook. */
  | { name: 'formatting-lost'; file: string; appearance: Pick<SheetAppearance, 'lost' | 'otherSheets'> }
  /** Rows that were hidden or struck through, and are not in the written file. */
  | { name: 'rows-left-out'; file: string; rows: number }
  /** The user is asked to confirm that a row with an unknown outcome is sent again; `who` describes the row. */
  | { name: 'may-order-again'; who: string }
  /** Requests that were not ordered with this store, for people who were ordered with it. */
  | { name: 'second-orders'; found: readonly SecondOrder[] }
  /** `count` requests that events name were not read, so that no row is compared with them. */
  | { name: 'unread-requests'; count: number }
  /** A results file next to the file of people could not be read. */
  | { name: 'results-unread'; file: string; why: string }
  /** Rows of a results file that are about other people than the present rows of the file. */
  | { name: 'results-of-others'; file: string; rows: number }

const firstBackoffMs = 500
const maxBackoffMs = 30_000

/**
 * Returns the milliseconds before an order that was not sent is tried again. `attempt` counts from 1, `fraction` is
 * in [0, 1): half of the time is fixed and half random, so that several processes do not retry at the same moment.
 */
export function backoffMs(attempt: number, fraction: number): number {
  const maxDelayMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (attempt - 1))
  return Math.round(maxDelayMs / 2 + (maxDelayMs / 2) * fraction)
}
