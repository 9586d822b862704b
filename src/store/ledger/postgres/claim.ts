import type { Sql } from './connection.ts'
import type { QuotaPlace } from '../../../domain/quota/place.ts'
import { firstToTell, type Stop } from '../../../domain/submission/match.ts'
import type { NewAttempt, RowVersion } from '../../../domain/submission/submission.ts'
import { InternalError } from '../../../errors/kinds.ts'
import { damagedStore } from '../damage.ts'
import { attemptColumns, type Claimed, claimedOf } from '../claimed.ts'
import type { StoredRow } from '../match-rows.ts'
import { leaseMs, type Runner } from './holds.ts'
import type { Keyed } from './keyed.ts'
import { claimRow, selectFence } from './ledger-statements.ts'
import { lockAccountOf } from './locking.ts'
import { type LockedRow, Matching } from './matching.ts'
import { takePlace } from './quota.ts'

/** What came of a row's turn, before anybody else is told of it. */
export interface Turn {
  waitMs: number
  claimed?: Claimed | undefined
  stop: Stop | undefined
  /** The row that it is about, where another runner had taken the one that was asked for. */
  row?: number | undefined
  /** Another runner has the row, or had it. */
  taken?: boolean | undefined
  /** The outcome of somebody's order is unknown: nothing goes out before the service has answered well. */
  paused?: boolean | undefined
  /** The store may not be used as it is. */
  closed?: 'closed' | 'another server' | undefined
  /** How far the server's log was. */
  lsn?: string | undefined
}

interface Fence {
  is_same: boolean
  lsn: string
  closed: Buffer | null
  paused_by: string | null
  paused_at: number | null
}

export interface TurnOptions {
  place: QuotaPlace
  /** Any row of the batch will do: the first that nobody else is about to send. */
  orNext: boolean
}

const nothing = { waitMs: 0, stop: undefined } as const

/** Takes rows to `sending`: what binds is decided here, in one short transaction that no other process can share. */
export class Claims {
  readonly #keyed: Keyed
  readonly #runner: Runner
  /** Attempts of this process, and orders by whose unknown outcome it was paused once. */
  readonly #known = new Set<string>()

  constructor(keyed: Keyed, runner: Runner) {
    this.#keyed = keyed
    this.#runner = runner
  }

  /** Throws where the row is damaged. */
  async take(sql: Sql, from: RowVersion, attempt: NewAttempt, options?: TurnOptions): Promise<Turn> {
    return this.#take(sql, from, attempt, options, true)
  }

  /** The same beside a change that is not to be undone: whatever is wrong is told when the row is begun by itself. */
  async tryToTake(sql: Sql, from: RowVersion, attempt: NewAttempt, options: TurnOptions): Promise<Turn> {
    return this.#take(sql, from, attempt, options, false)
  }

  async #take(
    sql: Sql,
    from: RowVersion,
    attempt: NewAttempt,
    options: TurnOptions | undefined,
    isFirm: boolean,
  ): Promise<Turn> {
    if (from.state !== 'pending') throw new InternalError(`an attempt cannot begin from "${from.state}"`)
    await lockAccountOf(sql, from.batchId)
    const fence = (await sql.get(selectFence, { batch_id: from.batchId })) as Fence | undefined
    if (fence === undefined || !fence.is_same) return { ...nothing, closed: 'another server' }
    if (fence.closed !== null) return { ...nothing, closed: 'closed' }
    if (options?.orNext === true && this.#pauses(fence, isFirm)) return { ...nothing, paused: true }
    const matching = new Matching(sql, this.#keyed)
    const stored =
      options?.orNext === true ? await matching.lockNext(from.batchId) : await matching.lock(from)
    if (stored === undefined || !stands(stored, from, options?.orNext === true))
      return { ...nothing, taken: true }
    const { damaged, stops } = await matching.look(stored)
    if (damaged !== undefined || stored.body === undefined) {
      if (isFirm) throw damagedStore(this.#keyed.location, damaged ?? stored)
      return nothing
    }
    const about = stored.row === from.row ? {} : { row: stored.row }
    const stop = firstToTell(stops)
    if (stop !== undefined) {
      const took = await matching.stopRow(stored, 'pending', stop, attempt.at)
      return { waitMs: 0, stop: took ? stop : undefined, ...about, taken: !took }
    }
    const waitMs = options === undefined ? 0 : await takePlace(sql, options.place)
    if (waitMs > 0) return { waitMs, stop: undefined }
    const claimed = await this.#claim(sql, { ...stored, body: stored.body }, attempt)
    return { ...nothing, claimed, ...about, taken: claimed === undefined, lsn: fence.lsn }
  }

  async #claim(
    sql: Sql,
    stored: LockedRow & { body: Uint8Array },
    attempt: NewAttempt,
  ): Promise<Claimed | undefined> {
    const took = await sql.run(claimRow, {
      ...attemptColumns(stored, attempt),
      place: stored.place,
      expected: stored.attemptId ?? null,
      runner: this.#runner.id,
      lease: leaseMs,
    })
    this.#known.add(attempt.attemptId)
    return took === 0 ? undefined : claimedOf(stored, attempt)
  }

  /** Told once of each order whose outcome became unknown while this runner was there; of its own it knows. */
  #pauses({ paused_by, paused_at }: Fence, isTold: boolean): boolean {
    if (paused_by === null || paused_at === null || paused_at < this.#runner.beganAt) return false
    if (this.#known.has(paused_by)) return false
    if (isTold) this.#known.add(paused_by)
    return true
  }
}

/** Whether a row may begin: as it was seen, or whichever of its batch is next. */
function stands({ state, attemptId }: StoredRow, from: RowVersion, orNext: boolean): boolean {
  return state === 'pending' && (orNext || attemptId === from.attemptId)
}
