import type { BatchRow } from '../../domain/batch/batch.ts'
import { isAboutPackage, manyUnknown, refusedAlike, usedUp } from '../../domain/batch/halting.ts'
import type { RunEnd, RunLimits } from '../../domain/batch/run.ts'
import { changedElsewhere, type Tried } from '../../domain/submission/attempt.ts'
import { backoffMs } from '../../domain/submission/backoff.ts'
import { stopText } from '../../domain/submission/duplicate.ts'
import type { Stop } from '../../domain/submission/match.ts'
import type { Outcome } from '../../domain/submission/outcome.ts'
import { changeFor } from '../../domain/submission/settlement.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Attempt } from '../../domain/submission/submission.ts'
import { RefcheckError } from '../../errors/base.ts'
import { InternalError, IoError } from '../../errors/kinds.ts'
import { packageGone } from './package-gone.ts'
import type { RunPorts } from './ports.ts'
import { newAttempt, sendAttempt } from '../request/attempt.ts'
import { prove } from '../request/prove.ts'
import { settle, untilRecorded } from '../request/settle.ts'
import { rowsNoLongerFit } from './schema-watch.ts'
import { untilWell } from './until-well.ts'

const mostUnknownsInARow = 3
const mostRefusalsAlike = 5

/** A row whose attempt is journaled. */
interface Journaled {
  row: BatchRow
  attempt: Attempt
}

/**
 * Sends a batch's pending rows, one at a time and each at most once (ordering protocol), until none is
 * left or something stops it. The batch is held by the caller. Every outcome is on disk before the next
 * row goes out and before an event tells it. Throws IoError where the store fails.
 */
export function runBatch(ports: RunPorts, batchId: string, limits: RunLimits): Promise<RunEnd> {
  return new Run(ports, batchId, limits).go()
}

class Run {
  readonly #ports: RunPorts
  readonly #batchId: string
  readonly #limits: RunLimits
  #sent = 0
  #unknownsInARow = 0
  #refusals = { message: '', inARow: 0 }
  #unsentInARow = 0
  #waitedMs = 0

  constructor(ports: RunPorts, batchId: string, limits: RunLimits) {
    this.#ports = ports
    this.#batchId = batchId
    this.#limits = limits
  }

