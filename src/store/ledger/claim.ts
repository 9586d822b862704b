import type { QuotaPriority } from '../../domain/quota/windows.ts'
import { fenceFailure } from '../../domain/store/rollback.ts'
import { highestPrecedence, type Conflict } from '../../domain/submission/conflicts.ts'
import type { Attempt, NewAttempt, RowVersion } from '../../domain/submission/submission.ts'
import { InternalError, IoError } from '../../errors/kinds.ts'
import { damagedStore } from './submission-rows.ts'
import { get, lastly, metaValue, nothingAsked, run, together, type Work } from './engine.ts'
import {
  closedName,
  epochName,
  generationName,
  headCount,
  relatedPackageIds,
  selectMoved,
} from './store-state.ts'
import { fingerprintKeyName } from './fingerprints.ts'
import { type ClaimFailure, type FenceRequirement, type RecordedAttempt, StorePart } from './store-part.ts'
import { Matching, type StoredRow } from './matching.ts'
import { decideSlot, lockQuota } from './quota.ts'

/** How long a row belongs to its runner after its claim, even if the connection breaks: longer than the longest POST. */
const leaseMs = 75_000

/** What came of a claim: an attempt, a wait for the quota, or a conflict, which is journaled. */
export interface ClaimOutcome {
  waitMs: number
  attempt?: Attempt | undefined
  stop?: Conflict | undefined
  /** The row that it is about, where that is another than was asked for. */
  row?: number | undefined
  /** Another runner has the row. */
  taken?: boolean | undefined
  /** The outcome of another runner's order is unknown: no row is sent before a health check of the service passes. */
  isBreakerOpen?: boolean | undefined
}

/** The same before the attempt is recorded in the attempt log. */
export interface ClaimResult extends ClaimOutcome {
  recorded?: RecordedAttempt | undefined
  /** The store may not be used as it is. */
  failure?: ClaimFailure | undefined
  /** Where the circuit breaker is open, the attempt whose outcome is unknown. */
  openedBy?: string | undefined
}

export interface ClaimOptions {
  /** In the quota. */
  priority: QuotaPriority
  /** Any row of the batch will do: the first that no other runner is about to send. */
  orNext: boolean
  /** Called before the row is asked for: where no answer comes, it may be taken. */
  onAsked: (row: RowVersion) => void
}

/** What a claim is decided by. */
interface Seen {
  fence: SelectedFence | undefined
  stored: StoredRow | undefined
  quota: Parameters<typeof decideSlot>[1]
  matching: Matching
}

interface SelectedFence
  extends
    Record<'closed' | 'key' | 'generation' | 'epoch', Uint8Array | undefined>,
    Record<'epochNow' | 'moved' | 'openedBy', string | undefined> {
  heads: number
  isReplicated: boolean | 0
  openedAt: number | undefined
}

/** Rules that count time are judged by it, whatever the clock of the machine that sends. */
const storeTime = 'coalesce({clock}, :at)'

const updateRow = `
UPDATE submissions
SET state = 'sending', attempt_id = :attemptId, changed_at = ${storeTime}, reason = NULL, field = NULL{shared , runner = :runner}
WHERE {isAtAddress} AND batch_id = :batchId AND row_number = :row AND state = 'pending'
  AND attempt_id IS NOT DISTINCT FROM CAST(:expected AS text)`

const takeNumber = `
UPDATE accounts SET head_number = head_number + 1, head_attempt_id = :attemptId WHERE name = :account`

const attemptColumns = `INSERT INTO attempts (
  id, batch_id, row_number, user_email, body_sha256, began_at, began_monotonic, account, log_id, number
)`
const attemptValues = `:attemptId, :batchId, :row, :userEmail, :bodySha256, ${storeTime},
  CAST(:monotonic AS double precision), :account, CAST(:logId AS text)`

/**
 * The row, the number of the attempt, the attempt and its runner's lease: in PostgreSQL all at once. By its address: by its
 * key and state the server may go through all rows of a file, as long as it has no statistics of one that was just taken in.
 */
