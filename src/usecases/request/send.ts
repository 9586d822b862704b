import type { Services } from '../services.ts'
import type { RunEvent } from '../../domain/batch/run-policy.ts'
import type { Clock } from '../../host/clock.ts'
import {
  longestPauseMs,
  changedElsewhereError,
  type AttemptOutcome,
  type Outcome,
  outcomeOf,
  requestTakenError,
  requestTakenOutcome,
  acceptedByEvidence,
  changeFor,
  notRecordedError,
} from '../../domain/submission/outcome.ts'
import type { Attempt, NewAttempt, RowVersion, Submission } from '../../domain/submission/submission.ts'
import { RefcheckError, UnavailableError, StoreBusyError } from '../../errors/kinds.ts'
import type { RequestResource } from '../../contract/request.ts'
import { differences } from '../../domain/batch/reconciliation.ts'
import type { Change } from '../../domain/submission/states.ts'
import { rowsOfRequest } from './read-requests.ts'

/** What ordering needs of the world. */
export interface OrderServices
  extends
    Pick<Services, 'api' | 'ledger' | 'batches' | 'governor' | 'schemas' | 'clock' | 'random'>,
    Partial<Pick<Services, 'account'>> {
  /** Ctrl-C. An exchange under way is finished and journaled first. */
  signal?: AbortSignal | undefined
  onEvent?: ((event: RunEvent) => void) | undefined
  /** Called where a person stops the program while an order is in flight. */
  onStopInFlight?: (() => void) | undefined
}

/** What an attempt that is about to begin is journaled with. */
export function newAttempt({ api, clock, random }: OrderServices): NewAttempt {
  return {
    attemptId: random.uuid(),
    at: clock.now(),
    monotonic: clock.monotonic(),
    userEmail: api.userEmail,
  }
}

/**
 * Makes an attempt that has just been journaled: the bytes sent are the journaled ones. For its caller to do once, and to
 * journal the outcome. No signal goes along: an exchange that has begun is finished, within its limits.
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
  const stopped = (): void => onStopInFlight?.()
  signal?.addEventListener('abort', stopped, { once: true })
  try {
    return outcomeOf(await api.createRequest(attempt.body))
  } catch (error) {
    const known = error instanceof RefcheckError ? error : undefined
    return outcomeOf({
      kind: 'lost',
      error: known ?? new UnavailableError('the connection broke', { cause: error }),
    })
  } finally {
    signal?.removeEventListener('abort', stopped)
  }
}

/** The wall clock counts the time a machine was suspended; the other one knows when the wall clock was set back. */
function isFresh(attempt: Attempt, clock: Clock): boolean {
  return Math.max(clock.now() - attempt.at, clock.monotonic() - attempt.monotonic) <= longestPauseMs
}

type AcceptedOutcome = Extract<Outcome, { kind: 'accepted' }>

/** How long a busy store is waited for before an outcome is given up as unrecorded, in addition to SQLite's own 5 s a try. */
const longestBusyMs = 600_000
const busyPauseMs = 500

/** A row as its attempt has left it, and what the attempt came to in the end. */
interface Recorded {
  version: RowVersion
  outcome: Outcome
}

/**
 * Journals the outcome of an attempt, before it is printed: a request that another order has already is none of
 * this one. A store that cannot record it throws an IoError that says what is known: it is the only place left for it.
 */
export async function recordOutcome(ports: OrderServices, tried: AttemptOutcome): Promise<Recorded> {
  return untilRecorded(ports.clock, tried, () => record(ports, tried))
}

async function record(ports: OrderServices, { attempt, outcome }: AttemptOutcome): Promise<Recorded> {
  const change = changeFor(outcome, ports.clock.now())
  const recorded = { version: { ...attempt, state: change.to }, outcome }
  if (await ports.ledger.move(attempt, change)) return recorded
  if (outcome.kind === 'accepted') {
    const holder = await otherHolder(ports, attempt, outcome)
    if (holder !== undefined) return recordMixedUp(ports, { attempt, outcome, holder })
  }
  await recordLateAnswer(ports, attempt, change)
  return recorded
}

/** Two rows were answered with one request: a read shows whose order it is, and the other row is unknown. */
async function recordMixedUp(
  ports: OrderServices,
  { attempt, outcome, holder }: { attempt: Attempt; outcome: AcceptedOutcome; holder: Submission },
): Promise<Recorded> {
  const { ledger, clock } = ports
  const unknown = (): Promise<Recorded> =>
    record(ports, { attempt, outcome: requestTakenOutcome(outcome, holder) })
  const request = await readOnce(ports, outcome.requestId)
  if (request === undefined || (await isFor(ports, holder, request))) return unknown()
  const rows = await ledger.list({ batchId: attempt.batchId, states: ['sending', ...movedOnTo] })
  const own = rows.find(({ row, attemptId }) => row === attempt.row && attemptId === attempt.attemptId)
  const reason = `the service answered with request ${outcome.requestId}, which is the order of another person`
  const decision = { by: 'refcheck', why: `a read of request ${outcome.requestId} showed another person` }
  const loss: Change = { to: 'unknown', at: clock.now(), reason, decision }
  if (own === undefined || !(await isFor(ports, own, request))) {
    await ledger.move(holder, loss)
    return unknown()
  }
  const change = changeFor(outcome, clock.now())
  const later = own.state === 'sending' ? change : { ...change, decision: cameLater }
  if (!(await ledger.moveFrom(holder, loss, { ...attempt, state: own.state }, later))) return unknown()
  const halts = requestTakenError(outcome.requestId, { own: attempt, other: holder }, outcome.answerStatus)
  return { version: { ...attempt, state: change.to }, outcome: { ...outcome, halts } }
}

