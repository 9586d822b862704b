import { terminalStatuses } from '../../contract/statuses.ts'
import {
  all,
  get,
  insertRows,
  resolveAmbiguousCommit,
  run,
  runShared,
  together,
  type Work,
} from './engine.ts'
import {
  allOrders,
  batchFields,
  filterClause,
  findNamesakes,
  singleOrderRows,
  selectRequeuedUnknown,
  selectSubmissions,
  sqlIsOfService,
  sqlList,
} from './submission-rows.ts'
import type {
  BatchRef,
  NewAttempt,
  NewBatch,
  RowId,
  RowVersion,
  Submission,
  SubmissionFilter,
} from '../../domain/submission/submission.ts'
import type { Conflict } from '../../domain/submission/conflicts.ts'
import { type AddGuard, findConflictOfNew, Matching } from './matching.ts'
import {
  type Change,
  refuseImpossible,
  changeAfterCrash,
  statesNeedingDecision,
  type SubmissionState,
} from '../../domain/submission/states.ts'
import type { Recipient } from '../../contract/request.ts'
import type { PersonMatch } from '../../domain/batch/reconciliation.ts'
import type { QuotaClaim } from '../../domain/quota/windows.ts'
import { refuseMemoryStore } from '../../domain/store/address.ts'
import { emailIdentity, orderIdentity } from '../../domain/submission/identity.ts'
import { InternalError, NoAnswerError, StoreDownError } from '../../errors/kinds.ts'
import { type ClaimOutcome, type ClaimRequest, type ClaimResult, Claims } from './claim.ts'
import {
  areFingerprintsOf,
  completeFingerprints,
  fingerprintName,
  fingerprintPerson,
  type StoredFingerprints,
  matchPersons,
} from './fingerprints.ts'
import { type Lease, type StoreContext, StorePart } from './store-part.ts'
import { requireAccount } from './accounts.ts'

// In statements, words in braces differ between SQLite and PostgreSQL: see `Dialect` in engine.ts.
/** Locks a row, after waiting for a process that is changing it, and returns its state. */
const lockState = `
SELECT state, attempt_id FROM submissions s
WHERE batch_id = :batchId AND row_number = :row {lockRows s}`

const selectPersonPrints = `
SELECT person_print, email_print, phone_print FROM submissions
WHERE batch_id = :batchId AND row_number = :row`

/**
 * The SQL condition that the request of a row has a terminal status, which never changes: "Terminal statuses
 * (COMPLETED, ERROR, CANCELLED) never transition further" (API document).
 */
const isTerminal = `coalesce(request_status, '') IN ${sqlList(terminalStatuses)}`

const updateStatus = `
UPDATE submissions
SET request_status_at = CASE WHEN ${isTerminal} THEN request_status_at ELSE :at END, request_status = :status,
  checks = CAST(:checks AS text)
WHERE request_id = :requestId AND ${sqlIsOfService('submissions', 'CAST(:baseUrl AS text)')} AND (
  NOT ${isTerminal}
  OR (request_status = :status AND CAST(:checks AS text) IS NOT NULL AND checks IS DISTINCT FROM CAST(:checks AS text))
)`

/**
 * Selects the rows of a request that were recovered without the person. Such a row has a reason. A purge removes the
 * reason, so that a person who was removed is not added again.
 */
const selectWithoutPerson = `
SELECT s.batch_id, s.row_number, s.package_id, s.person_print, s.email_print, s.phone_print, b.base_url, b.account
FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.request_id = :requestId AND s.email IS NULL AND s.reason IS NOT NULL
  AND ${sqlIsOfService('s', 'CAST(:baseUrl AS text)')}`

const updatePerson = `
UPDATE submissions
SET first_name = :firstName, last_name = :lastName, email = :email, phone = :phone, fingerprint = :fingerprint,
  name_print = :namePrint, reason = NULL
WHERE batch_id = :batchId AND row_number = :row AND request_id = :requestId AND email IS NULL AND reason IS NOT NULL
  AND person_print = :personPrint`

/** Acknowledges only a finished request, since the status of others may still change. */
const updateAcknowledged = `
UPDATE submissions SET acknowledged_at = coalesce(acknowledged_at, CAST(:at AS bigint))
WHERE request_id = :requestId AND ${isTerminal} AND ${sqlIsOfService('submissions', 'CAST(:baseUrl AS text)')}`