export const claimShared = `
WITH claimed AS (${updateRow} RETURNING batch_id
), numbered AS (${takeNumber} AND EXISTS (SELECT 1 FROM claimed) RETURNING head_number
), counted AS (
  UPDATE runners SET seen_at = {clock}, leased_until = {clock} + :lease
  WHERE id = :runner AND EXISTS (SELECT 1 FROM claimed)
) ${attemptColumns} SELECT ${attemptValues}, head_number FROM numbered RETURNING number, began_at`

const claimInSteps = [
  `${updateRow} RETURNING 1`,
  `${takeNumber} RETURNING 1`,
  `${attemptColumns} VALUES (${attemptValues}, (SELECT head_number FROM accounts WHERE name = :account)) RETURNING number, began_at`,
]

/** What decides whether a row may be sent, besides what it is compared with. */
const selectFence = `
SELECT {sharedValue p.attempt_id} AS opened_by, {sharedValue p.at} AS opened_at,
  ${metaValue(closedName)} AS closed, ${metaValue(fingerprintKeyName)} AS key,
  ${metaValue(generationName)} AS generation, ${metaValue(epochName)} AS epoch, {epoch} AS epoch_now,
  ${headCount} AS heads, {isReplicated} AS is_replicated, ${selectMoved} AS moved
{shared FROM (SELECT 1) one LEFT JOIN batches b ON b.id = :batchId LEFT JOIN pauses p ON p.service = b.base_url}`

/** What the store says of an attempt that it has taken. */
interface TakenAttempt {
  number: number
  beganAt?: number
}

/** Takes rows to `sending`: what binds is decided here, in one short transaction that no other process can share. */
export class Claims extends StorePart {
  /** Attempts of this process, and attempts whose unknown outcome opened its circuit breaker and was reported. */
  readonly #known = new Set<string>()

