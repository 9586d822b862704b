import { isUnfinished } from '../../contract/statuses.ts'
import type { RequestResource } from '../../contract/request.ts'
import { type RefcheckError, IncompleteError, TimedOutError } from '../../errors/kinds.ts'
import { personName } from '../wording/text.ts'
import type { RequestResult } from './result.ts'

/**
 * The goal of a wait: COMPLETED; PARTIAL or COMPLETED; or COMPLETED with every report ready. `terminal` and
 * `completed` both end at any terminal status and succeed with COMPLETED.
 */
export type WaitGoal = 'terminal' | 'partial' | 'completed' | 'report'

export interface WaitResult {
  /** The last read requests, in the order in which they were given. */
  requests: RequestResource[]
  /** The results in the same order, including requests that could not be read. */
  results: RequestResult[]
  /**
   * TimedOutError; IncompleteError if a request ended without reaching the goal; NotFoundError for an unknown request;
   * or the error that ended the wait. Undefined if every request reached the goal.
   */
  failure: RefcheckError | undefined
}

/** The maximum number of requests that a message names. */
const maxNamed = 5

/** Whether a request has reached the goal. */
export function isGoalReached(request: RequestResource, goal: WaitGoal): boolean {
  switch (goal) {
    case 'terminal':
    case 'completed':
      return request.status === 'COMPLETED'
    case 'partial':
      return request.status === 'PARTIAL' || request.status === 'COMPLETED'
    case 'report':
      return request.status === 'COMPLETED' && hasAllReports(request)
  }
}

/** Whether the wait for a request is over: the goal is reached, or can no longer be reached. */
export function isWaitOver(request: RequestResource, goal: WaitGoal): boolean {
  if (isGoalReached(request, goal)) return true
  return !isUnfinished(request.status) && !(goal === 'report' && request.status === 'COMPLETED')
}

/** Whether every completed background check and referee has a report. */
function hasAllReports(request: RequestResource): boolean {
  return request.checks.every((check) => {
    if (check.type === 'reference') {
      return (check.references ?? []).every(
        (each) => each.status !== 'COMPLETED' || each.report_pdf_url !== null,
      )
    }
    return check.status !== 'COMPLETED' || (check.report_pdf_url ?? null) !== null
  })
}

/** Returns the error for a request that was not read before the time limit. */
export function notReadInTimeError(requestId: string): TimedOutError {
  return new TimedOutError('timed out before it was read', {
    hint: `Continue with: refcheck request wait ${requestId}`,
  })
}

/** Returns the error of a wait that has ended; undefined if all requests have reached the goal. */
export function waitFailure(
  requests: readonly RequestResource[],
  unreadCount: number,
  goal: WaitGoal,
): RefcheckError | undefined {
  const open = requests.filter((request) => !isWaitOver(request, goal))
  if (open.length + unreadCount > 0) {
    const unreadText = unreadCount === 0 ? [] : [`${unreadCount} not read yet`]
    const isReportMissing =
      open.length > 0 && unreadCount === 0 && open.every(({ status }) => status === 'COMPLETED')
    const reportText = isReportMissing ? ', with a report that is not ready yet' : ''
    return new TimedOutError(
      `timed out: ${[...listNamed(open, statusText), ...unreadText].join(', ')}${reportText}`,
      {
        rerunLabel: 'Continue with',
      },
    )
  }
  const missedGoal = requests.filter((request) => !isGoalReached(request, goal))
  if (missedGoal.length === 0) return undefined
  return new IncompleteError(listNamed(missedGoal, endText).join(', '), {
    hint: `${missedGoal.length === 1 ? 'This status does' : 'These statuses do'} not change any more. Show the checks with: refcheck request get ${missedGoal
      .slice(0, maxNamed)
      .map(({ request_id: id }) => id)
      .join(' ')}`,
  })
}

function statusText({ recipient, status }: RequestResource): string {
  return `${personName(recipient)} is ${status}`
}

function endText({ recipient, status }: RequestResource): string {
  const verb = status === 'ERROR' ? 'ended in' : status === 'CANCELLED' ? 'was' : 'is'
  return `${personName(recipient)} ${verb} ${status}`
}

function listNamed(
  requests: readonly RequestResource[],
  textOf: (request: RequestResource) => string,
): string[] {
  const named = requests.slice(0, maxNamed).map(textOf)
  const more = requests.length - named.length
  return more > 0 ? [...named, `${more} more`] : named
}

/**
 * A request is read again after a tenth of the time since its last change, but after at least a second and at most two
 * minutes. So a change is noticed within a tenth of the time it took, and the number of reads grows with the logarithm
 * of that time.
 */
const readPause = { share: 0.1, minMs: 1000, maxMs: 120_000 }

/**
 * The pause between two reads of a request while a receiver stores events. It covers the case that the receiver has stopped, and uses at most half of
 * the poll quota.
 */
export const pauseWithReceiver = { minMs: 300_000, perRequestMs: 10_000 }

/** Events that arrived this long before a wait started belong to the wait. */
export const earlierEventsMs = 60_000

/** Returns the milliseconds until a request that has not changed for `unchangedMs` is read again. */
export function pauseBeforeRead(unchangedMs: number): number {
  return Math.min(readPause.maxMs, Math.max(readPause.minMs, Math.ceil(unchangedMs * readPause.share)))
}
