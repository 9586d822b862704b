import { changeRow } from './change.ts'
import type { Database } from './connection.ts'
import type { Recipient } from '../../../contract/request-body.ts'
import type { Whom } from '../../../domain/batch/fit.ts'
import type { QuotaPlace } from '../../../domain/quota/place.ts'
import { refuseForgetting } from '../../../domain/store/kept-in-memory.ts'
import type { Change } from '../../../domain/submission/change.ts'
import type {
  Attempt,
  BatchRef,
  NewAttempt,
  NewBatch,
  RowVersion,
  Submission,
  SubmissionFilter,
} from '../../../domain/submission/submission.ts'
import { InternalError } from '../../../errors/kinds.ts'
import type { Stop } from '../../../domain/submission/match.ts'
import { fingerprinting } from './fingerprints.ts'
import { personPrints, whomByPrints } from '../fingerprints.ts'
import { batchColumns, orderColumns } from '../new-rows.ts'
import { attemptColumns, claimedOf, type Claimed, listedOf } from '../claimed.ts'
import { damagedStore } from '../damage.ts'
import { allowedBy } from '../stop-of-new.ts'
import { stopOfNew } from './stop-of-new.ts'
import { Matching } from './matching.ts'
import type { StoredRow } from '../match-rows.ts'
import { holdForOrdering, type Holds } from '../holds.ts'
import {
  claimRow,
  insertAttempt,
  insertBatch,
  insertSubmission,
  selectUnfinishedBatches,
  selectUnfinishedRows,
  updateStatus,
} from './ledger-statements.ts'
import type { AddGuard, Begun, Hold, Ledger, MovedAndBegun } from '../ledger.ts'
import { takePlace } from './quota.ts'
import type { AttemptAge } from './age.ts'
import { orphaned } from '../../../domain/submission/recovery.ts'
import { conditions } from './search.ts'
import { selectSubmissions, submissionOf } from '../submission-rows.ts'

/** The ledger in an SQLite file. Every method does its work before it first awaits. */
export class SqliteLedger implements Ledger {
  readonly location: string
  readonly #database: Database
  readonly #holds: Holds
  readonly #age: AttemptAge
  readonly #matching: Matching

  constructor(database: Database, holds: Holds, age: AttemptAge) {
    this.location = database.location
    this.#database = database
    this.#holds = holds
    this.#age = age
    this.#matching = new Matching(database)
  }

