import { changedElsewhereError } from '../../domain/submission/states.ts'
import type { Services } from '../services.ts'
import type { RunEvent } from '../../domain/batch/run-policy.ts'
import type { Clock } from '../../host/clock.ts'
import {
  maxPauseMs,
  type AttemptOutcome,
  type Outcome,
  outcomeOf,
  takenRequestError,
  takenRequestOutcome,
  acceptedByEvidence,
  changeFor,
  notRecordedError,
} from '../../domain/submission/outcome.ts'
import type { Attempt, NewAttempt, RowVersion, Submission } from '../../domain/submission/submission.ts'
import { RefcheckError, UnavailableError, StoreBusyError } from '../../errors/kinds.ts'
import type { RequestResource } from '../../contract/request.ts'
import { findDifferences } from '../../domain/batch/reconciliation.ts'
import type { Change } from '../../domain/submission/states.ts'
import { findRowsOfRequest } from './read-requests.ts'

/** The services that ordering uses. */
export interface OrderServices
  extends
    Pick<Services, 'api' | 'ledger' | 'batches' | 'governor' | 'schemas' | 'clock' | 'random'>,
    Partial<Pick<Services, 'account'>> {
  /** Aborted by Ctrl-C. An exchange under way is finished and journaled first. */
  signal?: AbortSignal | undefined
  onEvent?: ((event: RunEvent) => void) | undefined
  /** Called when the user stops the program while an order is being sent. */
  onStopInFlight?: (() => void) | undefined
}

/** Returns the data that an attempt is journaled with, immediately before it. */
export function newAttempt({
  api,
  clock,
  random,
}: Pick<OrderServices, 'api' | 'clock' | 'random'>): NewAttempt {
  return {
    attemptId: random.uuid(),
    at: clock.now(),
    monotonic: clock.monotonic(),
    userEmail: api.userEmail,
  }
}

/**
 * Sends an attempt that was just journaled, with the journaled bytes. The caller calls this once per attempt and
 * journals the outcome. No signal is passed on: an exchange that has begun is finished, within its time limits.
 */
export async function sendAttempt(
  { api, clock, signal, onStopInFlight }: OrderServices,
  attempt: Attempt,
): Promise<Outcome> {
  if (!isFresh(attempt, clock)) {
    const error = new UnavailableError('more than 5 s passed between recording the order and sending it', {
      hint: 'Nothing was ordered. Run it again.',
    })
    return { kind: 'unsent', error }
  }
  const onStop = (): void => onStopInFlight?.()
  signal?.addEventListener('abort', onStop, { once: true })
  try {
    return outcomeOf(await api.createRequest(attempt.body))
  } catch (error) {
    const refcheckError = error instanceof RefcheckError ? error : undefined
    return outcomeOf({
      kind: 'lost',
      error: refcheckError ?? new UnavailableError('the connection broke', { cause: error }),
    })
  } finally {
    signal?.removeEventListener('abort', onStop)
  }
}

/**
 * Whether an attempt was journaled a moment ago. The wall clock includes the time of a suspended machine, and the
 * monotonic clock detects that the wall clock was set back.
 */
function isFresh(attempt: Attempt, clock: Clock): boolean {
  return Math.max(clock.now() - attempt.at, clock.monotonic() - attempt.monotonic) <= maxPauseMs
}

type AcceptedOutcome = Extract<Outcome, { kind: 'accepted' }>

/** Maximum wait for a busy store before an outcome counts as unrecorded, in addition to SQLite's own 5 s per try. */
const maxBusyMs = 600_000
const busyPauseMs = 500

/** A row after its attempt, and the final outcome of the attempt. */
interface RecordedOutcome {
  version: RowVersion
  outcome: Outcome
}

/**
 * Journals the outcome of an attempt before it is printed. A request that another order has already is not
 * recorded for this attempt. Throws an IoError with the outcome if the store cannot record it: nothing else
 * would preserve it.
 */
