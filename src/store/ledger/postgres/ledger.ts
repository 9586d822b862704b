import type { PostgresAge } from './age.ts'
import { changeRow } from './change.ts'
import { Claims, type Turn } from './claim.ts'
import { conditions } from './search.ts'
import type { Database, Sql } from './connection.ts'
import type { Recipient } from '../../../contract/request-body.ts'
import type { Whom } from '../../../domain/batch/fit.ts'
import type { QuotaPlace } from '../../../domain/quota/place.ts'
import type { Change } from '../../../domain/submission/change.ts'
import type { Stop } from '../../../domain/submission/match.ts'
import { orphaned } from '../../../domain/submission/recovery.ts'
import { leftByDecision } from '../../../domain/submission/states.ts'
import type {
  Attempt,
  BatchKind,
  BatchRef,
  NewAttempt,
  NewBatch,
  RowVersion,
  Submission,
  SubmissionFilter,
} from '../../../domain/submission/submission.ts'
import { NoAnswerError, StoreDownError } from '../../../errors/kinds.ts'
import { holdForOrdering } from '../holds.ts'
import type { Runner } from './holds.ts'
import type { Keyed } from './keyed.ts'
import {
  insertBatch,
  insertSubmission,
  lockOrphan,
  selectOrphans,
  selectPrints,
  selectStanding,
  updateStatus,
} from './ledger-statements.ts'
import { lockAccount, lockAccountOf } from './locking.ts'
import { Matching } from './matching.ts'
import { surely } from './sure.ts'
import { listedOf } from '../claimed.ts'
import { personPrints, storedPrints, whomByPrints } from '../fingerprints.ts'
import type { AddGuard, Begun, Hold, Ledger, MovedAndBegun } from '../ledger.ts'
import { batchColumns, orderColumns } from '../new-rows.ts'
import { allowedBy, newToCompare, notShown } from '../stop-of-new.ts'
import { submissionOf, selectSubmissions } from '../submission-rows.ts'

const unanswered = 'the store did not answer before it was sent'

/** The ledger in a PostgreSQL database, which any number of runners share. */
export class PostgresLedger implements Ledger {
  readonly location: string
  readonly #database: Database
  readonly #keyed: Keyed
  readonly #runner: Runner
  readonly #age: PostgresAge
  readonly #claims: Claims

  constructor(database: Database, keyed: Keyed, runner: Runner, age: PostgresAge) {
    this.location = keyed.location
    this.#database = database
    this.#keyed = keyed
    this.#runner = runner
    this.#age = age
    this.#claims = new Claims(keyed, runner)
  }

