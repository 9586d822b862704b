import {
  type RunEnd,
  type RunLimits,
  initialCounters,
  waitForQuota,
  type Step,
  nextStep,
} from '../../domain/batch/run-policy.ts'
import type { OrderServices } from '../request/send.ts'
import type { BatchRow } from '../../domain/batch/batch.ts'
import {
  changedElsewhereError,
  type AttemptOutcome,
  type Outcome,
  changeFor,
} from '../../domain/submission/outcome.ts'
import { conflictText } from '../../domain/submission/duplicate.ts'
import type { Conflict } from '../../domain/submission/conflicts.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Attempt, RowVersion } from '../../domain/submission/submission.ts'
import { RefcheckError, InternalError, IoError } from '../../errors/kinds.ts'
import { packageGoneError, rowsNoLongerFit } from './packages.ts'
import { newAttempt, sendAttempt, reconcileByAnswer, recordOutcome, untilRecorded } from '../request/send.ts'

const everyMs = 500
/** Past the longest POST and the lease of a process that ended in the middle of one. */
const longestWaitMs = 90_000

/**
 * Runs a batch that other runners may send rows of as well, and is done once they are: a row that one of them gives back is
 * sent by this one, and one whose runner is gone is unknown.
 */
export async function runWithOthers(
  ports: OrderServices,
  batchId: string,
  limits: RunLimits,
): Promise<RunEnd> {
  for (let run = limits; ; run = { ...limits, afterUnknown: false }) {
    const end = await sendPendingRows(ports, batchId, run)
    const isWhole = limits.only === undefined && limits.max === Number.POSITIVE_INFINITY
    if (
      end.kind !== 'done' ||
      !isWhole ||
      !ports.batches.isShared ||
      !(await waitForOthers(ports, batchId))
    ) {
      return end
    }
  }
}

/** Whether a row is pending again, once no process sends one any more. */
async function waitForOthers(
  { batches, ledger, clock, signal }: OrderServices,
  batchId: string,
): Promise<boolean> {
  const deadline = clock.monotonic() + longestWaitMs
  for (;;) {
    await ledger.recover(clock.now())
    const { sending, pending } = await batches.counts(batchId)
    if (pending > 0) return signal?.aborted !== true
    if (sending === 0 || signal?.aborted === true || clock.monotonic() >= deadline) return false
    await clock.sleep(everyMs, signal).catch(() => undefined)
  }
}

/** "After any unknown nothing more is sent until a ping and a read answer well." */
const checkHealthFirst: Step = { kind: 'ask whether it is well', afterwards: { kind: 'go on' } }

/** Another runner is about to send the row, or has just begun to. */
const takenPauseMs = 10

/** A row to be sent. */
type NextRow = RowVersion & { packageId?: number | undefined }

/** A row whose attempt is journaled. */
interface Journaled {
  row: NextRow
  attempt: Attempt
}

/**
 * Sends a batch's pending rows, one at a time and each at most once (src/docs/ordering.md, section 2), until none is
 * left or something stops it. The batch is held by the caller. Every outcome is on disk before the next
 * row goes out and before an event tells it. Throws IoError where the store fails.
 */
export function sendPendingRows(ports: OrderServices, batchId: string, limits: RunLimits): Promise<RunEnd> {
  return new Run(ports, batchId, limits).go()
}

/** How the run of a single order ended. */
export interface SingleRun {
  end: RunEnd
  /** What its last attempt came to; undefined where none was made. */
  outcome: Outcome | undefined
  /** The earlier order that stopped it. */
  conflict: Conflict | undefined
  /** The row as the run left it, where it was not sent. */
  left: RowVersion
}

/**
 * Sends a single order, a batch of one, in the same way; the run ends with its first answer. Throws as `sendPendingRows` does.
 * `attemptId`: of its earlier attempt, if a person put it back.
 */
