import { isoTime } from '../wording/time.ts'
import { RefcheckError } from '../../errors/kinds.ts'
import type { SubmissionState } from '../submission/states.ts'
import type { Submission } from '../submission/submission.ts'
import { bareObject } from '../../contract/parse-json.ts'
import type { Check } from '../../contract/request.ts'

export interface RequestFilter {
  batchId?: string | undefined
  /** A request's status, or `sending` or `unknown` for what has none yet; in any case. */
  status?: string | undefined
  /** Milliseconds since the epoch. */
  since?: number | undefined
  email?: string | undefined
  /** Orders of this service and account alone. */
  organisation?: { baseUrl: string; account: string } | undefined
}

export interface Refreshed {
  requests: ListedRequest[]
  /** Reads that failed. After any but a 404 the rest was not tried. */
  failures: { base_url: string; request_id: string; error: RefcheckError }[]
}

/** A request of a list as it is printed. */
export interface PrintedRequest extends ListedRequest {
  /** As far as it was listed before; null where it is not known. */
  package_name: string | null
  /** Why it ended in ERROR, where an event gave a reason. */
  error_reason: string | null
  /** Why it could not be read again. */
  failure?: RefcheckError | undefined
}

/** What a user of a service knows a package as. */
export type PackageNames = (user: ServiceUser, packageId: number) => string | undefined

export interface ServiceUser {
  baseUrl: string
  userEmail: string
}

/** A package as it is named to a person: `101 Standard employment screen`. */
export const packageLabel = (id: number, name: string | undefined): string =>
  name === undefined ? String(id) : `${id} ${name}`

/** Each request with what its package is called. */
export function addPackageNames<Row extends ListedRequest>(
  requests: readonly Row[],
  names: PackageNames,
): (Row & { package_name: string | null })[] {
  return requests.map((each) => {
    const user = { baseUrl: each.base_url, userEmail: each.user_email }
    return { ...each, package_name: names(user, each.package_id) ?? null }
  })
}

/** Each request that could not be read again with its error. */
export function withFailures(
  requests: readonly PrintedRequest[],
  failures: Refreshed['failures'],
): PrintedRequest[] {
  return requests.map((request) => {
    const failed = failures.find(
      ({ base_url, request_id }) => base_url === request.base_url && request_id === request.request_id,
    )
    return { ...request, failure: failed?.error }
  })
}

/** What may exist on the service; rejected and cancelled orders do not. */
export const statesAtService: readonly SubmissionState[] = ['accepted', 'unknown', 'dropped', 'sending']

/** What `status` in a filter means. */
export function requestStatusOf(submission: Submission): string {
  return submission.requestStatus ?? submission.state
}

export type ListedRequest = ReturnType<typeof toListedRequest>

/** An order that reached the service, or may have. Times are ISO 8601. */
export function toListedRequest(submission: Submission) {
  const { requestId, requestStatus, packageId, recipient, batchId, row, baseUrl, userEmail, reason } =
    submission
  return {
    /** Null while it is not known. */
    request_id: requestId ?? null,
    state: submission.state as 'accepted' | 'unknown' | 'sending',
    /** As last read; null where there is no request known to have one. */
    status: requestStatus ?? null,
    status_read_at: isoTime(submission.requestStatusAt),
    package_id: packageId,
    /** Null once the person was erased. */
    recipient: recipient ?? null,
    /** When it was sent. */
    ordered_at: isoTime(submission.attemptedAt ?? submission.addedAt),
    batch_id: batchId,
    row,
    base_url: baseUrl,
    user_email: userEmail,
    /** Why the outcome is unknown. */
    reason: reason ?? null,
  }
}

/** How many checks of each type have which status; one without any is left out. */
type ChecksByType = Record<string, Record<string, number>>

export type CheckCounts = ReturnType<typeof countChecks>

/** The checks of one request as a store keeps them: the same text whatever order they came in. */
export function checksText(checks: readonly Pick<Check, 'type' | 'status'>[]): string {
  const counts: ChecksByType = bareObject()
  const groupKey = ({ type, status }: Pick<Check, 'type' | 'status'>): string =>
    JSON.stringify([type, status])
  for (const { type, status } of checks.toSorted((one, other) => (groupKey(one) < groupKey(other) ? -1 : 1)))
    add(counts, type, status, 1)
  return JSON.stringify(counts)
}

/** The checks of all whose checks are known; `requests`: those that were read since their status changed last. */
export function countChecks(orders: readonly { checks: string | undefined }[]) {
  // Of very many requests few differ.
  const texts = new Map<string, number>()
  for (const { checks } of orders) if (checks !== undefined) texts.set(checks, (texts.get(checks) ?? 0) + 1)
  const counts: ChecksByType = bareObject()
  let requests = 0
  for (const [text, times] of texts) {
    requests += times
    for (const [type, statuses] of Object.entries(JSON.parse(text) as ChecksByType))
      for (const [status, count] of Object.entries(statuses)) add(counts, type, status, count * times)
  }
  return { requests, by_type: counts }
}

function add(counts: ChecksByType, type: string, status: string, count: number): void {
  const statuses = (counts[type] ??= bareObject())
  statuses[status] = (statuses[status] ?? 0) + count
}