  async hold(batch: BatchRef): Promise<Hold | undefined> {
    return holdForOrdering(() => this.#holds.take(batch), this.#age)
  }

  async recover(at: number): Promise<Submission[]> {
    const found: Submission[] = []
    for (const batch of this.#database.all(selectUnfinishedBatches) as BatchRef[]) {
      const hold = await this.#holds.take(batch)
      if (hold === undefined) continue
      try {
        found.push(...this.#end(batch, at))
      } finally {
        await hold.release()
      }
    }
    return found
  }

  async look(batch: NewBatch, guard: AddGuard): Promise<Stop | undefined> {
    return this.#database.snapshot(() => stopOfNew(this.#matching, batch, guard))
  }

  async add(batch: NewBatch, guard: AddGuard): Promise<Stop | undefined> {
    refuseForgetting(this.location, batch.baseUrl)
    const allowed = allowedBy(guard)
    const shown = guard.shown ?? []
    return this.#database.transaction(() => {
      const fingerprint = fingerprinting(this.#database)
      const stop = stopOfNew(this.#matching, batch, guard)
      if (stop !== undefined) return stop
      this.#database.run(insertBatch, batchColumns(batch, allowed))
      for (const columns of orderColumns(batch, fingerprint)) {
        this.#database.run(insertSubmission, columns)
        const own = { batchId: batch.id, row: columns.row_number }
        this.#matching.release(own, shown, { at: batch.addedAt, by: batch.userEmail })
      }
      return undefined
    })
  }

  async begin(from: RowVersion, attempt: NewAttempt): Promise<Attempt | undefined> {
    this.#age.ready()
    return this.#listed(
      this.#database.transaction(() => {
        this.#age.requireOpen()
        const row = this.#stored(from)
        return this.#stopped(from, row, attempt.at) === undefined
          ? this.#claim(from, row, attempt)
          : undefined
      }),
    )
  }

  async beginInQuota(from: RowVersion, attempt: NewAttempt, place: QuotaPlace): Promise<Begun> {
    this.#age.ready()
    const { waitMs, claimed, stop } = this.#database.transaction(() => {
      this.#age.requireOpen()
      const row = this.#stored(from)
      const inTheWay = this.#stopped(from, row, attempt.at)
      if (inTheWay !== undefined) return { waitMs: 0, claimed: undefined, stop: inTheWay }
      const wait = takePlace(this.#database, place)
      return {
        waitMs: wait,
        claimed: wait === 0 ? this.#claim(from, row, attempt) : undefined,
        stop: undefined,
      }
    })
    return { waitMs, attempt: this.#listed(claimed), stop }
  }

  async move(from: RowVersion, change: Change): Promise<boolean> {
    return this.#database.transaction(() => changeRow(this.#database, from, change))
  }

  async moveAndBegin(
    from: RowVersion,
    change: Change,
    next: RowVersion,
    attempt: NewAttempt,
    place: QuotaPlace,
  ): Promise<MovedAndBegun> {
    const { moved, claimed, stop } = this.#database.transaction(() => {
      const took = changeRow(this.#database, from, change)
      const row = took && this.#age.closed() === undefined ? this.#soundRow(next) : undefined
      const inTheWay = this.#stopped(next, row, attempt.at)
      // A damaged row is told when it is begun by itself: here it would take the change before it with it.
      const mayGo =
        row?.body !== undefined && inTheWay === undefined && takePlace(this.#database, place) === 0
      return { moved: took, claimed: mayGo ? this.#claim(next, row, attempt) : undefined, stop: inTheWay }
    })
    try {
      return { moved, attempt: this.#listed(claimed), stop }
    } catch {
      // What keeps it from being listed is told when it is begun by itself.
      return { moved, attempt: undefined, stop }
    }
  }

  /** After the commit and before the POST; what cannot be listed is not sent. */
  #listed(claimed: Claimed | undefined): Attempt | undefined {
    if (claimed === undefined) return undefined
    const { attempt } = claimed
    try {
      this.#age.listed(listedOf(claimed))
    } catch (error) {
      const reason = 'the attempt could not be listed outside the store'
      this.#database.transaction(() =>
        changeRow(this.#database, attempt, { to: 'pending', at: attempt.at, reason }),
      )
      throw error
    }
    return attempt
  }

  /**
   * "First when it comes in …, and, what alone binds, in the transaction that takes it to `sending`" (ordering protocol,
   * "Comparing"): what stands in a pending row's way, which is journaled.
   */
  #stopped(
    { batchId, row, state }: RowVersion,
    compared: StoredRow | undefined,
    at: number,
  ): Stop | undefined {
    const stop = compared && this.#matching.stopOf(compared)
    if (stop === undefined || state !== 'pending') return undefined
    return this.#matching.stopRow({ batchId, row }, 'pending', stop, at) ? stop : undefined
  }

  #soundRow(version: RowVersion): StoredRow | undefined {
    const row = this.#stored(version)
    return row === undefined || this.#matching.damage(row) !== undefined ? undefined : row
  }

  #stored({ batchId, row }: RowVersion): StoredRow | undefined {
    return this.#matching.rowToCompare(batchId, row)
  }

  #claim(
    { batchId, row, state, attemptId }: RowVersion,
    stored: StoredRow | undefined,
    attempt: NewAttempt,
  ): Claimed | undefined {
    if (state !== 'pending') throw new InternalError(`an attempt cannot begin from "${state}"`)
    const key = { batch_id: batchId, row_number: row }
    const claim = { ...key, expected: attemptId ?? null, attempt_id: attempt.attemptId, at: attempt.at }
    if (stored === undefined || this.#database.run(claimRow, claim) === 0) return undefined
    const { body } = stored
    if (body === undefined) throw damagedStore(this.location, { batchId, row })
    this.#database.run(insertAttempt, attemptColumns(stored, attempt))
    return claimedOf({ ...stored, body }, attempt)
  }

  async whom({ batchId, row }: Pick<RowVersion, 'batchId' | 'row'>, person: Recipient): Promise<Whom> {
    const prints = this.#matching.rowToCompare(batchId, row)?.prints
    return whomByPrints(prints, personPrints(fingerprinting(this.#database), person))
  }

  async recordStatus(requestId: string, status: string, at: number, checks?: string): Promise<void> {
    const id = requestId.toLowerCase()
    this.#database.run(updateStatus, { request_id: id, status, at, checks: checks ?? null })
  }

  async list(filter: SubmissionFilter): Promise<Submission[]> {
    const { where, values } = conditions(filter)
    const sql = `${selectSubmissions} ${where} ORDER BY b.added_at, b.rowid, s.row_number`
    return this.#database.all(sql, values).map(submissionOf)
  }

  /** For its caller to do while it holds the batch. */
  #end(batch: BatchRef, at: number): Submission[] {
    return this.#database.transaction(() => {
      const unknown: Submission[] = []
      for (const row of this.#database.all(selectUnfinishedRows, { id: batch.id }).map(submissionOf)) {
        const change = orphaned({ state: row.state, kind: batch.kind }, at)
        if (change === undefined || !changeRow(this.#database, row, change)) continue
        if (change.to === 'unknown') {
          unknown.push({ ...row, state: 'unknown', reason: change.reason, changedAt: at })
        }
      }
      return unknown
    })
  }
}
