import { changedElsewhereError } from '../../domain/submission/states.ts'
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
import { type AttemptOutcome, type Outcome, changeFor } from '../../domain/submission/outcome.ts'
import { conflictText } from '../../domain/submission/duplicate.ts'
import type { Conflict } from '../../domain/submission/conflicts.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Attempt, RowVersion } from '../../domain/submission/submission.ts'
import { RefcheckError, InternalError, IoError } from '../../errors/kinds.ts'
import { packageGoneError, schemaMismatchError } from './packages.ts'
import {
  newAttempt,
  sendAttempt,
  reconcileByAnswer,
  recordOutcome,
  writeUntilRecorded,
} from '../request/send.ts'

const pollIntervalMs = 500
/** Longer than the longest POST, and than the lease of a process that ended during a POST. */
const maxWaitMs = 90_000

/**
 * Runs a batch whose rows other runners may send too, and ends when no runner sends any of its rows: this
 * runner also sends the rows that another runner returned to pending. Rows of a runner that ended without
 * recording an outcome become unknown.
 */
export async function runWithOtherRunners(
  ports: OrderServices,
  batchId: string,
  limits: RunLimits,
): Promise<RunEnd> {
  for (let runLimits = limits; ; runLimits = { ...limits, afterUnknown: false }) {
    const end = await sendPendingRows(ports, batchId, runLimits)
    const isWholeBatch = limits.onlyRow === undefined && limits.maxOrders === Number.POSITIVE_INFINITY
    if (
      end.kind !== 'done' ||
      !isWholeBatch ||
      !ports.batches.allowsSeveralRunners ||
      !(await waitForOtherRunners(ports, batchId))
    ) {
      return end
    }
  }
}

/** Waits until no other process sends a row of the batch. Returns true if a row is pending then. */
async function waitForOtherRunners(
  { batches, ledger, clock, signal }: OrderServices,
  batchId: string,
): Promise<boolean> {
  const deadline = clock.monotonic() + maxWaitMs
  for (;;) {
    await ledger.recover(clock.now())
    const { sending, pending } = await batches.countRows(batchId)
    if (pending > 0) return signal?.aborted !== true
    if (sending === 0 || signal?.aborted === true || clock.monotonic() >= deadline) return false
    await clock.sleep(pollIntervalMs, signal).catch(() => undefined)
  }
}

/**
 * "After any unknown nothing more is sent until a ping and a read answer well" (src/docs/ordering.md, section
 * 2).
 */
const checkHealthStep: Step = { kind: 'check health', afterwards: { kind: 'continue' } }

/** The pause before the next claim after another runner has claimed the same row. */
const claimedRowPauseMs = 10

/** A row to be sent. */
type NextRow = RowVersion & Partial<Pick<BatchRow, 'packageId' | 'recipient'>>

/** A row with its attempt, which is recorded in the journal. */
interface JournaledAttempt {
  row: NextRow
  attempt: Attempt
}

/**
 * Sends a batch's pending rows, one at a time and each at most once (src/docs/ordering.md, section 2), until no row
 * is pending or an error stops the run. The caller has the lease of the batch. Every outcome is on disk before the
 * next row is sent and before an event reports it. Throws IoError if the store fails.
 */
export function sendPendingRows(ports: OrderServices, batchId: string, limits: RunLimits): Promise<RunEnd> {
  return new Run(ports, batchId, limits).runToEnd()
}

/** How the run of a single order ended. */
export interface SingleRun {
  end: RunEnd
  /** The outcome of the last attempt; undefined if there was no attempt. */
  outcome: Outcome | undefined
  /** The earlier order that prevented this one. */
  conflict: Conflict | undefined
  /** The row after the run, if it was not sent. */
  row: RowVersion
}

/**
 * Sends a single order, which is a batch of one row. The steps and errors are those of `sendPendingRows`, except that
 * the run ends with its first outcome. `attemptId`: the earlier attempt of an order that a user has decided to send
 * again.
 */
export async function runSingle(
  ports: OrderServices,
  batchId: string,
  waitBudgetMs: number,
  attemptId: string | undefined,
): Promise<SingleRun> {
  const run = new Run(ports, batchId, { onlyRow: 1, maxOrders: 1, waitBudgetMs, isSingle: true })
  run.singleRow = { ...run.singleRow, attemptId }
  const end = await run.runToEnd()
  const { outcome, conflict } = run
  return { end, outcome, conflict, row: { ...run.singleRow, state: conflict?.becomes ?? 'pending' } }
}

