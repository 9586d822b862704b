import type { Api } from '../../api/api.ts'
import type { RequestResource } from '../../contract/request.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import type { RefcheckError } from '../../errors/base.ts'
import { IncompleteError, ThrottledError, TimedOutError, UnavailableError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { Governor } from '../quota/governor.ts'
import { type Due, WaitSchedule } from './wait-schedule.ts'

/** What is waited for: a terminal status, PARTIAL or past it, COMPLETED, or COMPLETED with every report ready. */
export type WaitGoal = 'terminal' | 'partial' | 'completed' | 'report'

export interface WaitOptions {
  goal: WaitGoal
  /** Milliseconds; Infinity for as long as it takes. */
  timeoutMs: number
  clock: Clock
  signal?: AbortSignal | undefined
  /** Shares the quota with what else uses the key. */
  governor?: Pick<Governor, 'take'> | undefined
  /** Where a receiver on this store keeps events: what it tells of need not be asked for. */
  inbox?: Pick<Inbox, 'latestStatus' | 'list'> | undefined
  /** Called at each read that shows a status not seen before. */
  onStatus?: ((request: RequestResource) => void) | undefined
  /** Called when a read failed and the wait goes on. */
  onTrouble?: ((error: UnavailableError, seconds: number) => void) | undefined
  /** Called when the next read has to wait for a place in the quota. */
  onPaced?: ((seconds: number) => void) | undefined
}

export interface WaitResult {
  /** As last read, in the order they were asked for. */
  requests: RequestResource[]
  /** TimedOutError, or IncompleteError where a request ended without what was waited for. */
  failure: RefcheckError | undefined
}

/** A service that answered before and is away now is given this long between reads, this many times. */
const outagePause = 30_000
const longestOutage = 40
/** Names of requests in one message. */
const mostNamed = 5

/**
 * Reads requests again and again until each has reached the goal, can no longer reach it, or the time
 * is up. Each read has a place in the quota; a request that is finished is not read again.
 */
export async function waitForRequests(
  api: Api,
  requestIds: readonly string[],
  options: WaitOptions,
): Promise<WaitResult> {
  const { clock, signal, goal } = options
  const deadline = clock.monotonic() + options.timeoutMs
  const seen = new Map<string, RequestResource>()
  const schedule = new WaitSchedule(requestIds, clock, options.inbox)
  for (let next = await schedule.next(); next !== undefined; next = await schedule.next()) {
    const patience = schedule.patience(next)
    const left = Math.max(0, deadline - clock.monotonic())
    if (seen.size > 0 && patience >= left) {
      await clock.sleep(left, signal)
      break
    }
    if (patience > 0) {
      await clock.sleep(patience, signal)
      continue
    }
    if (!(await hasPlace(options, left))) break
    const request = await read(api, next, seen, options)
    if (request === undefined) schedule.postpone(next, outagePause)
    else if (settled(request, goal)) schedule.drop(next)
    else schedule.read(next, request)
  }
  const requests = requestIds.flatMap((id) => seen.get(id) ?? [])
  return { requests, failure: verdict(requests, requestIds.length - requests.length, options) }
}

/** Waits for a place in the quota; false when there is none before the time is up, which it then is. */
async function hasPlace({ governor, clock, signal, onPaced }: WaitOptions, left: number): Promise<boolean> {
  const until = clock.monotonic() + left
  try {
    await governor?.take('poll', { signal, budgetMs: left, onWait: (ms) => onPaced?.(ms / 1000) })
    return true
  } catch (error) {
    if (!(error instanceof ThrottledError)) throw error
    await clock.sleep(Math.max(0, until - clock.monotonic()), signal)
    return false
  }
}

/** One read; undefined where a service that was well before is away for now. */
async function read(
  api: Api,
  due: Due,
  seen: Map<string, RequestResource>,
  options: WaitOptions,
): Promise<RequestResource | undefined> {
  try {
    const request = await api.getRequest(due.id, options.signal)
    const before = seen.get(due.id)
    seen.set(due.id, request)
    if (before?.status !== request.status) options.onStatus?.(request)
    return request
  } catch (error) {
    due.failures += 1
    const isOutage = error instanceof UnavailableError && seen.has(due.id) && due.failures <= longestOutage
    if (!isOutage) throw error
    options.onTrouble?.(error, outagePause / 1000)
    return undefined
  }
}

const isTerminal = (request: RequestResource): boolean => terminalStatuses.includes(request.status)

/** Whether the goal is reached. */
export function reached(request: RequestResource, goal: WaitGoal): boolean {
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
function settled(request: RequestResource, goal: WaitGoal): boolean {
  if (reached(request, goal)) return true
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

function verdict(
  requests: readonly RequestResource[],
  unread: number,
  options: WaitOptions,
): RefcheckError | undefined {
  const open = requests.filter((request) => !settled(request, options.goal))
  if (open.length + unread > 0) {
    const rest = unread === 0 ? [] : [`${unread} not read yet`]
    const named = unread === 0 && open.length <= mostNamed
    return new TimedOutError(`the time is up: ${[...inWords(open), ...rest].join(', ')}`, {
      hint: named
        ? `Go on with: refcheck request wait ${open.map((request) => request.request_id).join(' ')}`
        : 'Run the same command again to go on.',
    })
  }
  const ended = requests.filter((request) => !reached(request, options.goal))
  if (ended.length === 0) return undefined
  return new IncompleteError(`ended without what was waited for: ${inWords(ended).join(', ')}`, {
    hint: 'A terminal status never changes; "refcheck request get" shows the checks.',
  })
}

function inWords(requests: readonly RequestResource[]): string[] {
  const named = requests.slice(0, mostNamed).map(({ request_id, status }) => `${request_id} is ${status}`)
  const more = requests.length - named.length
  return more > 0 ? [...named, `${more} more`] : named
}