  async go(): Promise<RunEnd> {
    try {
      const refused = this.#limits.afterUnknown === true ? await this.#refused() : undefined
      if (refused !== undefined) return refused
      for (let ahead: Journaled | undefined; ;) {
        const current = ahead ?? (await this.#begin())
        if ('kind' in current) return current
        const { row, attempt } = current
        if (ahead !== undefined && this.#ports.signal?.aborted) return await this.#takeBack(attempt)
        const [outcome, following] = await Promise.all([sendAttempt(this.#ports, attempt), this.#following()])
        if (outcome.kind !== 'throttled' && outcome.kind !== 'unsent') this.#sent += 1
        const tried = { attempt, outcome }
        const together = await this.#settleAndGoOn(tried, following)
        ahead = together.ahead
        const settled = together.settled ? tried : await settle(this.#ports, tried)
        const end = await this.#weigh(row, { attempt, outcome: settled.outcome })
        if (end !== undefined) return end
      }
    } catch (error) {
      if (error instanceof IoError || error instanceof InternalError) throw error
      if (this.#ports.signal?.aborted) return { kind: 'interrupted' }
      // A read that was to tell why the rows fare badly has failed itself; no row is on its way then.
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
      const { waitMs, attempt, stop } = await ledger.beginInQuota(
        row,
        newAttempt(this.#ports),
        governor.place(),
      )
      if (attempt !== undefined) return { row, attempt }
      if (stop !== undefined) {
        this.#stopped(row, stop)
        continue
      }
      if (waitMs === 0) throw changedElsewhere()
      this.#waitedMs += waitMs
      if (this.#waitedMs > this.#limits.waitBudgetMs) return { kind: 'halted', error: usedUp(waitMs) }
      onEvent?.({ name: 'paced', seconds: waitMs / 1000 })
      await clock.sleep(waitMs, signal)
    }
  }

  /** An attempt that was journaled ahead, and of which no byte has left. */
  async #takeBack(attempt: Attempt): Promise<RunEnd> {
    const { ledger, clock } = this.#ports
    const reason = 'interrupted before it was sent'
    if (!(await ledger.move(attempt, { to: 'pending', at: clock.now(), reason }))) throw changedElsewhere()
    return { kind: 'interrupted' }
  }

  async #next(): Promise<BatchRow | RunEnd> {
    if (this.#ports.signal?.aborted) return { kind: 'interrupted' }
    const row = await this.#pending()
    if (row === undefined) return { kind: 'done' }
    return this.#sent >= this.#limits.max ? { kind: 'limited' } : row
  }

  async #pending(): Promise<BatchRow | undefined> {
    const { only } = this.#limits
    const row = await this.#ports.batches.nextPending(this.#batchId, only === undefined ? 0 : only - 1)
    return only === undefined || row?.row === only ? row : undefined
  }

  /** Looked up while the row before it is on its way. A store that cannot read will say so when it is to write. */
  async #following(): Promise<BatchRow | undefined> {
    return this.#pending().catch(() => undefined)
  }

  /**
   * Journals that an order was taken and, in the same commit, the next row's attempt: half the fsyncs,
   * the same order. Not settled where that cannot be done at once.
   */
  async #settleAndGoOn(
    { attempt, outcome }: Tried,
    row: BatchRow | undefined,
  ): Promise<{ settled: boolean; ahead?: Journaled }> {
    const { ledger, clock, governor, signal } = this.#ports
    const goesOn = signal?.aborted !== true && this.#sent < this.#limits.max
    if (outcome.kind !== 'accepted' || row === undefined || !goesOn) return { settled: false }
    const change = changeFor(outcome, clock.now())
    const {
      moved,
      attempt: next,
      stop,
    } = await untilRecorded(clock, { attempt, outcome }, () =>
      ledger.moveAndBegin(attempt, change, row, newAttempt(this.#ports), governor.place()),
    )
    if (stop !== undefined) this.#stopped(row, stop)
    return next === undefined ? { settled: moved } : { settled: moved, ahead: { row, attempt: next } }
  }

  /** What an outcome, which is journaled, means for the rows after it. */
  async #weigh(row: BatchRow, { attempt, outcome }: Tried): Promise<RunEnd | undefined> {
    this.#tell(row, outcome)
    if (outcome.kind !== 'unsent') this.#unsentInARow = 0
    if (outcome.kind === 'accepted' || outcome.kind === 'rejected') this.#unknownsInARow = 0
    if (outcome.kind === 'accepted') this.#refusals.inARow = 0
    switch (outcome.kind) {
      case 'accepted':
        return undefined
      case 'rejected':
        return this.#rejected(row, outcome.error)
      case 'halted':
        return { kind: 'halted', error: outcome.error }
      case 'throttled':
      case 'unsent':
        return this.#wait(outcome)
      case 'unknown':
        return this.#unknown(row, attempt, outcome)
    }
  }

  /** One cause must not reject a thousand rows. */
  async #rejected(row: BatchRow, error: RefcheckError): Promise<RunEnd | undefined> {
    const { message, inARow } = this.#refusals
    this.#refusals = { message: error.message, inARow: message === error.message ? inARow + 1 : 1 }
    const { packageId } = row
    const isPackage = isAboutPackage(error)
    const gone =
      packageId !== undefined && isPackage
        ? await packageGone([packageId], { ...this.#ports, batchId: this.#batchId })
        : undefined
    const unfit =
      packageId !== undefined && error.field?.startsWith('additional_information') === true
        ? await rowsNoLongerFit(this.#ports, this.#batchId, packageId)
        : undefined
    const alike =
      this.#refusals.inARow >= mostRefusalsAlike ? refusedAlike(error, mostRefusalsAlike) : undefined
    // Without the package the next row would be told the same, whatever the list of packages says.
    const halt = gone ?? unfit ?? alike ?? (isPackage ? error : undefined)
    return halt && { kind: 'halted', error: halt }
  }

  async #unknown(
    row: BatchRow,
    attempt: Attempt,
    outcome: Extract<Outcome, { kind: 'unknown' }>,
  ): Promise<RunEnd | undefined> {
    if (await this.#proven(row, attempt, outcome.offeredId)) {
      this.#unknownsInARow = 0
      return undefined
    }
    if (outcome.halts === true && outcome.error !== undefined) return { kind: 'halted', error: outcome.error }
    this.#unknownsInARow += 1
    const refused = await this.#refused()
    if (refused !== undefined || this.#unknownsInARow < mostUnknownsInARow) return refused
    return { kind: 'halted', error: manyUnknown(outcome.reason, mostUnknownsInARow) }
  }

  /** "After any unknown nothing more is sent until a ping and a read answer well": what keeps them from it. */
  async #refused(): Promise<RunEnd | undefined> {
    const end = await untilWell(this.#ports, this.#limits.waitBudgetMs)
    return end.kind === 'refused' ? { kind: 'halted', error: end.error } : undefined
  }

  /** Whether an id that came with a failed answer turned out to be this order's. */
  async #proven(row: BatchRow, attempt: Attempt, offeredId: string | undefined): Promise<boolean> {
    const { packageId, recipient } = row
    if (offeredId === undefined || packageId === undefined || recipient === undefined) return false
    const order = { package_id: packageId, recipient }
    const request = await prove(this.#ports, { ...attempt, state: 'unknown' }, order, offeredId)
    if (request !== undefined) this.#event(row, 'accepted')
    return request !== undefined
  }

  /** Nothing was created; the same row goes again. */
  async #wait(outcome: Extract<Outcome, { kind: 'throttled' | 'unsent' }>): Promise<RunEnd | undefined> {
    const { clock, random, governor, signal, onEvent } = this.#ports
    const reason = outcome.error.message
    if (outcome.kind === 'throttled') await governor.throttled(outcome.seconds, outcome.understood)
    else this.#unsentInARow += 1
    const waitMs =
      outcome.kind === 'throttled' ? outcome.seconds * 1000 : backoffMs(this.#unsentInARow, random.fraction())
    this.#waitedMs += waitMs
    if (this.#waitedMs > this.#limits.waitBudgetMs) return { kind: 'halted', error: outcome.error }
    const seconds = waitMs / 1000
    onEvent?.(
      outcome.kind === 'throttled'
        ? { name: 'waiting', cause: 'throttled', seconds, understood: outcome.understood, reason }
        : { name: 'waiting', cause: 'unreachable', seconds, reason },
    )
    await clock.sleep(waitMs, signal)
    return undefined
  }

  #tell(row: BatchRow, outcome: Outcome): void {
    if (outcome.kind === 'accepted') return this.#event(row, 'accepted')
    const state = outcome.kind === 'rejected' || outcome.kind === 'unknown' ? outcome.kind : 'pending'
    this.#event(row, state, outcome.kind === 'unknown' ? outcome.reason : outcome.error.message)
  }

  /** What came in its way since it was taken in. */
  #stopped(row: BatchRow, stop: Stop): void {
    this.#event(row, stop.becomes, stopText(stop))
  }

  #event({ row }: BatchRow, state: SubmissionState, reason?: string): void {
    this.#ports.onEvent?.({ name: 'row', row, state, reason })
  }
}