class Run {
  readonly #ports: OrderServices
  readonly #batchId: string
  readonly #limits: RunLimits
  #counters = initialCounters
  /** Whether this run has reported an unknown outcome or an outage of the service. */
  #hasReportedFailure = false
  #attemptCount = 0
  /** The row of a single order, which is not read from the store again. */
  singleRow: RowVersion
  outcome: Outcome | undefined
  conflict: Conflict | undefined

  constructor(ports: OrderServices, batchId: string, limits: RunLimits) {
    this.#ports = ports
    this.#batchId = batchId
    this.#limits = limits
    this.singleRow = { batchId, row: 1, state: 'pending', attemptId: undefined }
  }

  async runToEnd(): Promise<RunEnd> {
    try {
      const stoppedEnd =
        this.#limits.afterUnknown === true ? await this.#carryOutStep(checkHealthStep) : undefined
      if (stoppedEnd !== undefined) return stoppedEnd
      for (let journaled: JournaledAttempt | undefined; ;) {
        const current = journaled ?? (await this.#claimNextRow())
        if ('kind' in current) return current
        const { row, attempt } = current
        this.#attemptCount += 1
        this.singleRow = { ...this.singleRow, attemptId: attempt.attemptId }
        if (journaled !== undefined && this.#ports.signal?.aborted)
          return await this.#returnToPending(attempt)
        const [outcome, nextRow] = await Promise.all([
          sendAttempt(this.#ports, attempt),
          this.#findFollowingRow(),
        ])
        const unrecorded = { attempt, outcome }
        const committed = await this.#recordAndClaim(unrecorded, nextRow)
        journaled = committed.nextJournaled
        const recorded = committed.isRecorded ? unrecorded : await recordOutcome(this.#ports, unrecorded)
        const end = await this.#applyOutcome(row, { attempt, outcome: recorded.outcome })
        if (end !== undefined) return end
      }
    } catch (error) {
      if (error instanceof IoError || error instanceof InternalError) {
        if (this.#attemptCount > 0)
          error.hint = error.hint?.replace(/^Nothing was sent\b/, 'Nothing more was sent')
        throw error
      }
      if (this.#ports.signal?.aborted) return { kind: 'interrupted' }
      // Reading the cause of a rejection or checking the health has failed. No row is being sent then.
      if (error instanceof RefcheckError) return { kind: 'halted', error }
      throw error
    }
  }

  /** Claims the next row and journals its attempt, when the quota allows a request. */
  async #claimNextRow(): Promise<JournaledAttempt | RunEnd> {
    const { ledger, governor, clock, signal, onEvent } = this.#ports
    for (;;) {
      const row = await this.#findNextRow()
      if ('kind' in row) return row
      const claim = await ledger.beginInQuota(
        row,
        newAttempt(this.#ports),
        governor.claimForCreate(),
        this.#canSendOtherRow,
      )
      const { waitMs, attempt, conflict, row: number = row.row, isTaken, isBreakerOpen } = claim
      if (attempt !== undefined) return { row: await this.#findRowOfAttempt(attempt, row), attempt }
      if (conflict !== undefined) {
        this.#reportConflict(number, row, conflict)
        if (this.#limits.isSingle === true) return { kind: 'done' }
        continue
      }
      if (isBreakerOpen === true) {
        const end = await this.#carryOutStep(checkHealthStep)
        if (end !== undefined) return end
        continue
      }
      if (isTaken === true && this.#canSendOtherRow) {
        await clock.sleep(claimedRowPauseMs, signal)
        continue
      }
      // The quota allows a request, so another runner has claimed the only row that this run may send.
      if (waitMs === 0) throw changedElsewhereError()
      const { counters, step } = waitForQuota(this.#counters, waitMs, this.#limits)
      this.#counters = counters
      if (step.kind === 'halt') return { kind: 'halted', error: step.error }
      onEvent?.({ name: 'paced', seconds: waitMs / 1000 })
      await clock.sleep(waitMs, signal)
    }
  }

  /** Sets the row of a journaled attempt to pending; nothing was sent for the attempt. */
  async #returnToPending(attempt: Attempt): Promise<RunEnd> {
    const { ledger, clock } = this.#ports
    const reason = 'interrupted before it was sent'
    if (!(await ledger.move(attempt, { to: 'pending', at: clock.now(), reason })))
      throw changedElsewhereError()
    return { kind: 'interrupted' }
  }

  async #findNextRow(): Promise<NextRow | RunEnd> {
    if (this.#ports.signal?.aborted) return { kind: 'interrupted' }
    const row = await this.#findPendingRow()
    if (row === undefined) return { kind: 'done' }
    return this.#counters.sent >= this.#limits.maxOrders ? { kind: 'limited' } : row
  }

  /** Whether the run may send another row if another runner has claimed the row that was found. */
  get #canSendOtherRow(): boolean {
    return this.#limits.onlyRow === undefined
  }

  /** Returns the row of an attempt: the row that was found, or another row that the store claimed instead. */
  async #findRowOfAttempt({ row: number }: Attempt, row: NextRow): Promise<NextRow> {
    if (number === row.row) return row
    const { value } = await this.#ports.batches.rows(this.#batchId, { after: number - 1, limit: 1 }).next()
    return (value as BatchRow | undefined) ?? row
  }

  async #findPendingRow(): Promise<NextRow | undefined> {
    if (this.#limits.isSingle === true) return this.singleRow
    const { onlyRow } = this.#limits
    const row = await this.#ports.batches.findNextPending(
      this.#batchId,
      onlyRow === undefined ? 0 : onlyRow - 1,
    )
    return onlyRow === undefined || row?.row === onlyRow ? row : undefined
  }

  async #hasMoreToSend(): Promise<boolean> {
    return this.#counters.sent < this.#limits.maxOrders && (await this.#findFollowingRow()) !== undefined
  }

  /**
   * Finds the next row while the current one is being sent. An error of the store is ignored here, because
   * the next write reports it.
   */
  async #findFollowingRow(): Promise<NextRow | undefined> {
    return this.#limits.isSingle === true ? undefined : this.#findPendingRow().catch(() => undefined)
  }

  /**
   * Journals in one commit that an order was accepted and the attempt of the next row. This halves the number of
   * fsyncs and keeps the order of the records. `isRecorded` is false if the outcome was not recorded.
   */
  async #recordAndClaim(
    { attempt, outcome }: AttemptOutcome,
    row: NextRow | undefined,
  ): Promise<{ isRecorded: boolean; nextJournaled?: JournaledAttempt }> {
    const { ledger, clock, governor, signal } = this.#ports
    const shouldContinue = signal?.aborted !== true && this.#counters.sent + 1 < this.#limits.maxOrders
    if (outcome.kind !== 'accepted' || row === undefined || !shouldContinue) return { isRecorded: false }
    const change = changeFor(outcome, clock.now())
    const {
      isMoved,
      attempt: next,
      conflict,
      row: number = row.row,
    } = await writeUntilRecorded(clock, { attempt, outcome }, () =>
      ledger.moveAndBegin(
        attempt,
        change,
        row,
        newAttempt(this.#ports),
        governor.claimForCreate(),
        this.#canSendOtherRow,
      ),
    )
    if (conflict !== undefined) this.#reportConflict(number, row, conflict)
    if (next === undefined) return { isRecorded: isMoved }
    return {
      isRecorded: isMoved,
      nextJournaled: { row: await this.#findRowOfAttempt(next, row), attempt: next },
    }
  }

  /** Reports an outcome that is journaled, and carries out the step that follows from it. */
  async #applyOutcome(row: NextRow, { attempt, outcome }: AttemptOutcome): Promise<RunEnd | undefined> {
    this.#reportOutcome(row, outcome)
    const { governor, random, signal } = this.#ports
    const offeredId = outcome.kind === 'unknown' ? outcome.offeredId : undefined
    const reconciled =
      offeredId === undefined
        ? undefined
        : await reconcileByAnswer(this.#ports, { ...attempt, state: 'unknown' }, offeredId)
    if (reconciled !== undefined) this.#reportOutcome(row, reconciled)
    this.outcome = reconciled ?? outcome
    const fraction = outcome.kind === 'unsent' ? random.fraction() : 0
    const { counters, step } = nextStep(this.#counters, this.outcome, { ...this.#limits, fraction })
    this.#counters = counters
    if (outcome.kind === 'throttled') await governor.recordThrottle(outcome.seconds, outcome.isStated)
    if (step.kind === 'wait') {
      if (signal?.aborted) return { kind: 'interrupted' }
      this.#reportWait(outcome, step.waitMs)
    }
    return this.#carryOutStep(step, row)
  }

  /** Carries out a step. Returns undefined if the run continues. */
  async #carryOutStep(step: Step, row?: NextRow): Promise<RunEnd | undefined> {
    const { clock, signal, onEvent } = this.#ports
    switch (step.kind) {
      case 'continue':
        return undefined
      case 'end':
        return { kind: 'done' }
      case 'halt':
        return { kind: 'halted', error: step.error }
      case 'wait':
        await clock.sleep(step.waitMs, signal)
        if (this.#limits.isSingle === true) onEvent?.({ name: 'retrying', attempt: this.#attemptCount + 1 })
        return undefined
      case 'find common error': {
        const error = await this.#findCommonError(step, row)
        return error === undefined ? this.#carryOutStep(step.otherwise, row) : { kind: 'halted', error }
      }
      case 'check health': {
        const ports: OrderServices = {
          ...this.#ports,
          onEvent: (event) => {
            this.#hasReportedFailure = true
            onEvent?.(event)
          },
        }
        const error = await waitUntilHealthy(ports, this.#limits.waitBudgetMs)
        if (error !== undefined) return { kind: 'halted', error }
        // If the failure was that of an earlier run, this run has not reported any.
        const continues = step.afterwards.kind === 'continue' && (await this.#hasMoreToSend())
        if (continues && this.#hasReportedFailure) onEvent?.({ name: 'well' })
        return this.#carryOutStep(step.afterwards, row)
      }
    }
  }

  /**
   * Returns the error that the following rows would be rejected with too; undefined if the service names no such
   * error.
   */
  async #findCommonError(
    checks: { checkPackage: boolean; checkSchema: boolean },
    row?: NextRow,
  ): Promise<RefcheckError | undefined> {
    const packageId = row?.packageId
    if (packageId === undefined) return undefined
    const ports = this.#ports
    const packageError = checks.checkPackage
      ? await packageGoneError(
          ports,
          await ports.api.listPackages(undefined, ports.signal),
          [packageId],
          await ports.batches.find(this.#batchId),
        )
      : undefined
    return (
      packageError ?? (checks.checkSchema ? schemaMismatchError(ports, this.#batchId, packageId) : undefined)
    )
  }

  #reportWait(outcome: Outcome, waitMs: number): void {
    const seconds = waitMs / 1000
    if (outcome.kind === 'throttled') {
      const { isStated, error } = outcome
      const reason = error.message
      this.#ports.onEvent?.({ name: 'waiting', cause: 'throttled', seconds, isStated, reason })
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

  /** Reports a conflict that was found after the batch was made. */
  #reportConflict(row: number, foundRow: NextRow, conflict: Conflict): void {
    this.conflict = conflict
    this.#event(foundRow.row === row ? foundRow : { row }, conflict.becomes, conflictText(conflict))
  }

  #event(
    { row, recipient }: Pick<NextRow, 'row' | 'recipient'>,
    state: SubmissionState,
    reason?: string,
  ): void {
    if (state === 'unknown') this.#hasReportedFailure = true
    if (this.#limits.isSingle !== true) this.#ports.onEvent?.({ name: 'row', row, recipient, state, reason })
  }
}

/** The pauses after the first failed health check, and at most: each is twice as long as the one before. */
const firstHealthPauseMs = 5_000
const maxHealthPauseMs = 60_000

/**
 * "After any unknown nothing more is sent until a ping and a read answer well, so an outage costs one row"
 * (src/docs/ordering.md, section 2). Returns undefined once both succeed, or the error if waiting does not help or
 * would exceed `budgetMs`. Rejects when the signal aborts.
 */
async function waitUntilHealthy(ports: OrderServices, budgetMs: number): Promise<RefcheckError | undefined> {
  const { api, clock, signal, onEvent } = ports
  const deadline = clock.monotonic() + budgetMs
  for (let pauseMs = firstHealthPauseMs; ; pauseMs = Math.min(maxHealthPauseMs, pauseMs * 2)) {
    const error = await findHealthError()
    if (error === undefined) return undefined
    signal?.throwIfAborted()
    const isTemporary = error.code === 'unavailable' || error.code === 'throttled'
    const waitMs = Math.max(pauseMs, (error.retryAfter ?? 0) * 1000)
    if (!isTemporary || clock.monotonic() + waitMs > deadline) return error
    onEvent?.({ name: 'outage', reason: error.message, seconds: waitMs / 1000 })
    await clock.sleep(waitMs, signal)
  }

  async function findHealthError(): Promise<RefcheckError | undefined> {
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
