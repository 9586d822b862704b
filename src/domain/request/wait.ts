import type { Api } from '../../api/api.ts'
import { type RequestResource, terminalStatuses } from '../../contract/request.ts'
import type { RefcheckError } from '../../errors/base.ts'
import { IncompleteError } from '../../errors/incomplete.ts'
import { TimedOutError } from '../../errors/timed-out.ts'
import { UnavailableError } from '../../errors/unavailable.ts'
import type { Clock } from '../../host/clock.ts'

/** What is waited for: a terminal status, PARTIAL or past it, COMPLETED, or COMPLETED with every report ready. */
export type WaitGoal = 'terminal' | 'partial' | 'completed' | 'report'

export interface WaitOptions {
  goal: WaitGoal
  /** Milliseconds; Infinity for as long as it takes. */
  timeoutMs: number
  clock: Clock
  signal?: AbortSignal | undefined
  /** Called at each read that shows a status not seen before. */
  onStatus?: ((request: RequestResource) => void) | undefined
  /** Called when a read failed and the wait goes on. */
  onTrouble?: ((error: UnavailableError, seconds: number) => void) | undefined
}

export interface WaitResult {
  /** As last read, in the order they were asked for. */
  requests: RequestResource[]
  /** TimedOutError, or IncompleteError where a request ended without what was waited for. */
  failure: RefcheckError | undefined
}

/** How long after a read of one request the next read of it comes, in ms; the last one repeats. */
const pauses = [1_000, 1_000, 2_000, 3_000, 5_000, 10_000, 15_000, 30_000]

/** 1,000 calls an hour: a longer run of reads may not be denser than this, in ms. */
const sustainedSpacing = 3_600
/** Reads that may go before that spacing holds; below the 60 a minute with room for other work. */
const burst = 20

/** A service that answered before and is away now is given this long between reads, this many times. */
const outagePause = 30_000
const longestOutage = 40

/**
 * Reads requests again and again until each has reached the goal, can no longer reach it, or the time
 * is up. A request that has is not read again.
 */
export async function waitForRequests(
  api: Api,
  requestIds: readonly string[],
  options: WaitOptions,
): Promise<WaitResult> {
  const { clock, signal } = options
  const deadline = clock.monotonic() + options.timeoutMs
  const seen = new Map<string, RequestResource>()
  const queue: Due[] = requestIds.map((id) => ({ id, at: clock.monotonic(), reads: 0, failures: 0 }))
  for (let reads = 1; queue.length > 0; reads += 1) {
    queue.sort((a, b) => a.at - b.at)
    const next = queue[0] as Due
    const isLate = next.at > deadline && seen.size === requestIds.length
    await clock.sleep(Math.max(0, (isLate ? deadline : next.at) - clock.monotonic()), signal)
    if (isLate) break
    const request = await read(api, next, seen, options)
    if (request !== undefined && settled(request, options.goal)) {
      queue.shift()
      continue
    }
    const pause = request === undefined ? outagePause : (pauses[Math.min(next.reads, pauses.length - 1)] ?? 0)
    next.reads += 1
    next.at = clock.monotonic() + (reads > burst ? Math.max(pause, sustainedSpacing * queue.length) : pause)
  }
  const requests = requestIds.flatMap((id) => seen.get(id) ?? [])
  return { requests, failure: verdict(requests, options) }
}

/** A request that still has to be read, and when (monotonic ms). */
interface Due {
  id: string
  at: number
  reads: number
  /** In a row. */
  failures: number
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
    due.failures = 0
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

function verdict(requests: readonly RequestResource[], options: WaitOptions): RefcheckError | undefined {
  const open = requests.filter((request) => !settled(request, options.goal))
  if (open.length > 0) {
    const still = open.map((request) => `${request.request_id} is ${request.status}`).join(', ')
    return new TimedOutError(`the time is up: ${still}`, {
      hint: `Go on with: refcheck request wait ${open.map((request) => request.request_id).join(' ')}`,
    })
  }
  const ended = requests.filter((request) => !reached(request, options.goal))
  if (ended.length === 0) return undefined
  const how = ended.map((request) => `${request.request_id} is ${request.status}`).join(', ')
  return new IncompleteError(`ended without what was waited for: ${how}`, {
    hint: 'A terminal status never changes; "refcheck request get" shows the checks.',
  })
}