  #isAny(orNext: boolean): boolean {
    return orNext && this.engine.isShared
  }

  /** Throws where the row is damaged. */
  *claim(
    from: RowVersion,
    attempt: NewAttempt,
    required: FenceRequirement,
    options: ClaimOptions,
  ): Work<ClaimResult> {
    const seen = yield* this.readForClaim(from, required, options)
    return yield* this.decide(seen, from, attempt, required, { ...options, isFirm: true })
  }

  /** What a claim is decided by, at one go; the row and the use of the quota are locked. */
  *readForClaim(
    from: RowVersion,
    required: FenceRequirement,
    { priority, orNext }: ClaimOptions,
  ): Work<Seen> {
    const matching = new Matching(this.key)
    const [fence, stored, quota] = yield* together(
      get<SelectedFence>(selectFence, { heads: required.heads, batchId: from.batchId }),
      this.#isAny(orNext) ? matching.lockNextRow(from.batchId) : matching.lockRow(from),
      lockQuota(priority),
    )
    return { fence, stored, quota, matching }
  }

  /** Unless `isFirm`, together with a change that is not to be undone: an error is reported when the row is claimed by itself. */
  *decide(
    { fence, stored, quota, matching }: Seen,
    from: RowVersion,
    attempt: NewAttempt,
    required: FenceRequirement,
    { priority, orNext, onAsked, isFirm }: ClaimOptions & { isFirm: boolean },
  ): Work<ClaimResult> {
    if (from.state !== 'pending') throw new InternalError(`an attempt cannot begin from "${from.state}"`)
    const isAny = this.#isAny(orNext)
    const failure = fence === undefined ? 'closed' : this.#failure(fence, required)
    if (fence === undefined || failure !== undefined) return { waitMs: 0, failure }
    if (isAny && this.#isBreakerOpen(fence))
      return { waitMs: 0, isBreakerOpen: true, openedBy: fence.openedBy }
    const isFree = stored?.state === 'pending' && (isAny || stored.attemptId === from.attemptId)
    if (stored === undefined || !isFree) return { waitMs: 0, taken: true }
    const { damaged, conflicts } = yield* matching.findConflictsOrDamage(stored)
    if (damaged !== undefined || stored.body === undefined) {
      if (isFirm) throw damagedStore(this.key.location, damaged ?? stored)
      return { waitMs: 0 }
    }
    const about = stored.row === from.row ? {} : { row: stored.row }
    const stop = highestPrecedence(conflicts)
    if (stop !== undefined) {
      const took = yield* matching.recordConflict(stored, 'pending', stop, attempt.at)
      return { waitMs: 0, stop: took ? stop : undefined, ...about, taken: !took }
    }
    const { waitMs, update } = decideSlot(priority, quota)
    if (waitMs > 0) {
      if (update !== undefined) yield* run(...update)
      return { waitMs }
    }
    const relatedIds = relatedPackageIds(fence.moved, stored)
    const order = { ...stored, body: stored.body, relatedIds }
    const { batchId, row } = stored
    this.#known.add(attempt.attemptId)
    onAsked({ batchId, row, state: 'sending', attemptId: attempt.attemptId })
    const [taken] = yield* lastly(
      this.#insertAttempt(order, attempt, required),
      update === undefined ? nothingAsked() : run(...update),
    )
    if (taken === undefined) return { waitMs: 0, ...about, taken: true }
    const { generation } = required
    const claimed = claimedOf(order, attempt, { number: taken.number, generation, at: taken.beganAt })
    return { waitMs: 0, ...claimed, ...about }
  }

  /** Undefined where the row is not pending any more. */
  *#insertAttempt(
    stored: StoredRow,
    attempt: NewAttempt,
    { logId }: FenceRequirement,
  ): Work<TakenAttempt | undefined> {
    const values = {
      ...stored,
      ...attempt,
      logId,
      expected: stored.attemptId,
      runner: this.holds.id,
      lease: leaseMs,
    }
    let taken: TakenAttempt | undefined
    for (const statement of this.engine.isShared ? [claimShared] : claimInSteps) {
      const found = yield* get<TakenAttempt>(statement, values)
      if (found === undefined) return undefined
      taken = found
    }
    return taken
  }

  #failure(fence: SelectedFence, required: FenceRequirement): ClaimFailure | undefined {
    const isSame = Boolean(fence.isReplicated) === required.isReplicated
    if (this.engine.session() !== required.session || !isSame) return 'session'
    const failure = fenceFailure(
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

  /** With another key than the store's, everybody is new. */
  #requireKey(key: Uint8Array | undefined): void {
    if (key !== undefined && Buffer.from(key).toString('hex') === this.key.key) return
    throw new IoError(`the store "${this.key.location}" was replaced while it was in use`, {
      hint: 'Nothing more was sent. See what is known: refcheck store check',
    })
  }

  /** By an order whose outcome became unknown while this runner was active; its own are known to it. */
  #isBreakerOpen({ openedBy, openedAt = 0 }: SelectedFence): boolean {
    return openedBy !== undefined && openedAt >= this.holds.beganAt && !this.#known.has(openedBy)
  }

  /** After the commit of the claim that found it: a transaction may run twice, and its answer may be lost. */
  acknowledgeBreaker(openedBy: string): void {
    this.#known.add(openedBy)
  }
}

const textOf = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString()

export function claimedOf(
  { batchId, row, body, fingerprints, ...order }: StoredRow & { body: Uint8Array; relatedIds: number[] },
  attempt: NewAttempt,
  numbered: { number: number; generation: string; at?: number | undefined },
) {
  const { account, baseUrl, packageId, relatedIds } = order
  const { attemptId, userEmail } = attempt
  // Of a row whose person was erased there are none.
  const { personPrint: person = '', emailPrint: email = '', phonePrint: phone = '' } = fingerprints ?? {}
  const ordered = { batchId, row, account, baseUrl, packageId, relatedIds, person, email, phone }
  return {
    attempt: { batchId, row, ...attempt, state: 'sending' as const, body },
    recorded: { ...ordered, attemptId, userEmail, ...numbered, at: numbered.at ?? attempt.at },
  }
}