export async function runSingle(
  ports: OrderServices,
  batchId: string,
  waitBudgetMs: number,
  attemptId: string | undefined,
): Promise<SingleRun> {
  const run = new Run(ports, batchId, { only: 1, max: 1, waitBudgetMs, isSingle: true })
  run.single = { ...run.single, attemptId }
  const end = await run.go()
  const { outcome, conflict } = run
  return { end, outcome, conflict, left: { ...run.single, state: conflict?.becomes ?? 'pending' } }
}

class Run {
  readonly #ports: OrderServices
  readonly #batchId: string
  readonly #limits: RunLimits
  #counters = initialCounters
  #attempts = 0
  /** The row of a single order: it is not looked up again. */
  single: RowVersion
  outcome: Outcome | undefined
  conflict: Conflict | undefined

  constructor(ports: OrderServices, batchId: string, limits: RunLimits) {
    this.#ports = ports
    this.#batchId = batchId
    this.#limits = limits
    this.single = { batchId, row: 1, state: 'pending', attemptId: undefined }
  }

  async go(): Promise<RunEnd> {
    try {
      const refused = this.#limits.afterUnknown === true ? await this.#follow(checkHealthFirst) : undefined
      if (refused !== undefined) return refused
      for (let ahead: Journaled | undefined; ;) {
        const current = ahead ?? (await this.#begin())
        if ('kind' in current) return current
        const { row, attempt } = current
        this.#attempts += 1
        this.single = { ...this.single, attemptId: attempt.attemptId }
        if (ahead !== undefined && this.#ports.signal?.aborted) return await this.#takeBack(attempt)
        const [outcome, following] = await Promise.all([sendAttempt(this.#ports, attempt), this.#following()])
        const tried = { attempt, outcome }
        const together = await this.#recordAndClaim(tried, following)
        ahead = together.ahead
        const recorded = together.recorded ? tried : await recordOutcome(this.#ports, tried)
        const end = await this.#weigh(row, { attempt, outcome: recorded.outcome })
        if (end !== undefined) return end
      }
    } catch (error) {
      if (error instanceof IoError || error instanceof InternalError) {
        if (this.#attempts > 0)
          error.hint = error.hint?.replace(/^Nothing was sent\b/, 'Nothing more was sent')
        throw error
      }
      if (this.#ports.signal?.aborted) return { kind: 'interrupted' }
      // A read that was to tell why the rows fare badly has failed itself; no row is in flight then.
      if (error instanceof RefcheckError) return { kind: 'halted', error }
      throw error
    }
  }

  /** Journals an attempt of the next row, when the quota has a place for it. */
  async #begin(): Promise<Journaled | RunEnd> {
    const { ledger, governor, clock, signal, onEvent } = this.#ports
    for (;;) {
      const row = await this.#next()
      if ('kind' in row) return row
      const claim = await ledger.beginInQuota(row, newAttempt(this.#ports), governor.place(), this.#orNext)
      const { waitMs, attempt, stop, row: number = row.row, taken, isBreakerOpen } = claim
      if (attempt !== undefined) return { row: await this.#rowOf(attempt, row), attempt }
      if (stop !== undefined) {
        this.#reportConflict(number, stop)
        if (this.#limits.isSingle === true) return { kind: 'done' }
        continue
      }
      if (isBreakerOpen === true) {
        const end = await this.#follow(checkHealthFirst)
        if (end !== undefined) return end
        continue
      }
      if (taken === true && this.#orNext) {
        await clock.sleep(takenPauseMs, signal)
        continue
      }
      if (waitMs === 0) throw changedElsewhereError()
      const { counters, step } = waitForQuota(this.#counters, waitMs, this.#limits)
      this.#counters = counters
      if (step.kind === 'halt') return { kind: 'halted', error: step.error }
      onEvent?.({ name: 'paced', seconds: waitMs / 1000 })
      await clock.sleep(waitMs, signal)
    }
  }

  /** An attempt that was journaled ahead, and of which no byte has left. */
  async #takeBack(attempt: Attempt): Promise<RunEnd> {
    const { ledger, clock } = this.#ports
    const reason = 'interrupted before it was sent'
    if (!(await ledger.move(attempt, { to: 'pending', at: clock.now(), reason })))
      throw changedElsewhereError()
    return { kind: 'interrupted' }
  }

  async #next(): Promise<NextRow | RunEnd> {
    if (this.#ports.signal?.aborted) return { kind: 'interrupted' }
    const row = await this.#pending()
    if (row === undefined) return { kind: 'done' }
    return this.#counters.sent >= this.#limits.max ? { kind: 'limited' } : row
  }

  /** Whether any other row will do, where another runner has the one that was looked up. */
  get #orNext(): boolean {
    return this.#limits.only === undefined
  }

  /** The row of an attempt: the one that was looked up, or one that was begun in its place. */
  async #rowOf({ row: number }: Attempt, row: NextRow): Promise<NextRow> {
    if (number === row.row) return row
    const { value } = await this.#ports.batches.rows(this.#batchId, { after: number - 1, limit: 1 }).next()
    return (value as BatchRow | undefined) ?? row
  }

  async #pending(): Promise<NextRow | undefined> {
    if (this.#limits.isSingle === true) return this.single
    const { only } = this.#limits
    const row = await this.#ports.batches.nextPending(this.#batchId, only === undefined ? 0 : only - 1)
    return only === undefined || row?.row === only ? row : undefined
  }

  async #isMoreToSend(): Promise<boolean> {
    return this.#counters.sent < this.#limits.max && (await this.#following()) !== undefined
  }

  /** Looked up while the row before it is in flight. A store that cannot read will say so when it is to write. */
  async #following(): Promise<NextRow | undefined> {
    return this.#limits.isSingle === true ? undefined : this.#pending().catch(() => undefined)
  }

  /**
   * Journals that an order was accepted and, in the same commit, the next row's attempt: half the fsyncs,
   * the same order. Not settled where that cannot be done at once.
   */
  async #recordAndClaim(
    { attempt, outcome }: AttemptOutcome,
    row: NextRow | undefined,
  ): Promise<{ recorded: boolean; ahead?: Journaled }> {
    const { ledger, clock, governor, signal } = this.#ports
    const goesOn = signal?.aborted !== true && this.#counters.sent + 1 < this.#limits.max
    if (outcome.kind !== 'accepted' || row === undefined || !goesOn) return { recorded: false }
    const change = changeFor(outcome, clock.now())
    const {
      moved,
      attempt: next,
      stop,
      row: number = row.row,
    } = await untilRecorded(clock, { attempt, outcome }, () =>
      ledger.moveAndBegin(attempt, change, row, newAttempt(this.#ports), governor.place(), this.#orNext),
    )
    if (stop !== undefined) this.#reportConflict(number, stop)
    if (next === undefined) return { recorded: moved }
    return { recorded: moved, ahead: { row: await this.#rowOf(next, row), attempt: next } }
  }

  /** What an outcome, which is journaled, means for the rows after it. */
  async #weigh(row: NextRow, { attempt, outcome }: AttemptOutcome): Promise<RunEnd | undefined> {
    this.#reportOutcome(row, outcome)
    const { governor, random, signal } = this.#ports
    const offeredId = outcome.kind === 'unknown' ? outcome.offeredId : undefined
    const proven =
      offeredId === undefined
        ? undefined
        : await reconcileByAnswer(this.#ports, { ...attempt, state: 'unknown' }, offeredId)
    if (proven !== undefined) this.#reportOutcome(row, proven)
    this.outcome = proven ?? outcome
    const fraction = outcome.kind === 'unsent' ? random.fraction() : 0
    const { counters, step } = nextStep(this.#counters, this.outcome, { ...this.#limits, fraction })
    this.#counters = counters
    if (outcome.kind === 'throttled') await governor.throttled(outcome.seconds, outcome.understood)
    if (step.kind === 'wait') {
      if (signal?.aborted) return { kind: 'interrupted' }
      this.#announceWait(outcome, step.waitMs)
    }
    return this.#follow(step, row)
  }

  /** Undefined where the run goes on. */
  async #follow(step: Step, row?: NextRow): Promise<RunEnd | undefined> {
    const { clock, signal, onEvent } = this.#ports
    switch (step.kind) {
      case 'go on':
        return undefined
      case 'end':
        return { kind: 'done' }
      case 'halt':
        return { kind: 'halted', error: step.error }
      case 'wait':
        await clock.sleep(step.waitMs, signal)
        if (this.#limits.isSingle === true) onEvent?.({ name: 'retrying', attempt: this.#attempts + 1 })
        return undefined
      case 'ask why': {
        const error = await this.#why(step, row)
        return error === undefined ? this.#follow(step.otherwise, row) : { kind: 'halted', error }
      }
      case 'ask whether it is well': {
        const error = await waitUntilHealthy(this.#ports, this.#limits.waitBudgetMs)
        if (error !== undefined) return { kind: 'halted', error }
        if (step.afterwards.kind === 'go on' && (await this.#isMoreToSend())) onEvent?.({ name: 'well' })
        return this.#follow(step.afterwards, row)
      }
    }
  }

  /** Why the rest would be rejected as this row was, as far as the service says. */
  async #why(asks: { package: boolean; schema: boolean }, row?: NextRow): Promise<RefcheckError | undefined> {
    const packageId = row?.packageId
    if (packageId === undefined) return undefined
    const ports = this.#ports
    const gone = asks.package
      ? await packageGoneError(
          ports,
          await ports.api.listPackages(undefined, ports.signal),
          [packageId],
          this.#batchId,
        )
      : undefined
    return gone ?? (asks.schema ? rowsNoLongerFit(ports, this.#batchId, packageId) : undefined)
  }

  #announceWait(outcome: Outcome, waitMs: number): void {
    const seconds = waitMs / 1000
    if (outcome.kind === 'throttled') {
      const { understood, error } = outcome
      const reason = error.message
      this.#ports.onEvent?.({ name: 'waiting', cause: 'throttled', seconds, understood, reason })
    } else if (outcome.kind === 'unsent') {
      const reason = outcome.error.message
      this.#ports.onEvent?.({ name: 'waiting', cause: 'unreachable', seconds, reason })
    }
  }

  #reportOutcome(row: NextRow, outcome: Outcome): void {
    if (outcome.kind === 'accepted') return this.#event(row, 'accepted')
    const state = outcome.kind === 'rejected' || outcome.kind === 'unknown' ? outcome.kind : 'pending'
    this.#event(row, state, outcome.kind === 'unknown' ? outcome.reason : outcome.error.message)
  }

  /** What came in its way since it was taken in. */
  #reportConflict(row: number, stop: Conflict): void {
    this.conflict = stop
    this.#event({ row }, stop.becomes, conflictText(stop))
  }

  #event({ row }: Pick<RowVersion, 'row'>, state: SubmissionState, reason?: string): void {
    if (this.#limits.isSingle !== true) this.#ports.onEvent?.({ name: 'row', row, state, reason })
  }
}

const firstPauseMs = 5_000
const longestPauseMs = 60_000

/**
 * "After any unknown nothing more is sent until a ping and a read answer well, so an outage costs one
 * row" (src/docs/ordering.md, section 2). Undefined once it answers well; an error where waiting does not help, or `budgetMs` ran out.
 * Rejects when the signal aborts.
 */
async function waitUntilHealthy(ports: OrderServices, budgetMs: number): Promise<RefcheckError | undefined> {
  const { api, clock, signal, onEvent } = ports
  const deadline = clock.monotonic() + budgetMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const error = await trouble()
    if (error === undefined) return undefined
    signal?.throwIfAborted()
    const passes = error.code === 'unavailable' || error.code === 'throttled'
    const waitMs = Math.max(pauseMs, (error.retryAfter ?? 0) * 1000)
    if (!passes || clock.monotonic() + waitMs > deadline) return error
    onEvent?.({ name: 'outage', reason: error.message, seconds: waitMs / 1000 })
    await clock.sleep(waitMs, signal)
  }

  async function trouble(): Promise<RefcheckError | undefined> {
    try {
      await api.ping(signal)
      await api.listUsers(signal)
      return undefined
    } catch (error) {
      if (error instanceof RefcheckError) return error
      throw error
    }
  }
}