/** Changes the state of a row. Only a single order keeps its runner, and a row without person its reason. */
const updateState = `
UPDATE submissions
SET state = :state, changed_at = coalesce({clock}, :at), field = :field,
  reason = coalesce(CAST(:reason AS text), CASE WHEN email IS NULL THEN reason END),
  request_id = :requestId, request_status = :requestStatus, request_status_at = :requestStatusAt, checks = NULL,
  acknowledged_at = NULL, offered_id = coalesce(:offeredId, offered_id)
  {shared , runner = CASE WHEN (SELECT kind FROM batches WHERE id = batch_id) = 'single' THEN runner END}
WHERE batch_id = :batchId AND row_number = :row AND state = :from
  AND attempt_id IS NOT DISTINCT FROM CAST(:attemptId AS text)
  AND (CAST(:requestId AS text) IS NULL OR EXISTS (
    SELECT 1 FROM request_rows r JOIN batches b ON b.id = :batchId AND b.base_url = r.service
    WHERE r.request_id = :requestId AND r.batch_id = :batchId AND r.row_number = :row))`

const endAttempt = `
UPDATE attempts SET ended_at = coalesce({clock}, :at), became = :became, answer_status = :answerStatus, reason = :reason
WHERE id = :id`

const upsertPause = `
INSERT INTO pauses (service, attempt_id, at)
SELECT base_url, CAST(:attemptId AS text), {clock} FROM batches WHERE id = :batchId
ON CONFLICT (service) DO UPDATE SET attempt_id = excluded.attempt_id, at = excluded.at`

/**
 * Reserves a request id for a row, after waiting for a transaction that reserves the same id. Reserves nothing if
 * another row has the request.
 */
const insertRequest = `
INSERT INTO request_rows (service, request_id, batch_id, row_number)
SELECT b.base_url, :requestId, :batchId, :row FROM batches b
WHERE b.id = :batchId AND NOT EXISTS (
  SELECT 1 FROM submissions s JOIN batches o ON o.id = s.batch_id
  WHERE s.request_id = :requestId AND o.base_url = b.base_url
    AND NOT (s.batch_id = :batchId AND s.row_number = :row))
ON CONFLICT (service, request_id) DO NOTHING`

/** Removes a row's reservation of the given request id; of any request id if none is given. */
const deleteRequest = `
DELETE FROM request_rows
WHERE batch_id = :batchId AND row_number = :row AND request_id = coalesce(CAST(:requestId AS text), request_id)`

const reopenAttempt = `UPDATE attempts SET became = :state, reason = :reason WHERE id = :attemptId`

/**
 * Changes a row if its state and attempt are those of `from`. A row becomes `accepted` only if no other order has its
 * request. Returns whether the row was changed. The caller has begun a transaction.
 */
export function* changeRow(from: RowVersion, change: Change): Work<boolean> {
  const isChanged = yield* changeState(from, change)
  if (isChanged) yield* recordChange(from, change)
  return isChanged
}

/** Makes the part of `changeRow` that changes the row itself. `recordChange` has to be called afterwards. */
function* changeState(from: RowVersion, change: Change): Work<boolean> {
  const { reservation, row } = changeFields(from, change)
  const [reservedCount, changedCount] = yield* together([
    reservation && run(insertRequest, reservation),
    run(updateState, row),
  ])
  if (reservedCount === 1 && changedCount === 0 && reservation !== undefined)
    yield* run(deleteRequest, reservation)
  return changedCount === 1
}

/** Records the attempt and the decision of a change. The statements are sent together. */
function* recordChange(from: RowVersion, change: Change): Work<void> {
  const { row, attempt, decision } = changeFields(from, change)
  const isReopened = from.state === 'accepted'
  // All runners wait until the service is healthy before they send another row to it.
  const mustPause = from.state === 'sending' && change.to === 'unknown'
  yield* together([
    isReopened ? run(deleteRequest, row) : undefined,
    isReopened ? run(reopenAttempt, row) : undefined,
    attempt && run(endAttempt, attempt),
    decision && insertRows('decisions', [decision]),
    mustPause ? runShared(upsertPause, from) : undefined,
  ])
}

/**
 * Returns a change as values of columns: of the row, of the attempt that ends (if any) and of the decision (if any).
 * Throws an InternalError for a change of state that is impossible.
 */
