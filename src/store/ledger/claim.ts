import type { QuotaClaim } from '../../domain/quota/windows.ts'
import { findFenceFailure } from '../../domain/store/rollback.ts'
import { highestPrecedence, type Conflict } from '../../domain/submission/conflicts.ts'
import type { Attempt, NewAttempt, RowVersion } from '../../domain/submission/submission.ts'
import { InternalError, IoError } from '../../errors/kinds.ts'
import { damagedStore } from './submission-rows.ts'
import { get, run, together, type Work } from './engine.ts'
import { relatedPackageIds, type SelectedFence, selectFence } from './store-state.ts'
import { type ClaimFailure, type FenceRequirement, type RecordedAttempt, StorePart } from './store-part.ts'
import { Matching, type StoredRow } from './matching.ts'
import { decideSlot, lockQuota } from './quota.ts'

/**
 * How long a runner has the lease of a row after its claim, in ms, even if the connection breaks. It is longer than
 * the longest POST.
 */
const leaseMs = 75_000

/** The result of a claim: an attempt, a wait for the quota, or a conflict, which is recorded. */
export interface ClaimOutcome {
  /** Milliseconds until the quota allows the call; 0 if it allows the call now. */
  waitMs: number
  attempt?: Attempt | undefined
  conflict?: Conflict | undefined
  /** The row that was claimed, if it is not the requested row. */
  row?: number | undefined
  /** Whether another runner has the row. */
  isTaken?: boolean | undefined
  /**
   * Set if the outcome of another runner's order is unknown: no row is sent before a health check of the service
   * succeeds.
   */
  isBreakerOpen?: boolean | undefined
}

/** The result of a claim before the attempt is recorded in the attempt log. */
export interface ClaimResult extends ClaimOutcome {
  /** The committed attempt, which the caller appends to the attempt log; undefined if no row was claimed. */
  recorded?: RecordedAttempt | undefined
  /** Why the store may not be used. */
  failure?: ClaimFailure | undefined
  /** If the circuit breaker is open, the id of the attempt whose outcome is unknown. */
  breakerOpenedBy?: string | undefined
}

/** A row to claim, with the attempt that its claim begins. */
export interface ClaimRequest {
  from: RowVersion
  attempt: NewAttempt
  /** What the quota reserves for the call, and for which kind of call. */
  quotaClaim: QuotaClaim
  /** Whether to claim the first row of the batch that no other runner is about to send, instead of the given row. */
  mayClaimNext: boolean
  /** The state of the store that this process expects: its generation, connection and newest attempts. */
  required: FenceRequirement
  /**
   * The row as the claim changes it. It is set before the statement is sent, because without an answer the
   * row may have been claimed.
   */
  claimed?: RowVersion | undefined
}

/** The data that a claim is decided by. */
interface ClaimInputs {
  /** The state of the store at the claim, which has to match `required` of the request. */
  fence: SelectedFence | undefined
  stored: StoredRow | undefined
  quota: Parameters<typeof decideSlot>[1]
  matching: Matching
}

/**
 * The database's clock, if it is shared: rules about time must not depend on the clock of the machine that sends. In
 * this file, words in braces differ between SQLite and PostgreSQL: see `Dialect` in engine.ts.
 */
const storeTime = 'coalesce({clock}, :at)'

const markRowSending = `
UPDATE submissions
SET state = 'sending', attempt_id = :attemptId, changed_at = ${storeTime}, reason = NULL, field = NULL{shared , runner = :runner}
WHERE {isAtAddress} AND batch_id = :batchId AND row_number = :row AND state = 'pending'
  AND attempt_id IS NOT DISTINCT FROM CAST(:expected AS text)`

const incrementNumber = `
UPDATE accounts SET head_number = head_number + 1, head_attempt_id = :attemptId WHERE name = :account`

const attemptColumns = `INSERT INTO attempts (
  id, batch_id, row_number, user_email, body_sha256, began_at, began_monotonic, account, log_id, number
)`
const attemptValues = `:attemptId, :batchId, :row, :userEmail, :bodySha256, ${storeTime},
  CAST(:monotonic AS double precision), :account, CAST(:logId AS text)`

/**
 * Updates the row, the number of the attempt and the runner's lease, and inserts the attempt: in PostgreSQL with this
 * statement, in SQLite with those of `claimInSteps`. The row is found by its address: without statistics of a file that
 * was added just now, the server may scan all of its rows for a key and a state.
 */