export async function recordOutcome(
  ports: OrderServices,
  attemptOutcome: AttemptOutcome,
): Promise<RecordedOutcome> {
  return writeUntilRecorded(ports.clock, attemptOutcome, () => moveRow(ports, attemptOutcome))
}

async function moveRow(ports: OrderServices, { attempt, outcome }: AttemptOutcome): Promise<RecordedOutcome> {
  const change = changeFor(outcome, ports.clock.now())
  const recorded = { version: { ...attempt, state: change.to }, outcome }
  if (await ports.ledger.move(attempt, change)) return recorded
  if (outcome.kind === 'accepted') {
    const otherRow = await findOtherRowWithRequest(ports, attempt, outcome)
    if (otherRow !== undefined) return recordMixedUpRequest(ports, { attempt, outcome, otherRow })
  }
  await recordLateAnswer(ports, attempt, change)
  return recorded
}

/**
 * Handles a response with a request that another row already has. A read of the request shows which row it is
 * for. If the request is for this row, this row is accepted and the other row becomes unknown; if it is for
 * neither of them, both become unknown; in all other cases only this row becomes unknown.
 */
async function recordMixedUpRequest(
  ports: OrderServices,
  { attempt, outcome, otherRow }: { attempt: Attempt; outcome: AcceptedOutcome; otherRow: Submission },
): Promise<RecordedOutcome> {
  const { ledger, clock } = ports
  const recordUnknown = (): Promise<RecordedOutcome> =>
    moveRow(ports, { attempt, outcome: takenRequestOutcome(outcome, otherRow) })
  const request = await readOnce(ports, outcome.requestId)
  if (request === undefined || (await isForRow(ports, otherRow, request))) return recordUnknown()
  const rows = await ledger.list({ batchId: attempt.batchId, states: ['sending', ...laterStates] })
  const ownRow = rows.find(({ row, attemptId }) => row === attempt.row && attemptId === attempt.attemptId)
  const reason = `the service answered with request ${outcome.requestId}, which is the order of another person`
  const decision = { by: 'refcheck', why: `a read of request ${outcome.requestId} showed another person` }
  const toUnknown: Change = { to: 'unknown', at: clock.now(), reason, decision }
  if (ownRow === undefined || !(await isForRow(ports, ownRow, request))) {
    await ledger.move(otherRow, toUnknown)
    return recordUnknown()
  }
  const change = changeFor(outcome, clock.now())
  const laterChange = ownRow.state === 'sending' ? change : { ...change, decision: lateAnswerDecision }
  if (!(await ledger.moveRequest(otherRow, toUnknown, { ...attempt, state: ownRow.state }, laterChange)))
    return recordUnknown()
  const haltError = takenRequestError(
    outcome.requestId,
    { own: attempt, other: otherRow },
    outcome.answerStatus,
  )
  return { version: { ...attempt, state: change.to }, outcome: { ...outcome, haltError } }
}

/**
 * Reads a request once. Returns undefined if the read fails: then there is no evidence of the row that the
 * request is for.
 */
async function readOnce(
  { api, signal }: OrderServices,
  requestId: string,
): Promise<RequestResource | undefined> {
  try {
    const request = await api.getRequest(requestId, signal)
    return request.request_id.toLowerCase() === requestId.toLowerCase() ? request : undefined
  } catch {
    return undefined
  }
}

/** Whether a request is for the person and package of a row. */
async function isForRow(
  { ledger }: OrderServices,
  row: Submission,
  request: RequestResource,
): Promise<boolean> {
  const fingerprintMatch =
    row.recipient === undefined ? await ledger.personMatch(row, request.recipient) : undefined
  const differences = findDifferences(row, request, 0, fingerprintMatch)
  return differences !== undefined && !differences.includes('person') && !differences.includes('package')
}

/** Finds another order that has this request. */
async function findOtherRowWithRequest(
  ports: OrderServices,
  { batchId, row }: Attempt,
  { requestId }: AcceptedOutcome,
): Promise<Submission | undefined> {
  const rows = await findRowsOfRequest(ports, requestId)
  return rows.find((each) => each.batchId !== batchId || each.row !== row)
}

