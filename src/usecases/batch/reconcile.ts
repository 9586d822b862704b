import type { Api } from '../../api/api.ts'
import type { RequestResource } from '../../contract/request.ts'
import { fit, type Reconciliation, wantedByOthers } from '../../domain/batch/proof.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { NotFoundError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Governor } from '../quota/governor.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'

export interface ReconcileParts {
  api: Api
  ledger: Ledger
  clock: Clock
  signal?: AbortSignal | undefined
  governor: Pick<Governor, 'take'>
}

/**
 * Looks for the requests of rows whose outcome is unknown among ids that no submission holds ("Settling
 * an unknown"): each is read once. One request and one row that fit nobody else (package, person,
 * requester, created within the attempt's time) are proof, which is kept. Silence proves nothing.
 */
export async function reconcile(
  parts: ReconcileParts,
  unknown: readonly Submission[],
  requestIds: Iterable<string>,
): Promise<Reconciliation> {
  const origin = new URL(parts.api.baseUrl).origin
  const here = unknown.filter(({ baseUrl }) => new URL(baseUrl).origin === origin)
  const requests = here.length === 0 ? [] : await read(parts, here, requestIds)
  const fits = new Map(here.map((each) => [each, requests.filter((request) => fit(each, request))]))
  const result: Reconciliation = { settled: [], ambiguous: [], open: [], reads: requests.length }
  for (const submission of unknown) {
    const found = fits.get(submission) ?? []
    const [only] = found
    if (only === undefined) result.open.push(submission)
    else if (found.length > 1 || wantedByOthers(only, submission, fits)) {
      result.ambiguous.push({ submission, requestIds: found.map(({ request_id }) => request_id) })
    } else if (await accept(parts, submission, only)) {
      result.settled.push({ submission, requestId: only.request_id, status: only.status })
    } else result.open.push(submission)
  }
  return result
}

/** Every id that nobody holds, once; those that failed answers named as well. */
async function read(
  { api, ledger, signal, governor }: ReconcileParts,
  unknown: readonly Submission[],
  requestIds: Iterable<string>,
): Promise<RequestResource[]> {
  const requests: RequestResource[] = []
  const ids = new Set([...unknown.flatMap(({ offeredId }) => offeredId ?? []), ...requestIds])
  for (const id of [...ids].map((each) => each.toLowerCase())) {
    if ((await ledger.list({ requestId: id })).length > 0) continue
    // Part of an order, not a loop that could wait.
    await governor.take('create', { signal })
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
  { ledger, clock }: ReconcileParts,
  submission: Submission,
  request: RequestResource,
): Promise<boolean> {
  return ledger.move(submission, {
    to: 'accepted',
    at: clock.now(),
    requestId: request.request_id.toLowerCase(),
    requestStatus: request.status,
    decision: {
      by: 'refcheck',
      why:
        `request ${request.request_id}, created ${request.created_at} by ${request.requester.email}, is the only one ` +
        'that fits this row’s package, person and time, and fits no other row',
    },
  })
}
