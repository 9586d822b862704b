import type { Services } from '../services.ts'
import type { RequestResource } from '../../contract/request.ts'
import {
  differences,
  type PersonMatch,
  type NearMatch,
  type Reconciliation,
  fitsOthersToo,
} from '../../domain/batch/reconciliation.ts'
import { acceptedByEvidence } from '../../domain/submission/outcome.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { leftByDecision } from '../../domain/submission/states.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { NotFoundError, RefcheckError } from '../../errors/kinds.ts'
import { rowsOfRequest } from '../request/read-requests.ts'
import { serviceAheadMs } from '../request/send.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { SecondOrder } from '../../domain/submission/unmatched.ts'

export interface ReconcileServices extends Pick<Services, 'api' | 'ledger' | 'clock' | 'governor'> {
  signal?: AbortSignal | undefined
  /** Called when the next read has to wait for a place in the quota. */
  onPaced?: ((seconds: number) => void) | undefined
}

/** Rows that evidence may settle: their outcome is unknown, or a person put them back and they were not sent since. */
export async function unknownRows(ledger: Ledger, batchId: string | undefined): Promise<Submission[]> {
  return [
    ...(await ledger.list({ states: leftByDecision, batchId })),
    ...(await ledger.findReturnedToPending(batchId)),
  ]
}

/**
 * Looks for the requests of rows whose outcome is unknown among ids without a submission ("Settling
 * an unknown"): each is read once. One request and one row that fit no other (package, person,
 * requester, created within the attempt's time) are evidence, which is stored. A missing request is none.
 */
export async function reconcile(
  parts: ReconcileServices,
  unknown: readonly Submission[],
  requestIds: Iterable<string>,
): Promise<Reconciliation> {
  const service = serviceOf(parts.api.baseUrl)
  const here = unknown.filter(({ baseUrl }) => serviceOf(baseUrl) === service)
  const requests = here.length === 0 ? [] : await read(parts, here, requestIds)
  const ahead = await serviceAheadMs(parts)
  const seen = new Map<Submission, Seen[]>()
  for (const each of here) seen.set(each, await near(parts, each, requests, ahead))
  const fits = new Map(
    [...seen].map(([each, found]) => [each, found.filter(isFit).map(({ request }) => request)]),
  )
  const result: Reconciliation = { settled: [], ambiguous: [], open: [], reads: requests.length }
  for (const submission of unknown) {
    const [only, ...more] = fits.get(submission) ?? []
    const isUnique = only !== undefined && more.length === 0 && !fitsOthersToo(only, submission, fits)
    if (isUnique && (await accept(parts, submission, only))) {
      result.settled.push({ submission, requestId: only.request_id, status: only.status })
    } else result.open.push(submission)
  }
  return shown(result, seen)
}

interface Seen extends NearMatch {
  request: RequestResource
}

const isFit = ({ differs }: NearMatch): boolean => differs.length === 0

async function near(
  { ledger }: Pick<ReconcileServices, 'ledger'>,
  submission: Submission,
  requests: readonly RequestResource[],
  ahead: number | undefined,
): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const request of requests) {
    const person: PersonMatch =
      submission.recipient === undefined ? await ledger.personMatch(submission, request.recipient) : 'other'
    // Where nothing tells whom a row was for, every request would be shown for it.
    const differs = differences(submission, request, ahead, person === 'unknown' ? 'other' : person)
    if (differs === undefined) continue
    seen.push({ request, requestId: request.request_id, createdAt: request.created_at, differs })
  }
  return seen
}

/** Rows for whose person a request was seen that no row has become are no open ones: they are shown with it. */
function shown(result: Reconciliation, seen: ReadonlyMap<Submission, readonly Seen[]>): Reconciliation {
  const taken = new Set(result.settled.map(({ requestId }) => requestId))
  const open: Submission[] = []
  for (const submission of result.open) {
    const left = (seen.get(submission) ?? []).filter(({ requestId }) => !taken.has(requestId))
    // A row that waits to be sent again, or is never sent, leaves nothing open.
    if (left.length === 0 && submission.state === 'unknown') open.push(submission)
    else if (left.length > 0) {
      const found = left.map(({ requestId, createdAt, differs }) => ({ requestId, createdAt, differs }))
      result.ambiguous.push({ submission, requestIds: found.map(({ requestId }) => requestId), near: found })
    }
  }
  return { ...result, open }
}

/** Every id without an order, once; those that failed answers named as well. */
async function read(
  parts: ReconcileServices,
  unknown: readonly Submission[],
  requestIds: Iterable<string>,
): Promise<RequestResource[]> {
  const { api, signal, governor, onPaced } = parts
  const requests: RequestResource[] = []
  const ids = [...unknown.flatMap(({ offeredId }) => offeredId ?? []), ...requestIds]
  for (const id of new Set(ids.map((each) => each.toLowerCase()))) {
    if ((await rowsOfRequest(parts, id)).length > 0) continue
    // Part of an order, not a loop that could wait.
    await governor.claim('create', { signal, onWait: (ms) => onPaced?.(ms / 1000) })
    try {
      requests.push(await api.getRequest(id, signal))
    } catch (error) {
      // Another organisation's, or a made-up one.
      if (!(error instanceof NotFoundError)) throw error
    }
  }
  return requests
}

function accept(
  { ledger, clock }: ReconcileServices,
  submission: Submission,
  request: RequestResource,
): Promise<boolean> {
  const why =
    `request ${request.request_id}, created ${request.created_at} by ${request.requester.email}, is the only one ` +
    'that matches this row’s package, person and time, and it matches no other row'
  return ledger.move(submission, acceptedByEvidence(request, clock.now(), { by: 'refcheck', why }))
}

interface SecondOrderServices extends ReconcileServices, Pick<Services, 'unmatched'> {}

/**
 * Reads requests that events name and that no row ordered, as far as ten calls an hour allow: new orders are compared with
 * them from then on. Answers those for a person and package that were ordered here: a proxy may have repeated an order, or
 * a colleague made it. They are reported until a person acknowledges them.
 */
export async function secondOrders(
  ports: SecondOrderServices,
  ids: Iterable<string>,
): Promise<SecondOrder[]> {
  const { api, clock, governor, signal, unmatched } = ports
  const service = serviceOf(api.baseUrl)
  const unheld: string[] = []
  for (const id of ids) if ((await rowsOfRequest(ports, id)).length === 0) unheld.push(id)
  const reading = () => ({ service, reader: api.userEmail, now: clock.now() })
  for (const id of unheld.length === 0 ? [] : await unmatched.toRead(unheld, reading())) {
    await governor.claim('create', { signal })
    const request = await readUnmatched(ports, id)
    // The service is away: what is known is reported, and the rest is read another time.
    if (request === 'failed') break
    await unmatched.record(id, reading(), request)
  }
  return unmatched.secondOrders(service)
}

async function readUnmatched(
  { api, signal }: SecondOrderServices,
  id: string,
): Promise<RequestResource | undefined | 'failed'> {
  try {
    return await api.getRequest(id, signal)
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    if (error instanceof RefcheckError && signal?.aborted !== true) return 'failed'
    throw error
  }
}

/** Whether there was one to acknowledge. */
export function acknowledgeSecondOrder(
  { api, clock, unmatched }: SecondOrderServices,
  requestId: string,
): Promise<boolean> {
  return unmatched.acknowledge(serviceOf(api.baseUrl), requestId, { at: clock.now(), by: api.userEmail })
}
