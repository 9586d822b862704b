import type { Recipient } from '../../contract/request-body.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { SubmissionState } from '../submission/states.ts'
import type { Submission } from '../submission/submission.ts'

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

/** An order that reached the service, or may have. Times are ISO 8601. */
export interface ListedRequest {
  /** Null while it is not known. */
  request_id: string | null
  state: 'accepted' | 'unknown' | 'sending'
  /** As last read; null where there is no request known to have one. */
  status: string | null
  status_read_at: string | null
  package_id: number
  /** Null once the person was erased. */
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
export function named<Row extends ListedRequest>(
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
export const reached: readonly SubmissionState[] = ['accepted', 'unknown', 'dropped', 'sending']

/** What `status` in a filter means. */
export function statusOf(submission: Submission): string {
  return submission.requestStatus ?? submission.state
}

export function listed(submission: Submission): ListedRequest {
  return {
    request_id: submission.requestId ?? null,
    state: submission.state as ListedRequest['state'],
    status: submission.requestStatus ?? null,
    status_read_at: isoTimeOrNull(submission.requestStatusAt),
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

function isoTimeOrNull(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}
