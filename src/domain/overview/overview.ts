import { isUnfinished } from '../../contract/statuses.ts'
import { isoTime } from '../wording/time.ts'
import { isLoopbackUrl } from '../../contract/url.ts'
import type { Batch } from '../batch/batch.ts'
import { toListedBatch } from '../batch/batch-status.ts'
import { serviceOf } from '../submission/identity.ts'
import { hasPerson, type Submission } from '../submission/submission.ts'
import type { CheckCounts } from '../request/listed-request.ts'
import { type Attention, isReportAwaited, sortAttention } from './attention.ts'

/** The service and user whose orders an overview lists. */
export interface Organisation {
  /** Null if only environment variables name the service and user. */
  profile: string | null
  base_url: string
  user_email: string
}

/** Orders of this store that an overview leaves out, for one other service or account. */
export interface OtherOrders {
  base_url: string
  /** Empty if no account was named. */
  account: string
  /** Whether the service is a sandbox, which checks no real person. */
  is_practice: boolean
  /** The number of orders that the service accepted. */
  orders: number
  /** The number of rows that are held or have an unknown outcome. */
  needs_person: number
}

/** The progress of the orders of one batch. */
export interface BatchOverview {
  /** The number of requests of the people of its rows by status, as last read, also of those that other batches ordered. */
  statuses: Readonly<Record<string, number>>
  /** The number of these requests that other batches ordered. */
  otherOrders: number
  /** The checks of its requests, as last read. */
  checks: CheckCounts
  attention: readonly Attention[]
}

/** Returns the key of a request. It contains the service, because two services may use the same id. */
export const requestKey = (baseUrl: string, requestId: string): string => `${serviceOf(baseUrl)} ${requestId}`

const maxReports = 5

/** Counts requests by status. A request that was not read yet counts as RECEIVED. */
export function countStatuses(
  accepted: readonly Pick<Submission, 'requestStatus'>[],
): Record<string, number> {
  const statuses: Record<string, number> = {}
  for (const { requestStatus = 'RECEIVED' } of accepted)
    statuses[requestStatus] = (statuses[requestStatus] ?? 0) + 1
  return statuses
}

interface OverviewInput {
  organisation: Organisation | undefined

  /** All orders that the service accepted. */
  accepted: readonly Submission[]
  batches: readonly Batch[]
  attention: Attention[]
  /** The number of stored reports by `requestKey`; undefined if no folder for reports is known. */
  files: ReadonlyMap<string, number> | undefined
  /** Batches of other organisations. */
  otherBatches: readonly Batch[]
}

export type Overview = ReturnType<typeof createOverview>

/** Returns the orders of one organisation for one screen. Times are ISO 8601. */
export function createOverview(input: OverviewInput, now: number) {
  const { organisation, accepted, batches, attention, files, otherBatches: others } = input
  const completed = accepted.filter((each) => each.requestStatus === 'COMPLETED' && hasPerson(each))
  const open = accepted.filter(({ requestStatus }) => isUnfinished(requestStatus))
  const readAt = open.map(({ requestStatusAt, changedAt }) => requestStatusAt ?? changedAt)
  return {
    read_at: isoTime(now),
    /** Null if no profile is logged in. */
    organisation: organisation ?? null,
    /** The number of requests by status, as last read. */
    statuses: countStatuses(accepted),
    in_flight: {
      /** The number of requests that are not finished. */
      requests: open.length,
      /** The oldest time at which one of these requests was read; null if there are none. */
      read_since: open.length === 0 ? null : isoTime(readAt.reduce((one, other) => Math.min(one, other))),
      /** Batches with rows that should be sent. */
      batches: batches
        .filter(({ kind, counts }) => kind === 'file' && counts.pending + counts.sending > 0)
        .map(toListedBatch),
    },
    attention: sortAttention(attention),
    reports: newestReports(completed, files),
    completed: completed.length,
    /**
     * The number of completed requests without a report in a folder of this machine, except those for which a sync found
     * no report; null if no folder is known.
     */
    new_reports:
      files === undefined
        ? null
        : completed.filter((each) => each.acknowledgedAt === undefined && fileCountOf(each, files) === 0)
            .length,
    /** The number of completed requests of the last day that were looked at and have no report in such a folder. */
    reports_awaited:
      files === undefined
        ? null
        : completed.filter((each) => isReportAwaited(each, now) && fileCountOf(each, files) === 0).length,
    other_orders: otherOrders(others),
  }
}

const fileCountOf = ({ baseUrl, requestId = '' }: Submission, files: ReadonlyMap<string, number>): number =>
  files.get(requestKey(baseUrl, requestId)) ?? 0

function otherOrders(batches: readonly Batch[]): OtherOrders[] {
  const ordersByOwner = new Map<string, OtherOrders>()
  for (const { baseUrl, account = '', counts } of batches) {
    const key = `${serviceOf(baseUrl)} ${account}`
    const entry = ordersByOwner.get(key) ?? {
      base_url: baseUrl,
      account,
      is_practice: isLoopbackUrl(baseUrl),
      orders: 0,
      needs_person: 0,
    }
    entry.orders += counts.accepted
    entry.needs_person += counts.held + counts.unknown
    ordersByOwner.set(key, entry)
  }
  return [...ordersByOwner.values()].filter((each) => each.orders + each.needs_person > 0)
}

/** Returns the requests whose reports can be downloaded, newest first. */
function newestReports(completed: readonly Submission[], files: ReadonlyMap<string, number> | undefined) {
  return completed
    .map((each) => ({ each, readAt: each.requestStatusAt ?? each.changedAt }))
    .sort((one, other) => other.readAt - one.readAt)
    .slice(0, maxReports)
    .map(({ each, readAt }) => ({
      request_id: each.requestId ?? '',
      first_name: each.recipient?.first_name ?? null,
      last_name: each.recipient?.last_name ?? null,
      package_id: each.packageId,
      /** The time at which the status COMPLETED was read. */
      completed_at: isoTime(readAt),
      /** The number of reports of the request in these folders; null if no folder is known. */
      files: files === undefined ? null : fileCountOf(each, files),
    }))
}
