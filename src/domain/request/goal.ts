import type { RequestResource } from '../../contract/request.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import { type RefcheckError, IncompleteError, TimedOutError } from '../../errors/kinds.ts'
import type { RequestResult } from './result.ts'

/** What is waited for: a terminal status, PARTIAL or past it, COMPLETED, or COMPLETED with every report ready. */
export type WaitGoal = 'terminal' | 'partial' | 'completed' | 'report'

export interface WaitResult {
  /** As last read, in the order they were asked for. */
  requests: RequestResource[]
  /** The same, with those that could not be read in their places. */
  results: RequestResult[]
  /**
   * TimedOutError, IncompleteError where a request ended without what was waited for, NotFoundError where there is no
   * such request, or what ended the wait.
   */
  failure: RefcheckError | undefined
}

/** Names of requests in one message. */
const maxNamed = 5

const isTerminal = (request: RequestResource): boolean => terminalStatuses.includes(request.status)

/** Whether the goal is reached. */
export function isGoalReached(request: RequestResource, goal: WaitGoal): boolean {
  switch (goal) {
    case 'terminal':
    case 'completed':
      return request.status === 'COMPLETED'
    case 'partial':
      return request.status === 'PARTIAL' || request.status === 'COMPLETED'
    case 'report':
      return request.status === 'COMPLETED' && reportsReady(request)
  }
}

/** Whether there is nothing more to wait for: the goal is reached, or can no longer come. */
export function isWaitOver(request: RequestResource, goal: WaitGoal): boolean {
  if (isGoalReached(request, goal)) return true
  return isTerminal(request) && !(goal === 'report' && request.status === 'COMPLETED')
}

/** Every background check and referee that COMPLETED has its report. */
function reportsReady(request: RequestResource): boolean {
  return request.checks.every((check) => {
    if (check.type === 'reference') {
      return (check.references ?? []).every(
        (each) => each.status !== 'COMPLETED' || each.report_pdf_url !== null,
      )
    }
    return check.status !== 'COMPLETED' || (check.report_pdf_url ?? null) !== null
  })
}

/** A request that was never read before the time was up. */
export function notReadInTime(requestId: string): TimedOutError {
  return new TimedOutError('timed out before it was read', {
    hint: `Continue with: refcheck request wait ${requestId}`,
  })
}

export function waitFailure(
  requests: readonly RequestResource[],
  unread: number,
  goal: WaitGoal,
): RefcheckError | undefined {
  const open = requests.filter((request) => !isWaitOver(request, goal))
  if (open.length + unread > 0) {
    const rest = unread === 0 ? [] : [`${unread} not read yet`]
    const isReportMissing =
      open.length > 0 && unread === 0 && open.every(({ status }) => status === 'COMPLETED')
    const tail = isReportMissing ? ', with a report that is not ready yet' : ''
    return new TimedOutError(`timed out: ${[...formatStatuses(open), ...rest].join(', ')}${tail}`, {
      rerunLabel: 'Continue with',
    })
  }
  const ended = requests.filter((request) => !isGoalReached(request, goal))
  if (ended.length === 0) return undefined
  return new IncompleteError(`ended without reaching the goal: ${formatStatuses(ended).join(', ')}`, {
    hint: `A terminal status does not change. Show the checks with: refcheck request get ${ended
      .slice(0, maxNamed)
      .map(({ request_id: id }) => id)
      .join(' ')}`,
  })
}

function formatStatuses(requests: readonly RequestResource[]): string[] {
  const named = requests.slice(0, maxNamed).map(({ request_id, status }) => `${request_id} is ${status}`)
  const more = requests.length - named.length
  return more > 0 ? [...named, `${more} more`] : named
}

/**
 * A request is read again after a tenth of the time since its last change, from a second to two minutes.
 * So a change is noticed within a tenth of the time it took, and reads grow with the logarithm of that time.
 */
const pause = { share: 0.1, leastMs: 1000, mostMs: 120_000 }

/** With a receiver that stores events, in case that it has stopped: half of what loops may read at most. */
export const safetyPause = { leastMs: 300_000, perRequestMs: 10_000 }

/** Events that came shortly before a wait began belong to it. */
export const earlierMs = 60_000

export function pauseAfter(stoodMs: number): number {
  return Math.min(pause.mostMs, Math.max(pause.leastMs, Math.ceil(stoodMs * pause.share)))
}