/**
 * Writes an outcome to the store. Waits for a store that another process has locked. If the write fails, throws an
 * error that states the outcome, since nothing else would preserve it.
 */
export async function writeUntilRecorded<T>(
  clock: Clock,
  attemptOutcome: AttemptOutcome,
  write: () => Promise<T>,
): Promise<T> {
  const deadline = clock.monotonic() + maxBusyMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof StoreBusyError) || clock.monotonic() >= deadline)
        throw notRecordedError(attemptOutcome, error)
      await clock.sleep(busyPauseMs)
    }
  }
}

/**
 * States of a row whose process was assumed to have ended: `unknown`, and the states after a user's decision
 * about the row.
 */
const laterStates = ['unknown', 'dropped', 'pending'] as const

const lateAnswerDecision = {
  by: 'refcheck',
  why: 'the answer to this very attempt came in later, with the id',
}

/**
 * Records and reports a response for a row that has changed state meanwhile (src/docs/ordering.md, section 1): a
 * request id is evidence, whatever the user decided. Throws if the row is in no state in which the response can be
 * recorded.
 */
async function recordLateAnswer(ports: OrderServices, attempt: Attempt, change: Change): Promise<void> {
  if (change.to === 'unknown') return
  if (change.to !== 'accepted') throw changedElsewhereError()
  for (const state of laterStates) {
    if (await ports.ledger.move({ ...attempt, state }, { ...change, decision: lateAnswerDecision })) return
  }
  throw changedElsewhereError()
}

/**
 * Reads the id that a failed response contained: "After a 5xx, if a request_id was obtained, read the request
 * before creating another." A 200 with this package, person, requester and time, with an id that no other
 * order of the store has, is evidence: the row becomes `accepted`. Returns undefined if there is no such
 * evidence.
 */
export async function reconcileByAnswer(
  ports: OrderServices,
  unknown: RowVersion,
  offeredId: string,
): Promise<AcceptedOutcome | undefined> {
  const { ledger, clock, signal, onEvent } = ports
  if (signal?.aborted) return undefined
  onEvent?.({ name: 'reconciling', requestId: offeredId })
  const request = await readOnce(ports, offeredId)
  if (request === undefined) return undefined
  const rows = await ledger.list({ batchId: unknown.batchId, states: ['unknown'] })
  const unknownRow = rows.find(({ row }) => row === unknown.row)
  if (
    unknownRow === undefined ||
    findDifferences(unknownRow, request, await readClockDifferenceMs(ports))?.length !== 0
  )
    return undefined
  if ((await findRowsOfRequest(ports, request.request_id)).length > 0) return undefined
  const why =
    'the answer named this request, and reading it showed the same package, person, requester and time'
  if (!(await ledger.move(unknown, acceptedByEvidence(request, clock.now(), { by: 'refcheck', why }))))
    return undefined
  const { request_id: requestId, status: requestStatus } = request
  return { kind: 'accepted', requestId, requestStatus, answerStatus: 200 }
}

/**
 * Returns the milliseconds by which the service's clock is ahead of the clock that times attempts, which is the
 * database's on PostgreSQL. Undefined if the service has not sent its time.
 */
export async function readClockDifferenceMs({
  api,
  ledger,
  clock,
}: Pick<OrderServices, 'api' | 'ledger' | 'clock'>): Promise<number | undefined> {
  const aheadOfMachineMs = api.clockDifferenceMs()
  if (aheadOfMachineMs === undefined) return undefined
  return aheadOfMachineMs + (await ledger.clockAheadMs(clock.now()))
}

/**
 * Returns the present time for a comparison with the times of attempts: that of the clock that times them, or of this
 * machine's clock if it is earlier, so that no row counts as sendable too soon.
 */
export async function readAttemptTime({
  ledger,
  clock,
}: Pick<OrderServices, 'ledger' | 'clock'>): Promise<number> {
  const now = clock.now()
  return now - Math.max(0, await ledger.clockAheadMs(now))
}
