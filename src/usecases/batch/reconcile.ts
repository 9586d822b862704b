import type { Services } from '../services.ts'
import type { RequestResource } from '../../contract/request.ts'
import {
  findDifferences,
  type NearMatch,
  type Reconciliation,
  fitsOtherSubmission,
} from '../../domain/batch/reconciliation.ts'
import { acceptedByEvidence } from '../../domain/submission/outcome.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { statesNeedingDecision } from '../../domain/submission/states.ts'
import type { Submission, SecondOrder } from '../../domain/submission/submission.ts'
import { NotFoundError, RefcheckError, ThrottledError } from '../../errors/kinds.ts'
import { findRowsOfRequest, findUnread, maxFailedReads, readerOf } from '../request/read-requests.ts'
import { readClockDifferenceMs } from '../request/send.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'

export interface ReconcileServices extends Pick<Services, 'api' | 'ledger' | 'clock' | 'governor'> {
  signal?: AbortSignal | undefined
  /** Called when the next read has to wait for the quota. */
  onQuotaWait?: ((seconds: number) => void) | undefined
}

/**
 * Finds the rows that evidence may reconcile: unknown rows, dropped rows, and rows that a user has returned to pending
 * after an unknown outcome and that were not sent since.
 */
export async function findReconcilableRows(
  ledger: Ledger,
  batchId: string | undefined,
): Promise<Submission[]> {
  return [
    ...(await ledger.list({ states: statesNeedingDecision, batchId })),
    ...(await ledger.findReturnedToPending(batchId)),
  ]
}

/**
 * Reads each request that is not recorded for a row, once, and compares it with the rows `submissions`
 * (src/docs/ordering.md, section 5, "Unknown outcomes"). A request and a row that match only each other (package,
 * person, requester, created within the attempt's time) are evidence: the row is recorded as accepted. A
 * missing request is no evidence.
 */
export async function reconcile(
  ports: ReconcileServices,
  submissions: readonly Submission[],
  requestIds: Iterable<string>,
): Promise<Reconciliation> {
  const service = serviceOf(ports.api.baseUrl)
  const rowsOfService = submissions.filter(({ baseUrl }) => serviceOf(baseUrl) === service)
  const requests = rowsOfService.length === 0 ? [] : await readRequests(ports, rowsOfService, requestIds)
  const clockDifferenceMs = await readClockDifferenceMs(ports)
  const nearRequests = new Map<Submission, NearRequest[]>()
  for (const each of rowsOfService)
    nearRequests.set(each, await findNearRequests(ports, each, requests, clockDifferenceMs))
  const fullMatches = new Map(
    [...nearRequests].map(([each, found]) => [each, found.filter(isFullMatch).map(({ request }) => request)]),
  )
  const result: Reconciliation = { settled: [], ambiguous: [], open: [], readCount: requests.length }
  for (const submission of submissions) {
    const [match, ...otherMatches] = fullMatches.get(submission) ?? []
    const isUnique =
      match !== undefined && otherMatches.length === 0 && !fitsOtherSubmission(match, submission, fullMatches)
    if (isUnique && (await recordAccepted(ports, submission, match))) {
      result.settled.push({ submission, requestId: match.request_id, status: match.status })
    } else result.open.push(submission)
  }
  return withAmbiguous(result, nearRequests)
}

interface NearRequest extends NearMatch {
  request: RequestResource
}

const isFullMatch = ({ differs }: NearMatch): boolean => differs.length === 0

async function findNearRequests(
  { ledger }: Pick<ReconcileServices, 'ledger'>,
  submission: Submission,
  requests: readonly RequestResource[],
  clockDifferenceMs: number | undefined,
): Promise<NearRequest[]> {
  const nearRequests: NearRequest[] = []
  for (const request of requests) {
    // Only a row whose recipient was erased is compared by fingerprints. If these were erased too, the match is
    // `unknown`; such a row must match no request, so its person counts as another one.
    const erasedPersonMatch =
      submission.recipient === undefined ? await ledger.personMatch(submission, request.recipient) : undefined
    const fingerprintMatch = erasedPersonMatch === 'unknown' ? 'other' : erasedPersonMatch
    const differs = findDifferences(submission, request, clockDifferenceMs, fingerprintMatch)
    if (differs === undefined) continue
    nearRequests.push({ request, requestId: request.request_id, createdAt: request.created_at, differs })
  }
  return nearRequests
}

/**
 * Moves each open row from `open` to `ambiguous` if it matches a request that is not recorded for another
 * row.
 */