export const claimShared = `
WITH claimed AS (${markRowSending} RETURNING batch_id
), numbered AS (${incrementNumber} AND EXISTS (SELECT 1 FROM claimed) RETURNING head_number
), leased AS (
  UPDATE runners SET seen_at = {clock}, leased_until = {clock} + :lease
  WHERE id = :runner AND EXISTS (SELECT 1 FROM claimed)
) ${attemptColumns} SELECT ${attemptValues}, head_number FROM numbered RETURNING number, began_at`

const claimInSteps = [
  `${markRowSending} RETURNING 1`,
  `${incrementNumber} RETURNING 1`,
  `${attemptColumns} VALUES (${attemptValues}, (SELECT head_number FROM accounts WHERE name = :account)) RETURNING number, began_at`,
]

/** The number and time of an inserted attempt. */
interface InsertedAttempt {
  number: number
  beganAt?: number
}

/**
 * Changes rows to `sending`. The binding decision is made here, in one short transaction that excludes other
 * processes.
 */
export class Claims extends StorePart {
  /**
   * Ids of the attempts of this process, and of attempts whose unknown outcome opened the circuit breaker and was
   * reported by this process.
   */
  readonly #knownAttempts = new Set<string>()

  #claimsAnyRow(mayClaimNext: boolean): boolean {
    return mayClaimNext && this.engine.allowsSeveralRunners
  }

  /** Claims a row. Throws IoError if the row is damaged. */
  *claim(request: ClaimRequest): Work<ClaimResult> {
    const inputs = yield* this.readForClaim(request)
    return yield* this.decideClaim(request, inputs, true)
  }

  /**
   * Reads the data that a claim is decided by, with its statements sent together. Locks the row and the use of the
   * quota.
   */
  *readForClaim(request: ClaimRequest): Work<ClaimInputs> {
    const { from, required, quotaClaim, mayClaimNext } = request
    request.claimed = undefined
    const matching = new Matching(this.key)
    const [fence, stored, quota] = yield* together([
      get<SelectedFence>(selectFence, { heads: required.heads, batchId: from.batchId }),
      this.#claimsAnyRow(mayClaimNext) ? matching.lockNextRow(from.batchId) : matching.lockRow(from),
      lockQuota(quotaClaim),
    ])
    return { fence, stored, quota, matching }
  }

  /**
   * Decides a claim. `throwsIfDamaged` is false if the claim is made together with a change that must not be undone:
   * the error is then thrown when the row is claimed by itself.
   */
  *decideClaim(
    request: ClaimRequest,
    { fence, stored, quota, matching }: ClaimInputs,
    throwsIfDamaged: boolean,
  ): Work<ClaimResult> {
    const { from, attempt, required, quotaClaim, mayClaimNext } = request
    if (from.state !== 'pending') throw new InternalError(`an attempt cannot begin from "${from.state}"`)
    const claimsAnyRow = this.#claimsAnyRow(mayClaimNext)
    const failure = this.findFailure(fence, required)
    if (fence === undefined || failure !== undefined) return { waitMs: 0, failure }
    if (claimsAnyRow && this.#isBreakerOpen(fence))
      return { waitMs: 0, isBreakerOpen: true, breakerOpenedBy: fence.openedBy }
    const isFree = stored?.state === 'pending' && (claimsAnyRow || stored.attemptId === from.attemptId)
    if (stored === undefined || !isFree) return { waitMs: 0, isTaken: true }
    const { damaged, conflicts } = yield* matching.findConflictsOrDamage(stored)
    if (damaged !== undefined || stored.body === undefined) {
      if (throwsIfDamaged) throw damagedStore(this.key.location, damaged ?? stored)
      return { waitMs: 0 }
    }
    const otherRow = stored.row === from.row ? {} : { row: stored.row }
    const conflict = highestPrecedence(conflicts)
    if (conflict !== undefined) {
      const wasRecorded = yield* matching.recordConflict(stored, 'pending', conflict, attempt.at)
      return { waitMs: 0, conflict: wasRecorded ? conflict : undefined, ...otherRow, isTaken: !wasRecorded }
    }
    const { waitMs, update } = decideSlot(quotaClaim, quota)
    if (waitMs > 0) {
      if (update !== undefined) yield* run(...update)
      return { waitMs }
    }
    const relatedIds = relatedPackageIds(fence.moved, stored)
    const order = { ...stored, body: stored.body, relatedIds }
    const { batchId, row } = stored
    this.#knownAttempts.add(attempt.attemptId)
    request.claimed = { batchId, row, state: 'sending', attemptId: attempt.attemptId }
    const [inserted] = yield* together([this.insertAttempt(order, request), update && run(...update)], {
      commits: true,
    })
    if (inserted === undefined) return { waitMs: 0, ...otherRow, isTaken: true }
    const { generation } = required
    const claimed = toClaimed(order, attempt, { number: inserted.number, generation, at: inserted.beganAt })
    return { waitMs: 0, ...claimed, ...otherRow }
  }

  /** Changes a row to `sending` and inserts its attempt. Returns undefined if the row is no longer pending. */
  *insertAttempt(
    stored: StoredRow,
    { attempt, required }: Pick<ClaimRequest, 'attempt' | 'required'>,
  ): Work<InsertedAttempt | undefined> {
    const values = {
      ...stored,
      ...attempt,
      logId: required.logId,
      expected: stored.attemptId,
      runner: this.leases.id,
      lease: leaseMs,
    }
    let inserted: InsertedAttempt | undefined
    for (const statement of this.engine.allowsSeveralRunners ? [claimShared] : claimInSteps) {
      const selected = yield* get<InsertedAttempt>(statement, values)
      if (selected === undefined) return undefined
      inserted = selected
    }
    return inserted
  }

  /** Returns why the store may not be used; undefined if it is as this process requires. */
  findFailure(fence: SelectedFence | undefined, required: FenceRequirement): ClaimFailure | undefined {
    if (fence === undefined) return 'closed'
    const isSameReplication = Boolean(fence.isReplicated) === required.isReplicated
    if (this.engine.session() !== required.session || !isSameReplication) return 'session'
    const failure = findFenceFailure(
      {
        isOpen: fence.closed === undefined,
        isSameEpoch: textOf(fence.epoch) === (fence.epochNow ?? ''),
        generation: textOf(fence.generation),
        hasHeads: fence.heads === required.heads.length,
      },
      required.generation,
    )
    if (failure === undefined) this.#requireKey(fence.key)
    return failure
  }

  /** Throws IoError unless the key is the store's: with another key, all people would count as new. */
  #requireKey(key: Uint8Array | undefined): void {
    if (key !== undefined && Buffer.from(key).toString('hex') === this.key.key) return
    throw new IoError(`the store "${this.key.location}" was replaced while it was in use`, {
      hint: 'Nothing more was sent. See what is known: refcheck store check',
    })
  }

  /**
   * Returns whether another runner's order, whose outcome became unknown while this runner was active, opened the
   * breaker. This runner's own orders are in `#knownAttempts`.
   */
  #isBreakerOpen({ openedBy, openedAt = 0 }: SelectedFence): boolean {
    if (openedBy === undefined || this.#knownAttempts.has(openedBy)) return false
    return openedAt >= (this.leases.beganAt ?? 0)
  }

  /**
   * Records that the open breaker was reported. Call it after the claim's commit, because a transaction may run
   * twice, and its answer may be lost.
   */
  acknowledgeBreaker(openedBy: string): void {
    this.#knownAttempts.add(openedBy)
  }
}

const textOf = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString()

export function toClaimed(
  { body, ...stored }: StoredRow & { body: Uint8Array; relatedIds: number[] },
  attempt: NewAttempt,
  numbered: { number: number; generation: string; at?: number | undefined },
) {
  const { batchId, row } = stored
  return {
    attempt: { batchId, row, ...attempt, state: 'sending' as const, body },
    recorded: recordedAttempt(stored, attempt, numbered),
  }
}

/** Returns an attempt as it is recorded in the attempt log. */
export function recordedAttempt(
  { batchId, row, fingerprints, ...stored }: Omit<StoredRow, 'body'> & { relatedIds: number[] },
  { attemptId, userEmail, at }: NewAttempt,
  numbered: { number: number; generation: string; at?: number | undefined },
): RecordedAttempt {
  const { account, baseUrl, packageId, relatedIds } = stored
  // A row whose person was erased has no fingerprints.
  const { personPrint: person = '', emailPrint: email = '', phonePrint: phone = '' } = fingerprints ?? {}
  const order = { batchId, row, account, baseUrl, packageId, relatedIds, person, email, phone }
  return { ...order, attemptId, userEmail, ...numbered, at: numbered.at ?? at }
}
