import type { RequestResource } from '../../contract/request.ts'
import { differences } from '../../domain/batch/reconciliation.ts'
import { changedElsewhere, type Tried } from '../../domain/submission/attempt.ts'
import type { Change } from '../../domain/submission/change.ts'
import { answeredTwice, answeredWithAnothers, type Outcome } from '../../domain/submission/outcome.ts'
import { changeFor, notRecorded } from '../../domain/submission/settlement.ts'
import type { Attempt, RowVersion, Submission } from '../../domain/submission/submission.ts'
import { StoreBusyError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import { rowsOfRequest } from './find-id.ts'
import type { OrderPorts } from './ports.ts'

type AcceptedOutcome = Extract<Outcome, { kind: 'accepted' }>

/** How long a busy store is waited for before an outcome is given up for unrecorded, beside SQLite's own 5 s a try. */
const longestBusyMs = 600_000
const busyPauseMs = 500

/** A row as its attempt has left it, and what the attempt came to in the end. */
export interface Settled {
  version: RowVersion
  outcome: Outcome
}

/**
 * Journals what an attempt came to, before anybody is told: a request that another order has already is none of
 * this one. A store that cannot record it throws an IoError that says what is known: it is the only place left for it.
 */
export async function settle(ports: OrderPorts, tried: Tried): Promise<Settled> {
  return untilRecorded(ports.clock, tried, () => record(ports, tried))
}

async function record(ports: OrderPorts, { attempt, outcome }: Tried): Promise<Settled> {
  const change = changeFor(outcome, ports.clock.now())
  const settled = { version: { ...attempt, state: change.to }, outcome }
  if (await ports.ledger.move(attempt, change)) return settled
  if (outcome.kind === 'accepted') {
    const holder = await otherHolder(ports, attempt, outcome)
    if (holder !== undefined) return settleMixedUp(ports, { attempt, outcome, holder })
  }
  await settleElsewhere(ports, attempt, change)
  return settled
}

/** Two rows were answered with one request: a read shows whose order it is, and the other row is unknown. */
async function settleMixedUp(
  ports: OrderPorts,
  { attempt, outcome, holder }: { attempt: Attempt; outcome: AcceptedOutcome; holder: Submission },
): Promise<Settled> {
  const { ledger, clock } = ports
  const unknown = (): Promise<Settled> =>
    record(ports, { attempt, outcome: answeredWithAnothers(outcome, holder) })
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
  const halts = answeredTwice(outcome.requestId, { own: attempt, other: holder }, outcome.answerStatus)
  return { version: { ...attempt, state: change.to }, outcome: { ...outcome, halts } }
}

/** Undefined where the read fails: then nothing shows whose the request is. */
async function readOnce(
  { api, signal }: OrderPorts,
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
async function isFor({ ledger }: OrderPorts, row: Submission, request: RequestResource): Promise<boolean> {
  const whom = row.recipient === undefined ? await ledger.whom(row, request.recipient) : 'other'
  const found = differences(row, request, 0, whom)
  return found !== undefined && !found.includes('person') && !found.includes('package')
}

/** Another order that has this request. */
async function otherHolder(
  ports: OrderPorts,
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
export async function untilRecorded<T>(clock: Clock, tried: Tried, write: () => Promise<T>): Promise<T> {
  const deadline = clock.monotonic() + longestBusyMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof StoreBusyError) || clock.monotonic() >= deadline) throw notRecorded(tried, error)
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
 * "An answer that comes for a row that has moved on is kept and told" (ordering protocol): a request's id in hand still
 * proves it, whatever was decided meanwhile. Throws where the row is none that the answer can be kept with.
 */
async function settleElsewhere(ports: OrderPorts, attempt: Attempt, change: Change): Promise<void> {
  if (change.to === 'unknown') return
  if (change.to !== 'accepted') throw changedElsewhere()
  for (const state of movedOnTo) {
    if (await ports.ledger.move({ ...attempt, state }, { ...change, decision: cameLater })) return
  }
  throw changedElsewhere()
}