function withAmbiguous(
  result: Reconciliation,
  nearRequests: ReadonlyMap<Submission, readonly NearRequest[]>,
): Reconciliation {
  const matchedIds = new Set(result.settled.map(({ requestId }) => requestId))
  const open: Submission[] = []
  const dropped: Submission[] = []
  for (const submission of result.open) {
    const remaining = (nearRequests.get(submission) ?? []).filter(
      ({ requestId }) => !matchedIds.has(requestId),
    )
    // Rows that are pending again or dropped and match no request are removed from `open`: they need no further
    // evidence.
    if (remaining.length === 0 && submission.state === 'unknown') open.push(submission)
    else if (remaining.length === 0 && submission.state === 'dropped') dropped.push(submission)
    else if (remaining.length > 0) {
      const found = remaining.map(({ requestId, createdAt, differs }) => ({ requestId, createdAt, differs }))
      result.ambiguous.push({
        submission,
        requestIds: found.map(({ requestId }) => requestId),
        nearMatches: found,
      })
    }
  }
  return { ...result, open, ...(dropped.length > 0 && { dropped }) }
}

/**
 * Reads each request that is not recorded for a row, once: those of `requestIds`, and those whose id a failed answer to
 * a submission contained (`offeredId`).
 */
async function readRequests(
  ports: ReconcileServices,
  submissions: readonly Submission[],
  requestIds: Iterable<string>,
): Promise<RequestResource[]> {
  const { api, signal, governor, onQuotaWait } = ports
  const requests: RequestResource[] = []
  const ids = [...submissions.flatMap(({ offeredId }) => offeredId ?? []), ...requestIds]
  for (const id of new Set(ids.map((each) => each.toLowerCase()))) {
    if ((await findRowsOfRequest(ports, id)).length > 0) continue
    // The read has the priority of a create, so that it does not have to wait as long as a polling loop.
    await governor.claim('create', { signal, onWait: (ms) => onQuotaWait?.(ms / 1000) })
    try {
      requests.push(await api.getRequest(id, signal))
    } catch (error) {
      // The id belongs to another organisation or to no request.
      if (!(error instanceof NotFoundError)) throw error
    }
  }
  return requests
}

function recordAccepted(
  { ledger, clock }: ReconcileServices,
  submission: Submission,
  request: RequestResource,
): Promise<boolean> {
  const why =
    `request ${request.request_id}, created ${request.created_at} by ${request.requester.email}, is the only one ` +
    'that matches this row’s package, person and time, and it matches no other row'
  return ledger.move(submission, acceptedByEvidence(request, clock.now(), { by: 'refcheck', why }))
}

export interface SecondOrderServices extends ReconcileServices, Pick<Services, 'unmatched'> {}

/**
 * Reads those requests that no row ordered, at most `maxReads` an hour, and stores them for conflict detection. `ids` are
 * the request ids of received events. Returns the number of requests that are not read yet, so that no row can be
 * compared with them. `mayWait`: whether a read may wait for the quota; otherwise the rest is not read now.
 */
export async function readUnmatchedRequests(
  ports: SecondOrderServices,
  ids: Iterable<string>,
  mayWait = true,
): Promise<number> {
  const { clock, governor, signal, unmatched, onQuotaWait } = ports
  const unreadIds = await findUnread(ports, ids)
  if (unreadIds.length === 0) return 0
  const createReadContext = () => ({ ...readerOf(ports), now: clock.now() })
  const quotaOptions = {
    signal,
    budgetMs: mayWait ? undefined : 0,
    onWait: (ms: number) => onQuotaWait?.(ms / 1000),
  }
  let failedReads = 0
  for (const id of await unmatched.selectIdsToRead(unreadIds, createReadContext())) {
    try {
      await governor.claim('create', quotaOptions)
    } catch (error) {
      if (mayWait || !(error instanceof ThrottledError)) throw error
      break
    }
    const request = await readUnmatched(ports, id)
    if (request === 'failed') failedReads += 1
    // The other requests are read later.
    if (request === 'unreachable' || failedReads === maxFailedReads) break
    if (request !== 'failed') await unmatched.record(id, createReadContext(), request)
  }
  return (await unmatched.selectUnread(unreadIds, createReadContext())).length
}

/**
 * Reads the requests that no row ordered, as `readUnmatchedRequests` does. `secondOrders`: those for the same or a
 * similar person as an order of this store, and for the same package or one that counts as the same: a proxy may have
 * repeated an order, or a colleague made it. They are returned until a user acknowledges them.
 */
export async function findSecondOrders(
  ports: SecondOrderServices,
  ids: Iterable<string>,
): Promise<{ secondOrders: SecondOrder[]; unreadCount: number }> {
  const unreadCount = await readUnmatchedRequests(ports, ids)
  return { secondOrders: await ports.unmatched.listSecondOrders(serviceOf(ports.api.baseUrl)), unreadCount }
}

async function readUnmatched(
  { api, signal }: SecondOrderServices,
  id: string,
): Promise<RequestResource | undefined | 'failed' | 'unreachable'> {
  try {
    return await api.getRequest(id, signal)
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    if (error instanceof RefcheckError && signal?.aborted !== true)
      return error.status === undefined ? 'unreachable' : 'failed'
    throw error
  }
}

/** Acknowledges a second order. Returns false if the store has no second order with this request id. */
export function acknowledgeSecondOrder(
  { api, clock, unmatched }: SecondOrderServices,
  requestId: string,
): Promise<boolean> {
  return unmatched.acknowledge(serviceOf(api.baseUrl), requestId, { at: clock.now(), by: api.userEmail })
}