  async hold(batch: BatchRef): Promise<Hold | undefined> {
    return holdForOrdering(() => this.#runner.take(batch), this.#age)
  }

  async recover(at: number): Promise<Submission[]> {
    const unknown: Submission[] = []
    for (const orphan of await this.#database.all(selectOrphans)) {
      const row = submissionOf(orphan)
      const { kind } = orphan as { kind: BatchKind }
      const change = orphaned({ state: row.state, kind }, at)
      if (change === undefined || !(await this.#change(row, change, lockOrphan))) continue
      if (change.to === 'unknown') {
        unknown.push({ ...row, state: 'unknown', reason: change.reason, changedAt: at })
      }
    }
    return unknown
  }

  async look(batch: NewBatch, guard: AddGuard): Promise<Stop | undefined> {
    return this.#database.transaction((sql) => this.#stopOfNew(sql, batch, guard))
  }

  async add(batch: NewBatch, guard: AddGuard): Promise<Stop | undefined> {
    const account = batch.account ?? ''
    const { stop } = await surely(
      () =>
        this.#database.transaction(async (sql) => {
          await lockAccount(sql, account)
          const found = await this.#stopOfNew(sql, batch, guard)
          if (found === undefined) await this.#insert(sql, batch, guard)
          return { stop: found }
        }),
      () =>
        this.#database.transaction(async (sql) => {
          await lockAccount(sql, account)
          const there = await sql.get('SELECT 1 FROM batches WHERE id = :id FOR SHARE', { id: batch.id })
          return there === undefined ? undefined : { stop: undefined }
        }),
    )
    return stop
  }

  async begin(from: RowVersion, attempt: NewAttempt): Promise<Attempt | undefined> {
    await this.#age.ready()
    return (await this.#turn((sql) => this.#claims.take(sql, from, attempt))).attempt
  }

  async beginInQuota(
    from: RowVersion,
    attempt: NewAttempt,
    place: QuotaPlace,
    orNext = false,
  ): Promise<Begun> {
    await this.#age.ready()
    return this.#turn((sql) => this.#claims.take(sql, from, attempt, { place, orNext }))
  }

  async move(from: RowVersion, change: Change): Promise<boolean> {
    return this.#change(from, change)
  }

  async moveAndBegin(
    from: RowVersion,
    change: Change,
    next: RowVersion,
    attempt: NewAttempt,
    place: QuotaPlace,
    orNext = false,
  ): Promise<MovedAndBegun> {
    let turn: Turn | undefined
    let isAnswered = true
    const moved = await surely(
      () =>
        this.#database.transaction(async (sql) => {
          turn = undefined
          isAnswered = true
          await lockAccountOf(sql, from.batchId)
          const took = await changeRow(sql, from, change)
          if (took) turn = await this.#claims.tryToTake(sql, next, attempt, { place, orNext })
          return took
        }),
      () => {
        isAnswered = false
        return this.#lookUp(from, change)
      },
    ).catch((error: unknown) => {
      if (error instanceof NoAnswerError || error instanceof StoreDownError) throw error
      // What keeps the next row from being begun keeps no outcome from being recorded.
      turn = undefined
      return this.#change(from, change)
    })
    try {
      if (!isAnswered) {
        await this.#takeBack(turn, unanswered)
        return { moved, attempt: undefined, stop: undefined }
      }
      const { attempt: begun, stop, row } = await this.#listed(turn ?? { waitMs: 0, stop: undefined })
      return { moved, attempt: begun, stop, row }
    } catch {
      // What keeps it from being listed is told when it is begun by itself.
      return { moved, attempt: undefined, stop: turn?.stop }
    }
  }

  async whom({ batchId, row }: Pick<RowVersion, 'batchId' | 'row'>, person: Recipient): Promise<Whom> {
    const key = { batch_id: batchId, row_number: row }
    const columns = (await this.#database.get(selectPrints, key)) as
      | Parameters<typeof storedPrints>[0]
      | undefined
    const prints = columns && storedPrints(columns)
    return whomByPrints(prints, personPrints(this.#keyed.fingerprint, person))
  }

  async recordStatus(requestId: string, status: string, at: number, checks?: string): Promise<void> {
    const id = requestId.toLowerCase()
    await this.#database.run(updateStatus, { request_id: id, status, at, checks: checks ?? null })
  }

  async list(filter: SubmissionFilter): Promise<Submission[]> {
    const { where, values } = conditions(filter)
    const sql = `${selectSubmissions} ${where} ORDER BY b.added_at, b.serial, s.row_number`
    return (await this.#database.all(sql, values)).map(submissionOf)
  }

  /** One short transaction that takes a row to `sending`. One whose commit was not answered is never sent. */
  async #turn(take: (sql: Sql) => Promise<Turn>): Promise<Begun> {
    let turn: Turn | undefined
    for (;;) {
      try {
        turn = await this.#database.transaction(async (sql) => (turn = await take(sql)))
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
        await this.#takeBack(turn, unanswered)
        return { waitMs: 0, attempt: undefined, stop: undefined, taken: true }
      }
      if (turn.closed === undefined) return this.#listed(turn)
      // Throws, unless it was another server and all is accounted for.
      await this.#age.closedMeanwhile(turn.closed)
    }
  }

  /** After the commit and before the POST; what cannot be listed is not sent. */
  async #listed(turn: Turn): Promise<Begun> {
    const { claimed, closed: _, lsn, ...begun } = turn
    if (claimed === undefined) return { ...begun, attempt: undefined }
    try {
      this.#age.listed(listedOf(claimed), lsn)
    } catch (error) {
      await this.#takeBack(turn, 'the attempt could not be listed outside the store')
      throw error
    }
    return { ...begun, attempt: claimed.attempt }
  }

  /** No byte of it has left. Whoever has the row locked still is waited for. */
  async #takeBack({ claimed }: Turn = { waitMs: 0, stop: undefined }, reason: string): Promise<void> {
    if (claimed === undefined) return
    const { attempt } = claimed
    const change = { to: 'pending', at: attempt.at, reason } as const
    await this.#change(attempt, change, selectStanding)
  }

  /** `lock`: asked for the row first, waiting for whoever has it; nothing is changed where it finds none. */
  async #change(from: RowVersion, change: Change, lock?: string): Promise<boolean> {
    const comes = change.to === 'pending' && leftByDecision.includes(from.state)
    return surely(
      () =>
        this.#database.transaction(async (sql) => {
          if (comes) await lockAccountOf(sql, from.batchId)
          if (lock !== undefined && (await sql.get(lock, versionKey(from))) === undefined) return false
          return changeRow(sql, from, change)
        }),
      () => this.#lookUp(from, change),
    )
  }

  /** What came of a change whose commit was not answered. */
  async #lookUp(from: RowVersion, { to }: Change): Promise<boolean | undefined> {
    return this.#database.transaction(async (sql) => {
      const key = { batch_id: from.batchId, row_number: from.row }
      const row = (await sql.get(selectStanding, key)) as
        | { state: string; attempt_id: string | null }
        | undefined
      if (row?.attempt_id !== (from.attemptId ?? null)) return false
      return row.state === from.state && from.state !== to ? undefined : row.state === to
    })
  }

  async #stopOfNew(sql: Sql, batch: NewBatch, guard: AddGuard): Promise<Stop | undefined> {
    const matching = new Matching(sql, this.#keyed)
    for (const row of newToCompare(batch, guard)) {
      const stop = notShown(await matching.stopsOf(row), guard)
      if (stop !== undefined) return stop
    }
    return undefined
  }

  async #insert(sql: Sql, batch: NewBatch, guard: AddGuard): Promise<void> {
    const matching = new Matching(sql, this.#keyed)
    await sql.run(insertBatch, batchColumns(batch, allowedBy(guard)))
    const runner = batch.kind === 'single' ? this.#runner.id : null
    for (const columns of orderColumns(batch, this.#keyed.fingerprint)) {
      await sql.run(insertSubmission, { ...columns, runner })
      const own = { batchId: batch.id, row: columns.row_number }
      await matching.release(own, guard.shown ?? [], { at: batch.addedAt, by: batch.userEmail })
    }
  }
}

function versionKey({ batchId, row, state, attemptId }: RowVersion) {
  return { batch_id: batchId, row_number: row, state, attempt_id: attemptId ?? null }
}