export function changeFields({ batchId, row, state: from, attemptId }: RowVersion, change: Change) {
  const { to: state, at, answerStatus, decision } = change
  refuseImpossible(from, state, decision === undefined ? 'call' : 'decision')
  const rowKey = { batchId, row, attemptId }
  const accepted = change.to === 'accepted' ? change : undefined
  const reason = change.to === 'accepted' ? undefined : change.reason
  // UUIDs that differ only in case are equal.
  const requestId = accepted?.requestId.toLowerCase()
  return {
    /** The request id that is reserved for the row; undefined unless the row becomes `accepted`. */
    reservation: requestId === undefined ? undefined : { batchId, row, requestId },
    row: {
      ...rowKey,
      from,
      state,
      at,
      reason,
      requestId,
      field: change.to === 'rejected' ? change.field : undefined,
      requestStatus: accepted?.requestStatus,
      requestStatusAt: accepted?.at,
      offeredId: change.to === 'unknown' ? change.offeredId?.toLowerCase() : undefined,
    },
    attempt: from === 'sending' ? { id: attemptId, at, became: state, answerStatus, reason } : undefined,
    decision: decision && { ...rowKey, became: state, madeAt: at, madeBy: decision.by, why: decision.why },
  }
}

type RowWithoutPerson = RowId & StoredFingerprints & { packageId: number; baseUrl: string; account: string }

/** The public methods of the ledger; tests replace some of them. */
export type Ledger = Pick<EngineLedger, keyof EngineLedger>

/**
 * Maximum number of failures of one claim: a connection may be lost several times, but more failures are a defect of
 * this program.
 */
export const maxFailures = 20

const unansweredReason = 'the store did not answer before it was sent'
const notRecordedReason = 'the attempt could not be recorded in the attempt log'

/**
 * The journal of every order. A change is on the disk when its method returns, and survives a power failure. In
 * SQLite, an error of the disk throws an IoError, and so does every later call: a failed commit is never repeated.
 */
export class EngineLedger extends StorePart {
  readonly #claims: Claims

  constructor(context: StoreContext) {
    super(context)
    this.#claims = new Claims(context)
  }

  /** An absolute path, ":memory:", or the address of a database without its password. */
  get location(): string {
    return this.engine.location
  }

  /** Acquires the lease of a batch, before `add`. Returns undefined if another process has it. */
  async acquire(batch: BatchRef): Promise<Lease | undefined> {
    return this.leaseForOrdering(batch)
  }

