import {
  type RefcheckError,
  IncompleteError,
  OutcomeUnknownError,
  ThrottledError,
  UsageError,
} from '../../errors/kinds.ts'
import { backoffMs, type Outcome } from '../submission/outcome.ts'
import { quotaUsedUp } from '../quota/windows.ts'
import type { SubmissionState } from '../submission/states.ts'
import type { Submission } from '../submission/submission.ts'
import type { Recipient } from '../../contract/request.ts'
import type { BatchCounts, Batch } from './batch.ts'
import { serviceOf } from '../submission/identity.ts'
import type { SheetAppearance } from '../sheet/appearance.ts'
import type { Reconciliation } from './reconciliation.ts'
import type { SecondOrder } from '../submission/unmatched.ts'

const maxConsecutiveUnknown = 3
const maxEqualRefusals = 5

/** What has come of the rows of a run so far, as far as it bears on the next one. */
export interface RunCounters {
  /** Orders that went out: a throttled one, and one of which no byte left, did not. */
  readonly sent: number
  readonly unknownsInARow: number
  readonly unsentInARow: number
  readonly refusals: { readonly message: string; readonly inARow: number }
  /** Milliseconds spent on 429s, the quota and an unreachable service. */
  readonly waitedMs: number
}

export const initialCounters: RunCounters = {
  sent: 0,
  unknownsInARow: 0,
  unsentInARow: 0,
  refusals: { message: '', inARow: 0 },
  waitedMs: 0,
}

/** What a run does before its next row. */
export type Step =
  | { kind: 'go on' }
  /** A single order has its answer. */
  | { kind: 'end' }
  | { kind: 'halt'; error: RefcheckError }
  /** Nothing was created; the same row goes again after so long. */
  | { kind: 'wait'; waitMs: number }
  /** Ask the list of packages, or the schema, why; where they know nothing of it, `otherwise`. */
  | { kind: 'ask why'; package: boolean; schema: boolean; otherwise: Step }
  /** "Nothing more is sent until a ping and a read answer well" (src/docs/ordering.md, section 2), and then `afterwards`. */
  | { kind: 'ask whether it is well'; afterwards: Step }

interface NextStep {
  counters: RunCounters
  step: Step
}

interface StepOptions extends Pick<RunLimits, 'waitBudgetMs' | 'isSingle'> {
  /** Random, in [0, 1). */
  fraction: number
}

const goOn: Step = { kind: 'go on' }

