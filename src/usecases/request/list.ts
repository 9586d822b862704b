import type { Api } from '../../api/api.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import {
  listed,
  type ListedRequest,
  reached,
  type Refreshed,
  type RequestFilter,
  statusOf,
} from '../../domain/request/listing.ts'
import { checksText } from '../../domain/request/check-counts.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { RefcheckError } from '../../errors/base.ts'
import { InterruptedError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Governor } from '../quota/governor.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'

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

export interface RefreshPorts {
  api: Api
  ledger: Ledger
  clock: Clock
  /** Where the quota is shared with other commands: each read waits for its place. */
  governor?: Pick<Governor, 'take'> | undefined
  /** Milliseconds that waits for places may take together; Infinity unless told. */
  budgetMs?: number | undefined
  signal?: AbortSignal | undefined
  onPaced?: ((seconds: number) => void) | undefined
  /** Told before each read how many are done. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/**
 * Reads each request of this service again that is not finished, keeps its status, and lists. Requests
 * of another base URL stay as they are.
 */
export async function refreshRequests(parts: RefreshPorts, filter: RequestFilter): Promise<Refreshed> {
  const failures = await readAgain(parts, await listRequests(parts, { ...filter, status: undefined }))
  return { requests: await listRequests(parts, filter), failures }
}

/** All whose status, as last heard, is not final. */
export async function unfinishedRequests({
  ledger,
  clock,
}: Pick<RefreshPorts, 'ledger' | 'clock'>): Promise<ListedRequest[]> {
  await ledger.recover(clock.now())
  return (await ledger.list({ states: ['accepted'], unfinished: true })).map(listed)
}

/** Reads each of them that is of this service and not finished, and keeps its status; what failed. */
export async function readAgain(
  parts: RefreshPorts,
  requests: readonly ListedRequest[],
): Promise<Refreshed['failures']> {
  const { api, ledger, clock, governor, signal, onPaced, onProgress } = parts
  const { budgetMs = Number.POSITIVE_INFINITY } = parts
  const deadline = clock.monotonic() + budgetMs
  const failures: Refreshed['failures'] = []
  const service = serviceOf(api.baseUrl)
  const wanted = requests.flatMap(({ request_id, status, base_url }) =>
    request_id === null || terminalStatuses.includes(status ?? '') || serviceOf(base_url) !== service
      ? []
      : [{ request_id, base_url }],
  )
  for (const [done, { request_id, base_url }] of wanted.entries()) {
    onProgress?.(done, wanted.length)
    try {
      await governor?.take('poll', {
        signal,
        budgetMs: deadline - clock.monotonic(),
        onWait: (ms) => onPaced?.(ms / 1000),
      })
      const read = await api.getRequest(request_id, signal)
      await ledger.recordStatus(base_url, request_id, read.status, clock.now(), checksText(read.checks))
    } catch (error) {
      if (signal?.aborted)
        throw new InterruptedError('interrupted; the statuses read so far are kept', {
          again: 'Continue with',
        })
      if (!(error instanceof RefcheckError)) throw error
      failures.push({ base_url, request_id, error })
      if (error.code !== 'not_found') break
    }
  }
  return failures
}
