import { terminalStatuses } from '../../contract/statuses.ts'
import type { Batch } from '../batch/batch.ts'
import { listed, type ListedBatch } from '../batch/batch-status.ts'
import { serviceOf } from '../submission/identity.ts'
import type { Submission } from '../submission/submission.ts'
import type { CheckCounts } from '../request/check-counts.ts'
import { type Attention, attentionInOrder } from './attention.ts'

/** A request whose reports can be had. Times are ISO 8601. */
export interface FinishedRequest {
  request_id: string
  first_name: string | null
  last_name: string | null
  package_id: number
  /** When this store heard of it. */
  completed_at: string
  /** Reports of it in the folder that reports go to by default; null where none is set. */
  files: number | null
}

/** What a store knows, on one screen. Times are ISO 8601. */
export interface Overview {
  read_at: string
  /** Requests by status, as last heard. */
  statuses: Record<string, number>
  in_flight: {
    /** Requests that are not finished. */
    requests: number
    /** When the one that was read longest ago was read; null where none is in flight. */
    read_since: string | null
    /** Batches with rows that are to be sent. */
    batches: ListedBatch[]
  }
  /** The gravest first. */
  attention: Attention[]
  /** The newest first. */
  reports: FinishedRequest[]
}

/** How the orders of one batch go. */
export interface BatchProgressNow {
  /** Requests by status, as last heard. */
  statuses: Readonly<Record<string, number>>
  /** Of its requests, as last read. */
  checks: CheckCounts
  attention: readonly Attention[]
}

/** Two services may give out the same id. */
export const requestKey = (baseUrl: string, requestId: string): string => `${serviceOf(baseUrl)} ${requestId}`

const mostReports = 5

const isFinished = ({ requestStatus }: Submission): boolean => terminalStatuses.includes(requestStatus ?? '')

/** How many have which status; one that nobody heard of yet was just accepted. */
export function countedStatuses(
  accepted: readonly Pick<Submission, 'requestStatus'>[],
): Record<string, number> {
  const statuses: Record<string, number> = {}
  for (const { requestStatus = 'RECEIVED' } of accepted)
    statuses[requestStatus] = (statuses[requestStatus] ?? 0) + 1
  return statuses
}

interface Known {
  /** Every order that the service accepted. */
  accepted: readonly Submission[]
  batches: readonly Batch[]
  attention: Attention[]
  /** Reports on disk by requestKey; undefined where no folder is set for them. */
  files: ReadonlyMap<string, number> | undefined
}

export function overviewOf({ accepted, batches, attention, files }: Known, now: number): Overview {
  const open = accepted.filter((each) => !isFinished(each))
  const readAt = open.map(({ requestStatusAt, changedAt }) => requestStatusAt ?? changedAt)
  return {
    read_at: isoTime(now),
    statuses: countedStatuses(accepted),
    in_flight: {
      requests: open.length,
      read_since: open.length === 0 ? null : isoTime(readAt.reduce((one, other) => Math.min(one, other))),
      batches: batches
        .filter(({ kind, counts }) => kind === 'file' && counts.pending + counts.sending > 0)
        .map(listed),
    },
    attention: attentionInOrder(attention),
    reports: newestReports(accepted, files),
  }
}

function newestReports(
  accepted: readonly Submission[],
  files: ReadonlyMap<string, number> | undefined,
): FinishedRequest[] {
  return accepted
    .filter(({ requestStatus }) => requestStatus === 'COMPLETED')
    .map((each) => ({ each, at: each.requestStatusAt ?? each.changedAt }))
    .sort((one, other) => other.at - one.at)
    .slice(0, mostReports)
    .map(({ each, at }) => ({
      request_id: each.requestId ?? '',
      first_name: each.recipient?.first_name ?? null,
      last_name: each.recipient?.last_name ?? null,
      package_id: each.packageId,
      completed_at: isoTime(at),
      files: files === undefined ? null : (files.get(requestKey(each.baseUrl, each.requestId ?? '')) ?? 0),
    }))
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}
