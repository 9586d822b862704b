import type { Recipient } from '../../contract/request-body.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import type { Api } from '../../api/api.ts'
import { RefcheckError } from '../../errors/base.ts'
import { InterruptedError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { Governor } from '../quota/governor.ts'
import type { Submission, SubmissionState } from '../../store/ledger/types.ts'

export interface RequestFilter {
  batchId?: string | undefined
  /** A request's status, or `sending` or `unknown` for what has none yet; in any case. */
  status?: string | undefined
  /** Milliseconds since the epoch. */
  since?: number | undefined
  email?: string | undefined
}

/** An order that reached the service, or may have. Times are ISO 8601. */
export interface ListedRequest {
  /** Null while it is not known. */
  request_id: string | null
  state: 'accepted' | 'unknown' | 'sending'
  /** As last read; null where there is no request known to have one. */
  status: string | null
  status_read_at: string | null
  package_id: number
  /** Null once the person was forgotten. */
  recipient: Recipient | null
  /** When it was sent. */
  ordered_at: string
  batch_id: string
  row: number
  base_url: string
  user_email: string
  /** Why the outcome is unknown. */
  reason: string | null
}

export interface Refreshed {
  requests: ListedRequest[]
  /** Reads that failed. After any but a 404 the rest was not tried. */
  failures: { request_id: string; error: RefcheckError }[]
}

/** What may exist on the service; rejected and cancelled orders do not. */
const reached: readonly SubmissionState[] = ['accepted', 'unknown', 'sending']

/**
 * What this store knows it created, oldest first, with what may have been created. Orders whose process
 * died on the way are found by it, and become `unknown`.
 */
export async function listRequests(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  filter: RequestFilter,
): Promise<ListedRequest[]> {
  await ledger.recover(clock.now())
  const { status, ...others } = filter
  const submissions = await ledger.list({ ...others, states: reached })
  const wanted = status?.toUpperCase()
  return submissions
    .filter((each) => wanted === undefined || statusOf(each).toUpperCase() === wanted)
    .map(listed)
}

export interface RefreshParts {
  api: Api
  ledger: Ledger
  clock: Clock
  /** Where the quota is shared with other commands: each read waits for its place. */
  governor?: Pick<Governor, 'take'> | undefined
  /** Milliseconds that waits for places may take together; Infinity unless told. */
  budgetMs?: number | undefined
  signal?: AbortSignal | undefined
  onPaced?: ((seconds: number) => void) | undefined
}

/**
 * Reads each request of this service again that is not finished, keeps its status, and lists. Requests
 * of another base URL stay as they are.
 */
export async function refreshRequests(parts: RefreshParts, filter: RequestFilter): Promise<Refreshed> {
  const { api, ledger, clock, governor, signal, onPaced, budgetMs = Number.POSITIVE_INFINITY } = parts
  const deadline = clock.monotonic() + budgetMs
  const failures: Refreshed['failures'] = []
  const origin = new URL(api.baseUrl).origin
  for (const request of await listRequests(parts, { ...filter, status: undefined })) {
    const { request_id, status } = request
    if (request_id === null || terminalStatuses.includes(status ?? '')) continue
    if (new URL(request.base_url).origin !== origin) continue
    try {
      await governor?.take('poll', {
        signal,
        budgetMs: deadline - clock.monotonic(),
        onWait: (ms) => onPaced?.(ms / 1000),
      })
      const read = await api.getRequest(request_id, signal)
      await ledger.recordStatus(request_id, read.status, clock.now())
    } catch (error) {
      if (signal?.aborted) throw new InterruptedError('interrupted; the statuses read so far are kept')
      if (!(error instanceof RefcheckError)) throw error
      failures.push({ request_id, error })
      if (error.code !== 'not_found') break
    }
  }
  return { requests: await listRequests(parts, filter), failures }
}

/** What `status` in a filter means. */
function statusOf(submission: Submission): string {
  return submission.requestStatus ?? submission.state
}

function listed(submission: Submission): ListedRequest {
  return {
    request_id: submission.requestId ?? null,
    state: submission.state as ListedRequest['state'],
    status: submission.requestStatus ?? null,
    status_read_at: isoTime(submission.requestStatusAt),
    package_id: submission.packageId,
    recipient: submission.recipient ?? null,
    ordered_at: new Date(submission.attemptedAt ?? submission.addedAt).toISOString(),
    batch_id: submission.batchId,
    row: submission.row,
    base_url: submission.baseUrl,
    user_email: submission.userEmail,
    reason: submission.reason ?? null,
  }
}

function isoTime(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}
