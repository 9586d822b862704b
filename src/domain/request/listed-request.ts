import { isoTime } from '../wording/time.ts'
import { RefcheckError } from '../../errors/kinds.ts'
import type { SubmissionState } from '../submission/states.ts'
import type { Submission } from '../submission/submission.ts'
import { bareObject } from '../../contract/parse-json.ts'
import type { Check } from '../../contract/request.ts'

export interface RequestFilter {
  batchId?: string | undefined
  /** The status of a request, or `sending` or `unknown` for orders without one. Upper and lower case are equal. */
  status?: string | undefined
  /** Selects orders from this time on (milliseconds since the epoch). */
  since?: number | undefined
  email?: string | undefined
  /** Selects orders of this service and account. */
  organisation?: { baseUrl: string; account: string } | undefined
}

export interface Refreshed {
  requests: ListedRequest[]
  /** The failed reads. After an error other than 404, no further requests were read. */
  failures: { base_url: string; request_id: string; error: RefcheckError }[]
}

/** A request of a list with the data that only the printed list has. */
export interface PrintedRequest extends ListedRequest {
  /** Null if the name is not known. */
  package_name: string | null
  /** The reason for the status ERROR; null if no event contained one. */
  error_reason: string | null
  /** The error of the failed read of this request. */
  failure?: RefcheckError | undefined
}

/** Returns the name of a package for a user of a service; undefined if it is not known. */
export type PackageNames = (user: ServiceUser, packageId: number) => string | undefined

export interface ServiceUser {
  baseUrl: string
  userEmail: string
}

/** Returns the id and name of a package: `101 Standard employment screen`. */
export const packageLabel = (id: number, name: string | undefined): string =>
  name === undefined ? String(id) : `${id} ${name}`

/** Adds the name of its package to each request. */
export function addPackageNames<Row extends ListedRequest>(
  requests: readonly Row[],
  names: PackageNames,
): (Row & { package_name: string | null })[] {
  return requests.map((each) => {
    const user = { baseUrl: each.base_url, userEmail: each.user_email }
    return { ...each, package_name: names(user, each.package_id) ?? null }
  })
}

/** Adds its error to each request that could not be read. */
export function withFailures(
  requests: readonly PrintedRequest[],
  failures: Refreshed['failures'],
): PrintedRequest[] {
  return requests.map((request) => {
    const failure = failures.find(
      ({ base_url, request_id }) => base_url === request.base_url && request_id === request.request_id,
    )
    return { ...request, failure: failure?.error }
  })
}

/** The states of orders that may exist at the service. Rejected and cancelled orders do not exist there. */
export const statesAtService: readonly SubmissionState[] = ['accepted', 'unknown', 'dropped', 'sending']

/** Returns the status that `status` of a filter is compared with. */
export function requestStatusOf(submission: Submission): string {
  return submission.requestStatus ?? submission.state
}

export type ListedRequest = ReturnType<typeof toListedRequest>

/** Returns the list entry of an order that was or may have been sent. Times are in ISO 8601. */
export function toListedRequest(submission: Submission) {
  const { requestId, requestStatus, packageId, recipient, batchId, row, baseUrl, userEmail, reason } =
    submission
  return {
    /** Null if it is not known. */
    request_id: requestId ?? null,
    state: submission.state as 'accepted' | 'unknown' | 'sending',
    /** The last read status; null if it was never read. */
    status: requestStatus ?? null,
    status_read_at: isoTime(submission.requestStatusAt),
    package_id: packageId,
    /** Null if the person was erased. */
    recipient: recipient ?? null,
    /** The time at which the order was sent. */
    ordered_at: isoTime(submission.attemptedAt ?? submission.addedAt),
    batch_id: batchId,
    row,
    base_url: baseUrl,
    user_email: userEmail,
    /** The reason why the outcome is unknown. */
    reason: reason ?? null,
  }
}

/** The number of checks by type and status. */
type ChecksByType = Record<string, Record<string, number>>

export type CheckCounts = ReturnType<typeof countChecks>

/**
 * Returns the counts of the checks of a request as the text that is stored. It does not depend on the order of the
 * checks.
 */
export function checksText(checks: readonly Pick<Check, 'type' | 'status'>[]): string {
  const counts: ChecksByType = bareObject()
  const groupKey = ({ type, status }: Pick<Check, 'type' | 'status'>): string =>
    JSON.stringify([type, status])
  for (const { type, status } of checks.toSorted((one, other) => (groupKey(one) < groupKey(other) ? -1 : 1)))
    addCount(counts, type, status, 1)
  return JSON.stringify(counts)
}

/**
 * Sums the checks of orders. `requests` is the number of orders whose checks are known: read after the last change.
 */
export function countChecks(orders: readonly { checks: string | undefined }[]) {
  // Most requests have the same text, which is parsed only once.
  const texts = new Map<string, number>()
  for (const { checks } of orders) if (checks !== undefined) texts.set(checks, (texts.get(checks) ?? 0) + 1)
  const counts: ChecksByType = bareObject()
  let requests = 0
  for (const [text, requestCount] of texts) {
    requests += requestCount
    for (const [type, statuses] of Object.entries(JSON.parse(text) as ChecksByType))
      for (const [status, count] of Object.entries(statuses))
        addCount(counts, type, status, count * requestCount)
  }
  return { requests, by_type: counts }
}

function addCount(counts: ChecksByType, type: string, status: string, count: number): void {
  const statuses = (counts[type] ??= bareObject())
  statuses[status] = (statuses[status] ?? 0) + count
}