/** What an outcome, which is journaled, means for the rows after it (src/docs/ordering.md, section 2). */
export function nextStep(before: RunCounters, outcome: Outcome, options: StepOptions): NextStep {
  const isSent = outcome.kind !== 'throttled' && outcome.kind !== 'unsent'
  const isAnswered = outcome.kind === 'accepted' || outcome.kind === 'rejected'
  const counters: RunCounters = {
    ...before,
    sent: isSent ? before.sent + 1 : before.sent,
    unsentInARow: outcome.kind === 'unsent' ? before.unsentInARow + 1 : 0,
    unknownsInARow: isAnswered ? 0 : before.unknownsInARow,
  }
  if (options.isSingle === true && isSent) return { counters, step: { kind: 'end' } }
  switch (outcome.kind) {
    case 'accepted':
      return {
        counters: { ...counters, refusals: initialCounters.refusals },
        step: outcome.halts === undefined ? goOn : { kind: 'halt', error: outcome.halts },
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
      return waitOrHalt(counters, backoffMs(counters.unsentInARow, options.fraction), outcome.error, options)
  }
}

/** What it means for a run that the quota has no place for `waitMs`. */
export function waitForQuota(
  counters: RunCounters,
  waitMs: number,
  options: Pick<RunLimits, 'waitBudgetMs' | 'isSingle'>,
): NextStep {
  const error = options.isSingle === true ? quotaUsedUp(waitMs) : usedUp(waitMs)
  return waitOrHalt(counters, waitMs, error, options)
}

/** One cause must not reject a thousand rows. */
function afterRejected(before: RunCounters, error: RefcheckError): NextStep {
  const { message, inARow } = before.refusals
  const refusals = { message: error.message, inARow: message === error.message ? inARow + 1 : 1 }
  const isPackage = isAboutPackage(error)
  const isSchema = error.field?.startsWith('additional_information') === true
  const equalRefusals =
    refusals.inARow >= maxEqualRefusals ? refusedForSameReason(error, maxEqualRefusals) : undefined
  // Without the package the next row would fail in the same way, whatever the list of packages contains.
  const halt = equalRefusals ?? (isPackage ? error : undefined)
  const otherwise: Step = halt === undefined ? goOn : { kind: 'halt', error: halt }
  const step: Step =
    isPackage || isSchema ? { kind: 'ask why', package: isPackage, schema: isSchema, otherwise } : otherwise
  return { counters: { ...before, refusals }, step }
}

function afterUnknown(before: RunCounters, outcome: Extract<Outcome, { kind: 'unknown' }>): NextStep {
  if (outcome.halts === true && outcome.error !== undefined)
    return { counters: before, step: { kind: 'halt', error: outcome.error } }
  const unknownsInARow = before.unknownsInARow + 1
  const afterwards: Step =
    unknownsInARow < maxConsecutiveUnknown
      ? goOn
      : { kind: 'halt', error: manyUnknown(outcome.reason, maxConsecutiveUnknown) }
  return {
    counters: { ...before, unknownsInARow },
    step: { kind: 'ask whether it is well', afterwards },
  }
}

function waitOrHalt(
  before: RunCounters,
  waitMs: number,
  error: RefcheckError,
  { waitBudgetMs }: Pick<RunLimits, 'waitBudgetMs'>,
): NextStep {
  const counters = { ...before, waitedMs: before.waitedMs + waitMs }
  const step: Step = counters.waitedMs > waitBudgetMs ? { kind: 'halt', error } : { kind: 'wait', waitMs }
  return { counters, step }
}

/** "404 (package gone), and a 400 that says so of the package, halts" (src/docs/ordering.md, section 2): any other row would fare the same. */
export function isAboutPackage({ status, field, message }: RefcheckError): boolean {
  if (status === 404 || field === 'package_id') return true
  return status === 400 && field === undefined && /\bpackage\b/i.test(message)
}

export function refusedForSameReason(error: RefcheckError, times: number): IncompleteError {
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

export function manyUnknown(reason: string, times: number): OutcomeUnknownError {
  return new OutcomeUnknownError(
    `${times} rows in succession have an unknown outcome although the service answers a ping: ${reason}`,
    { hint: 'Ask the provider’s support about these orders before you continue.' },
  )
}

export function usedUp(waitMs: number): ThrottledError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ThrottledError(`the quota is used up for the next ${seconds} s`, {
    retryAfter: seconds,
    hint: 'Wait, or leave out --timeout.',
  })
}

/** What happens while orders are sent, for the display of progress. */
export type RunEvent =
  /** Orders of processes that ended in the middle of one; each is `unknown` from now on. */
  | { name: 'recovered'; submissions: Submission[] }
  /**
   * Nothing was created, and the same order is sent again after `seconds`. `understood` is false where
   * a 429 came without a valid Retry-After, and a minute was assumed.
   */
  | { name: 'waiting'; cause: 'throttled'; seconds: number; understood: boolean; reason: string }
  | { name: 'waiting'; cause: 'unreachable'; seconds: number; reason: string }
  /** The quota is used up, as far as this store knows; nothing was sent yet. */
  | { name: 'paced'; seconds: number }
  /** A single order is sent again; `attempt` counts from 1. */
  | { name: 'retrying'; attempt: number }
  /** A failed answer named an id, which is read now. */
  | { name: 'proving'; requestId: string }
  /** A row of a file has come into a new state, and that is on disk. */
  | {
      name: 'row'
      row: number
      recipient?: Recipient | undefined
      state: SubmissionState
      reason: string | undefined
    }
  /** The service does not answer well; it is asked again after `seconds`, and nothing is sent until then. */
  | { name: 'outage'; reason: string; seconds: number }
  | { name: 'well' }

export interface RunLimits {
  /** Orders to send in this run. */
  max: number
  /** This row alone, where it is pending. */
  only?: number | undefined
  /**
   * Milliseconds that all waits on 429s or an unreachable service together may take; after an unknown outcome,
   * each wait for a healthy service has this limit of its own. Infinity for no limit.
   */
  waitBudgetMs: number
  /** `only` is the row of a single order: the run ends with its first answer. */
  isSingle?: boolean | undefined
  /** A row's outcome is unknown from before: nothing is sent until the service answers well. */
  afterUnknown?: boolean | undefined
}

/** How a run came to its end. */
export type RunEnd =
  | { kind: 'done' }
  /** As many were sent as were asked for. */
  | { kind: 'limited' }
  /** Ctrl-C; the row in flight was finished. */
  | { kind: 'interrupted' }
  /** Any other row would fare the same, so the rest is sent once `error` is fixed. */
  | { kind: 'halted'; error: RefcheckError }

/** How far a batch has come. */
export interface BatchProgress {
  counts: BatchCounts
  /** Of the rows that were to be sent at all. */
  settled: number
  toSend: number
  /** Until the last row has been sent: see domain/quota/book. */
  secondsLeft: number
}

/** Counts as the person sees them move. */
export function progressOf(counts: BatchCounts, secondsLeft: number): BatchProgress {
  const toSend = counts.total - counts.invalid - counts.duplicate - counts.cancelled
  return { counts, settled: toSend - counts.pending - counts.sending, toSend, secondsLeft }
}

/** How long a queued batch rests after a halt, by its code; any other waits for a person. */
const restsMs: Readonly<Record<string, number>> = {
  throttled: 60_000,
  unavailable: 60_000,
  io: 60_000,
  unauthenticated: 900_000,
  forbidden: 900_000,
}

/** Rows whose outcome is unknown are reconciled by events, so that is tried now and then. */
const reconcileEveryMs = 600_000

type QueuedStep =
  | { kind: 'run' }
  /** Nothing is left that a worker can do. */
  | { kind: 'done' }
  | { kind: 'rest'; untilMs: number }
  /** A person has to act first. */
  | { kind: 'wait' }

/** What a worker does with a queued batch. `triedAt`: when this worker ran it last, by the same clock as `now`. */
export function nextQueuedStep(batch: Batch, now: number, triedAt: number | undefined): QueuedStep {
  const { pending, sending, unknown, dropped, held } = batch.counts
  const unsettled = pending + sending + unknown + dropped
  // Once a held row is released, it is to be sent.
  if (unsettled === 0) return { kind: held === 0 ? 'done' : 'wait' }
  const rest = batch.halt === undefined ? 0 : restsMs[batch.halt.code]
  if (rest === undefined) return { kind: 'wait' }
  const untilHalt = batch.halt === undefined ? 0 : batch.halt.at + rest
  const untilReconciled = pending === 0 && triedAt !== undefined ? triedAt + reconcileEveryMs : 0
  const untilMs = Math.max(untilHalt, untilReconciled)
  return now < untilMs ? { kind: 'rest', untilMs } : { kind: 'run' }
}

/** Who may order for whom. */
export interface Orderer {
  name: string
  baseUrl: string
  email: string
  account: string
}

/**
 * Which of some profiles a batch or request is for: of the same service and, where it is known, account; the one whose
 * user began it before others.
 */
export function ordererOf<T extends Orderer>(
  { baseUrl, userEmail, account }: { baseUrl: string; userEmail: string; account?: string | undefined },
  profiles: readonly T[],
): T | undefined {
  const able = profiles.filter(
    (each) =>
      serviceOf(each.baseUrl) === serviceOf(baseUrl) && (account === undefined || each.account === account),
  )
  return able.find(({ email }) => email.toLowerCase() === userEmail.toLowerCase()) ?? able[0]
}

/** What was learned of whose key this is, before a batch that was begun before goes on. */
export type OrganisationEvidence =
  /** Whether the key can read one of the batch's accepted requests. */
  | { by: 'request'; readable: boolean }
  /** No request was accepted yet: the users of the key's organisation. */
  | { by: 'users'; emails: readonly string[] }

/**
 * "A batch goes on under another key or user only when that key can read one of the batch's accepted requests, or,
 * where there is none, when the user who began it is among the key's users; with neither a person confirms"
 * (src/docs/ordering.md, section 3). True: a person has to confirm. Throws a UsageError where it is another organisation's batch.
 */
export function requiresConfirmation(
  { id, userEmail }: Pick<Batch, 'id' | 'userEmail'>,
  known: OrganisationEvidence,
): boolean {
  if (known.by === 'users') {
    return !known.emails.some((each) => each.toLowerCase() === userEmail.toLowerCase())
  }
  if (known.readable) return false
  throw new UsageError(
    `this API key cannot read what batch ${id} has ordered, so it is another organisation’s`,
    {
      hint: `Nothing was sent. Choose the profile that the batch was begun with (as ${userEmail}): --profile NAME`,
    },
  )
}

/** What a person is asked about a batch whose starter is no user of the key's organisation. */
export function starterQuestion(id: string, startedAs: string, now: string): string {
  return `Batch ${id} was begun as ${startedAs}, who is no user of this API key’s organisation. Have they left it, and are its rows to be ordered as ${now}?`
}

/** There is no terminal to confirm on, or the answer was no. */
export function notConfirmedError({ id, userEmail }: Pick<Batch, 'id' | 'userEmail'>): UsageError {
  return new UsageError(
    `batch ${id} was begun as ${userEmail}, who is no user of this API key’s organisation`,
    {
      hint: `Nothing was sent. If that user has left the organisation, confirm it on a terminal: refcheck batch resume ${id}. Else choose the profile it was begun with: --profile NAME`,
    },
  )
}

/** What is worth a word while a file is read, ordered, and its results are written. */
export type BatchEvent =
  | { name: 'mapping-kept'; mapping: string }
  /** What a person agreed to of the columns of this header: saved now, or used again. */
  | { name: 'columns-saved' }
  | { name: 'columns-agreed-before'; text: string }
  | { name: 'no-results-folder'; folder: string }
  /** --allow-duplicate, given for a file that is a batch already. */
  | { name: 'duplicates-too-late'; batchId: string }
  /** --allow-similar or --shared, given for a file that is a batch already. */
  | { name: 'similar-too-late'; batchId: string; held: number }
  /** Orders are attributed to the user who continues a batch, and count for that user's organisation. */
  | { name: 'other-user'; startedAs: string; now: string }
  | { name: 'reconciled'; found: Reconciliation }
  /** The file of people is not what it was, so no results file is written. */
  | { name: 'file-changed'; file: string; batchId: string }
  /** `batchId` where the store's own export can stand in for it. */
  | { name: 'results-unwritten'; why: string; batchId: string | undefined }
  /** A workbook is written that lacks what the person's own shows. */
  | { name: 'look-lost'; file: string; appearance: Pick<SheetAppearance, 'lost' | 'otherSheets'> }
  /** Rows that were hidden or struck through, and are not in a file that is written. */
  | { name: 'rows-left-out'; file: string; rows: number }
  | { name: 'may-order-again'; who: string }
  /** Requests that were not ordered with this store, for people who were. */
  | { name: 'second-orders'; found: readonly SecondOrder[] }
  /** A results file next to the file of people could not be read. */
  | { name: 'results-unread'; file: string; why: string }
  /** Rows of a results file that are about other people than the rows of the file now. */
  | { name: 'results-of-others'; file: string; rows: number }