/** Undefined where the read fails: then nothing shows whose the request is, and nothing is proven. */
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
async function isFor({ ledger }: OrderServices, row: Submission, request: RequestResource): Promise<boolean> {
  const person = row.recipient === undefined ? await ledger.personMatch(row, request.recipient) : 'other'
  const found = differences(row, request, 0, person)
  return found !== undefined && !found.includes('person') && !found.includes('package')
}

/** Another order that has this request. */
async function otherHolder(
  ports: OrderServices,
  { batchId, row }: Attempt,
  { requestId }: AcceptedOutcome,
): Promise<Submission | undefined> {
  const holders = await rowsOfRequest(ports, requestId)
  return holders.find((each) => each.batchId !== batchId || each.row !== row)
}

/**
 * Writes an outcome to the store; where that fails, the error thrown is the only place left that tells it. So a store
 * that another process has for itself is waited for.
 */
export async function untilRecorded<T>(
  clock: Clock,
  tried: AttemptOutcome,
  write: () => Promise<T>,
): Promise<T> {
  const deadline = clock.monotonic() + longestBusyMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof StoreBusyError) || clock.monotonic() >= deadline)
        throw notRecordedError(tried, error)
      await clock.sleep(busyPauseMs)
    }
  }
}

/** Where a row whose process was taken for dead may be: `unknown`, and what a person has made of that. */
const movedOnTo = ['unknown', 'dropped', 'pending'] as const

const cameLater = {
  by: 'refcheck',
  why: 'the answer to this very attempt came in later, with the id',
}

/**
 * An answer that comes for a row that has moved on is recorded and reported (src/docs/ordering.md, section 1): a request's id in hand still
 * is evidence, whatever was decided meanwhile. Throws where the row is none that the answer can be recorded with.
 */
async function recordLateAnswer(ports: OrderServices, attempt: Attempt, change: Change): Promise<void> {
  if (change.to === 'unknown') return
  if (change.to !== 'accepted') throw changedElsewhereError()
  for (const state of movedOnTo) {
    if (await ports.ledger.move({ ...attempt, state }, { ...change, decision: cameLater })) return
  }
  throw changedElsewhereError()
}

/**
 * Reads the id that came with a failed answer: "After a 5xx, if a request_id was obtained, read the
 * request before creating another." A 200 with this package, person, requester and time, on an id that no other order
 * of the store has, proves the order: it becomes `accepted`. Undefined where nothing is proven.
 */
export async function reconcileByAnswer(
  ports: OrderServices,
  unknown: RowVersion,
  offeredId: string,
): Promise<AcceptedOutcome | undefined> {
  const { ledger, clock, signal, onEvent } = ports
  if (signal?.aborted) return undefined
  onEvent?.({ name: 'proving', requestId: offeredId })
  const request = await readOnce(ports, offeredId)
  if (request === undefined) return undefined
  const rows = await ledger.list({ batchId: unknown.batchId, states: ['unknown'] })
  const sent = rows.find(({ row }) => row === unknown.row)
  if (sent === undefined || differences(sent, request, await serviceAheadMs(ports))?.length !== 0)
    return undefined
  if ((await rowsOfRequest(ports, request.request_id)).length > 0) return undefined
  const why =
    'the answer named this request, and reading it showed the same package, person, requester and time'
  if (!(await ledger.move(unknown, acceptedByEvidence(request, clock.now(), { by: 'refcheck', why }))))
    return undefined
  const { request_id: requestId, status: requestStatus } = request
  return { kind: 'accepted', requestId, requestStatus, answerStatus: 200 }
}

/**
 * How far the service's clock is ahead of the one that times attempts: on PostgreSQL that is the database's, and not this
 * machine's. Undefined where the service has not said its time.
 */
export async function serviceAheadMs({
  api,
  ledger,
  clock,
}: Pick<OrderServices, 'api' | 'ledger' | 'clock'>): Promise<number | undefined> {
  const aheadOfMachine = api.clockDifferenceMs()
  if (aheadOfMachine === undefined) return undefined
  return aheadOfMachine + (await ledger.clockAheadMs(clock.now()))
}