  /**
   * Changes the state of rows whose process has ended, at the wall time `at` (ms). A row in `sending` becomes `unknown`
   * and is returned. A single order that is `pending` becomes `cancelled`, since it was not sent and no process will
   * continue it.
   */
  async recover(at: number): Promise<Submission[]> {
    const unknown: Submission[] = []
    for await (const { row, kind, lock } of this.leases.abandoned(this.engine)) {
      const change = changeAfterCrash({ state: row.state, kind }, at)
      if (change === undefined || !(await this.#change(row, change, lock))) continue
      if (change.to === 'unknown') {
        unknown.push({ ...row, state: 'unknown', reason: change.reason, changedAt: at })
      }
    }
    return unknown
  }

  /**
   * Adds a batch with `pending` rows, while no other process adds rows of the account. If an order conflicts with one of
   * them (domain/submission/conflicts), nothing is added and the conflict is returned.
   */
  async add(batch: NewBatch, guard: AddGuard): Promise<Conflict | undefined> {
    refuseMemoryStore(this.location, batch.baseUrl)
    return this.addOnce(batch, () => this.#addUnlessConflict(batch, guard))
  }

  /** Returns the conflict that `add` would return, without adding anything. */
  async previewConflict(batch: NewBatch, guard: AddGuard): Promise<Conflict | undefined> {
    return this.engine.snapshot(() => findConflictOfNew(new Matching(this.key), batch, guard))
  }

  /** Returns when a person with the same full name, but another e-mail and phone, was last ordered. */
  async findNamesake(batch: NewBatch): Promise<number | undefined> {
    const orders = batch.submissions.map((each) => ({ ...each, baseUrl: batch.baseUrl }))
    const namesakeOf = await this.engine.snapshot(() => findNamesakes(this.key, batch, orders))
    return orders.map(namesakeOf).find((at) => at !== undefined)
  }

  /**
   * Claims a row (`pending → sending`): journals one attempt and reserves a call in the quota, in one commit. If the
   * quota is full, only the time to wait is returned. There is no attempt if the row differs from `from`, or becomes
   * `duplicate` or `held`, since it is compared again in the same transaction. `mayClaimNext`: if several runners send
   * rows of the batch, the first pending row that no other runner has is claimed instead of `from`. An attempt whose
   * commit has no answer is never sent.
   */
  async beginInQuota(
    from: RowVersion,
    attempt: NewAttempt,
    quotaClaim: QuotaClaim,
    mayClaimNext = false,
  ): Promise<ClaimOutcome> {
    await this.rollbacks.ensureCompared()
    const claims = this.#claims
    for (let failures = 0; ; failures += 1) {
      const request: ClaimRequest = {
        from,
        attempt,
        quotaClaim,
        mayClaimNext,
        required: this.rollbacks.readRequirement(),
      }
      let claim: ClaimResult
      try {
        claim = await this.engine.transaction(() => claims.claim(request), { accountOf: from.batchId })
      } catch (error) {
        if (!(error instanceof NoAnswerError)) throw error
        await this.#returnToPending(request.claimed, attempt.at, unansweredReason)
        return { waitMs: 0, attempt: undefined, conflict: undefined, isTaken: true }
      }
      if (claim.breakerOpenedBy !== undefined) claims.acknowledgeBreaker(claim.breakerOpenedBy)
      if (claim.failure === undefined) return this.#recordInLog(claim)
      if (failures === maxFailures) throw new InternalError(`the store is compared in vain: ${claim.failure}`)
      await this.rollbacks.handleFailedClaim(claim.failure)
    }
  }

  /**
   * Makes a change other than a claim. Returns whether the change was made: a row does not become `accepted` if another
   * order has the request.
   */
  async move(from: RowVersion, change: Change): Promise<boolean> {
    const isMoved = await this.#change(from, change)
    if (isMoved) this.#recordOutcome(from, change)
    return isMoved
  }

  /**
   * Moves a request from one row to another: `loss` is the change of `rowWithRequest`, and `gain` that of `targetRow`.
   * Returns whether both changes were made.
   */
  async moveRequest(
    rowWithRequest: RowVersion,
    loss: Change,
    targetRow: RowVersion,
    gain: Change,
  ): Promise<boolean> {
    const isMoved = await resolveAmbiguousCommit(
      () =>
        this.engine.transaction(function* () {
          const row = yield* get<RowState>(lockState, targetRow)
          if (row?.state !== targetRow.state || row.attemptId !== targetRow.attemptId) return false
          return (yield* changeRow(rowWithRequest, loss)) && (yield* changeRow(targetRow, gain))
        }),
      () => this.#findResult(targetRow, gain),
    )
    if (isMoved) {
      this.#recordOutcome(rowWithRequest, loss)
      this.#recordOutcome(targetRow, gain)
    }
    return isMoved
  }

  /**
   * Makes the change of the row `from` and claims the row `next` in the same commit, which halves the flushes to disk.
   * Nothing is claimed without the change. `attempt` is undefined if the row differs from `next` or the quota is full.
   */
  async moveAndBegin(
    from: RowVersion,
    change: Change,
    next: RowVersion,
    attempt: NewAttempt,
    quotaClaim: QuotaClaim,
    mayClaimNext = false,
  ): Promise<Pick<ClaimOutcome, 'attempt' | 'conflict' | 'row'> & { isMoved: boolean }> {
    const claims = this.#claims
    const request: ClaimRequest = {
      from: next,
      attempt,
      quotaClaim,
      mayClaimNext,
      required: this.rollbacks.readRequirement(),
    }
    let claim: ClaimResult | undefined
    let isAnswered = true
    const isMoved = await resolveAmbiguousCommit(
      () =>
        this.engine.transaction(
          function* () {
            claim = undefined
            isAnswered = true
            const [isChanged, inputs] = yield* together([
              changeState(from, change),
              claims.readForClaim(request),
            ])
            if (!isChanged) return false
            const [, decidedClaim] = yield* together([
              recordChange(from, change),
              claims.decideClaim(request, inputs, false),
            ])
            claim = decidedClaim
            return true
          },
          { accountOf: from.batchId },
        ),
      () => {
        isAnswered = false
        return this.#findResult(from, change)
      },
    ).catch((error: unknown) => {
      if (error instanceof NoAnswerError || error instanceof StoreDownError) throw error
      // An error of the claim must not prevent the outcome from being recorded.
      claim = undefined
      return this.#change(from, change)
    })
    if (isMoved) this.#recordOutcome(from, change)
    try {
      if (!isAnswered) {
        await this.#returnToPending(request.claimed, attempt.at, unansweredReason)
        return { isMoved }
      }
      const { attempt: claimed, conflict, row } = await this.#recordInLog(claim ?? { waitMs: 0 })
      return { isMoved, attempt: claimed, conflict, row }
    } catch {
      // The caller then claims the row by itself, which throws the same error.
      return { isMoved, conflict: claim?.conflict }
    }
  }

  /** Compares the person of a row with another person, by fingerprints alone: for a row whose name was erased. */
  async personMatch(key: RowId, person: Recipient): Promise<PersonMatch> {
    const stored = await this.engine.run(get<StoredFingerprints>(selectPersonPrints, key))
    return matchPersons(stored, fingerprintPerson(this.key.fingerprint, person))
  }

  /** Whether an e-mail is that of a row's person, by its fingerprint alone: for a row whose name was erased. */
  async isEmailOf(key: RowId, email: string): Promise<boolean> {
    const stored = await this.engine.run(get<StoredFingerprints>(selectPersonPrints, key))
    return stored?.emailPrint === this.key.fingerprint(emailIdentity(email))
  }

  /**
   * Returns by how many milliseconds the clock of `now` is ahead of the clock that times attempts; 0 for the same
   * clock.
   */
  async clockAheadMs(now: number): Promise<number> {
    const database = await this.engine.run(get<{ now: number | undefined }>('SELECT {clock} AS now'))
    return now - (database?.now ?? now)
  }

  /** Records the status of a request that was read at a service. A terminal status is never replaced. */
  async recordStatus(
    baseUrl: string,
    requestId: string,
    status: string,
    at: number,
    checks?: string,
  ): Promise<void> {
    const values = { baseUrl, requestId: requestId.toLowerCase(), status, at, checks }
    await this.engine.run(run(updateStatus, values))
  }

  /**
   * Adds the person to the rows of a request that were recovered without the person. `person`: the recipient of the
   * request, as the service returned it. A row with other fingerprints is not changed.
   */
  async addLostPerson(baseUrl: string, id: string, person: Recipient): Promise<void> {
    const requestId = id.toLowerCase()
    const rows = await this.engine.run(all<RowWithoutPerson>(selectWithoutPerson, { baseUrl, requestId }))
    const { fingerprint } = this.key
    for (const row of rows) {
      const personFingerprints = fingerprintPerson(fingerprint, person)
      const rowFingerprints = completeFingerprints(row)
      if (rowFingerprints === undefined || !areFingerprintsOf(rowFingerprints, personFingerprints)) continue
      const { first_name: firstName, last_name: lastName, email, phone } = person
      const values = {
        ...row,
        requestId,
        firstName,
        lastName,
        email,
        phone,
        personPrint: personFingerprints.personPrint,
        fingerprint: fingerprint(orderIdentity({ ...row, recipient: person })),
        namePrint: fingerprintName(fingerprint, person),
      }
      await this.engine.run(run(updatePerson, values))
    }
  }

  /** Records that a user acknowledged a finished request of a service; of any service if `baseUrl` is undefined. */
  async acknowledge(baseUrl: string | undefined, requestId: string, at: number): Promise<void> {
    await this.engine.run(run(updateAcknowledged, { baseUrl, requestId: requestId.toLowerCase(), at }))
  }

  /** Returns submissions in the order in which they were added. */
  async list(filter: SubmissionFilter): Promise<Submission[]> {
    const { where, values } = filterClause(filter)
    const select = `${selectSubmissions} ${where} ORDER BY b.added_at, b.{added}, s.row_number`
    return this.engine.run(allOrders(select, values))
  }

  /**
   * Returns the rows that are pending again after an attempt with an unknown outcome, once for each such attempt.
   * Their time and user are those of the attempt, since evidence for it may still arrive.
   */
  async findReturnedToPending(batchId?: string): Promise<Submission[]> {
    const ofBatch = batchId === undefined ? '' : ' AND a.batch_id = :batchId'
    const rows = await this.engine.run(
      allOrders<Submission & { endedAt?: number }>(selectRequeuedUnknown + ofBatch, { batchId }),
    )
    return rows.map(({ endedAt, ...row }) => Object.assign(row, { changedAt: endedAt ?? row.changedAt }))
  }

  /** Records a committed attempt in the log, before its request is sent. If that fails, the row becomes pending again. */
  async #recordInLog(claim: ClaimResult): Promise<ClaimOutcome> {
    const { recorded, failure: _, breakerOpenedBy: __, ...outcome } = claim
    const claimed = { attempt: undefined, conflict: undefined, ...outcome }
    if (recorded === undefined) return claimed
    try {
      await this.rollbacks.record(recorded)
    } catch (error) {
      await this.#returnToPending(claimed.attempt, recorded.at, notRecordedReason)
      throw error
    }
    return claimed
  }

  /** Records the outcome that a recovery would need. `pending` is recorded only for an attempt that was not sent. */
  #recordOutcome({ state, attemptId }: RowVersion, change: Change): void {
    if (attemptId === undefined || !isRecorded(state, change.to)) return
    const requestId = change.to === 'accepted' ? change.requestId : undefined
    this.rollbacks.recordOutcome({ attemptId, state: change.to, requestId })
  }

  /**
   * Sets a row whose request was not sent to pending again, after waiting for a process that has the row
   * locked.
   */
  async #returnToPending(claimed: RowVersion | undefined, at: number, reason: string): Promise<void> {
    if (claimed === undefined) return
    await this.#change(claimed, { to: 'pending', at, reason }, lockState)
  }

