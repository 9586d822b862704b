import { isoTime } from '../wording/time.ts'
import { isLoopbackUrl } from '../../contract/url.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import type { Batch } from '../batch/batch.ts'
import { toListedBatch } from '../batch/batch-status.ts'
import { serviceOf } from '../submission/identity.ts'
import type { Submission } from '../submission/submission.ts'
import type { CheckCounts } from '../request/listed-request.ts'
import { type Attention, sortAttention } from './attention.ts'

/** Whose orders an overview is about. */
export interface Organisation {
  /** Null where the environment alone says who calls. */
  profile: string | null
  base_url: string
  user_email: string
}

/** Orders of this store that an overview leaves out: of one other service or account. */
export interface OtherOrders {
  base_url: string
  /** Empty where none was named. */
  account: string
  /** Of a sandbox, where no person is checked. */
  is_practice: boolean
  /** Those that the service accepted. */
  orders: number
  /** Rows that are held, or whose outcome is unknown. */
  needs_person: number
}

/** How the orders of one batch go. */
export interface BatchProgressNow {
  /** Requests by status, as last read. */
  statuses: Readonly<Record<string, number>>
  /** Of its requests, as last read. */
  checks: CheckCounts
  attention: readonly Attention[]
}

/** Two services may give out the same id. */
export const requestKey = (baseUrl: string, requestId: string): string => `${serviceOf(baseUrl)} ${requestId}`

const maxReports = 5

const isFinished = ({ requestStatus }: Submission): boolean => terminalStatuses.includes(requestStatus ?? '')

/** How many have which status; one that was not read yet was just accepted. */
export function countStatuses(
  accepted: readonly Pick<Submission, 'requestStatus'>[],
): Record<string, number> {
  const statuses: Record<string, number> = {}
  for (const { requestStatus = 'RECEIVED' } of accepted)
    statuses[requestStatus] = (statuses[requestStatus] ?? 0) + 1
  return statuses
}

interface Known {
  organisation: Organisation | undefined

  /** Every order that the service accepted. */
  accepted: readonly Submission[]
  batches: readonly Batch[]
  attention: Attention[]
  /** Reports on disk by requestKey; undefined where no folder is set for them. */
  files: ReadonlyMap<string, number> | undefined
  /** Batches of other organisations. */
  others: readonly Batch[]
}

export type Overview = ReturnType<typeof overviewOf>

/** The orders of one organisation, on one screen. Times are ISO 8601. */
export function overviewOf(known: Known, now: number) {
  const { organisation, accepted, batches, attention, files, others } = known
  const completed = accepted.filter(({ requestStatus }) => requestStatus === 'COMPLETED')
  const open = accepted.filter((each) => !isFinished(each))
  const readAt = open.map(({ requestStatusAt, changedAt }) => requestStatusAt ?? changedAt)
  return {
    read_at: isoTime(now),
    /** Null where no profile is logged in. */
    organisation: organisation ?? null,
    /** Requests by status, as last read. */
    statuses: countStatuses(accepted),
    in_flight: {
      /** Requests that are not finished. */
      requests: open.length,
      /** When the one that was read longest ago was read; null where none is in flight. */
      read_since: open.length === 0 ? null : isoTime(readAt.reduce((one, other) => Math.min(one, other))),
      /** Batches with rows that are to be sent. */
      batches: batches
        .filter(({ kind, counts }) => kind === 'file' && counts.pending + counts.sending > 0)
        .map(toListedBatch),
    },
    attention: sortAttention(attention),
    reports: newestReports(completed, files),
    completed: completed.length,
    /** Of them, those without a report in the folder that reports go to by default; null where none is set. */
    new_reports:
      files === undefined
        ? null
        : completed.filter((each) => isNamed(each) && filesOf(each, files) === 0).length,
    other_orders: otherOrders(others),
  }
}

/** Reports of a person who was removed are not downloaded again. */
const isNamed = ({ recipient }: Submission): boolean => recipient !== undefined

const filesOf = ({ baseUrl, requestId = '' }: Submission, files: ReadonlyMap<string, number>): number =>
  files.get(requestKey(baseUrl, requestId)) ?? 0

function otherOrders(batches: readonly Batch[]): OtherOrders[] {
  const found = new Map<string, OtherOrders>()
  for (const { baseUrl, account = '', counts } of batches) {
    const key = `${serviceOf(baseUrl)} ${account}`
    const one = found.get(key) ?? {
      base_url: baseUrl,
      account,
      is_practice: isLoopbackUrl(baseUrl),
      orders: 0,
      needs_person: 0,
    }
    one.orders += counts.accepted
    one.needs_person += counts.held + counts.unknown
    found.set(key, one)
  }
  return [...found.values()].filter((each) => each.orders + each.needs_person > 0)
}

/** Requests whose reports can be had, the newest first. */
function newestReports(completed: readonly Submission[], files: ReadonlyMap<string, number> | undefined) {
  return completed
    .map((each) => ({ each, at: each.requestStatusAt ?? each.changedAt }))
    .sort((one, other) => other.at - one.at)
    .slice(0, maxReports)
    .map(({ each, at }) => ({
      request_id: each.requestId ?? '',
      first_name: each.recipient?.first_name ?? null,
      last_name: each.recipient?.last_name ?? null,
      package_id: each.packageId,
      /** When this store read it. */
      completed_at: isoTime(at),
      /** Reports of it in the folder that reports go to by default; null where none is set. */
      files: files === undefined ? null : filesOf(each, files),
    }))
}