  /** Makes a change. `lock`: a statement that locks the row first; nothing is changed if it returns no row. */
  async #change(from: RowVersion, change: Change, lock?: string): Promise<boolean> {
    // Other rows are compared with a row that becomes pending by a decision, so no other process may compare meanwhile.
    const locksAccount = change.to === 'pending' && statesNeedingDecision.includes(from.state)
    return resolveAmbiguousCommit(
      () =>
        this.engine.transaction(
          function* () {
            if (lock !== undefined && (yield* get(lock, from)) === undefined) return false
            return yield* changeRow(from, change)
          },
          locksAccount ? { accountOf: from.batchId } : undefined,
        ),
      () => this.#findResult(from, change),
    )
  }

  /**
   * Finds the result of a change whose commit has no answer: true if the row has the new state, false if another change
   * was made instead, undefined if the row is unchanged.
   */
  async #findResult(from: RowVersion, { to }: Change): Promise<boolean | undefined> {
    const row = await this.engine.transaction(() => get<RowState>(lockState, from))
    if (row?.attemptId !== from.attemptId) return false
    return row?.state === from.state && from.state !== to ? undefined : row?.state === to
  }

  *#addUnlessConflict(batch: NewBatch, guard: AddGuard): Work<Conflict | undefined> {
    const matching = new Matching(this.key)
    const conflict = yield* findConflictOfNew(matching, batch, guard)
    if (conflict !== undefined) return conflict
    yield* requireAccount(batch.account ?? '', batch.addedAt)
    const { submissions: _, ...fields } = batch
    const { allowDuplicate, allowSimilar } = guard
    yield* insertRows('batches', [batchFields({ ...fields, allowDuplicate, allowSimilar })])
    // A single order belongs to its runner from the start.
    const runner = batch.kind === 'single' ? this.leases.id : undefined
    const rows = singleOrderRows(batch, this.key.fingerprint)
    const { allowsSeveralRunners } = this.engine
    yield* insertRows('submissions', allowsSeveralRunners ? rows.map((row) => ({ ...row, runner })) : rows)
    for (const row of rows)
      yield* matching.recordReleases(row, guard.released ?? [], { at: batch.addedAt, by: batch.userEmail })
    return undefined
  }
}

type RowState = Pick<RowVersion, 'state' | 'attemptId'>

/** Whether the attempt log records the change from one state to another. */
function isRecorded(from: SubmissionState, to: SubmissionState): boolean {
  return (
    ['accepted', 'rejected'].includes(to) || from === 'accepted' || (to === 'pending' && from === 'sending')
  )
}
