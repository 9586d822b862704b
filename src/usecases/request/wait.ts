import type { Api } from '../../api/api.ts'
import type { RequestResource } from '../../contract/request.ts'
import { notReadInTime, settled, verdict, type WaitGoal, type WaitResult } from '../../domain/request/goal.ts'
import { gravest } from '../../domain/request/result.ts'
import { RefcheckError } from '../../errors/base.ts'
import { interrupted, NotFoundError, ThrottledError, UnavailableError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { Governor } from '../quota/governor.ts'
import { WakeableSleep } from '../webhook/wakeable-sleep.ts'
import { type Due, WaitSchedule } from './wait-schedule.ts'

export interface WaitOptions {
  goal: WaitGoal
  /** Milliseconds; Infinity for as long as it takes. */
  timeoutMs: number
  clock: Clock
  signal?: AbortSignal | undefined
  /** Shares the quota with what else uses the key. */
  governor?: Pick<Governor, 'take'> | undefined
  /** Where a receiver on this store keeps events: what it tells of need not be asked for. */
  inbox?: Pick<Inbox, 'latestStatus' | 'list' | 'onArrival'> | undefined
  /** Called at each read that shows a status not seen before. */
  onStatus?: ((request: RequestResource) => void) | undefined
  /** Called at each read. */
  onRead?: ((request: RequestResource) => void) | undefined
  /** Called when a read failed and the wait goes on. */
  onTrouble?: ((error: UnavailableError, seconds: number) => void) | undefined
  /** Called before each rest, with the seconds until the next read is due. */
  onRest?: ((seconds: number) => void) | undefined
  /** Called when the next read has to wait for a place in the quota. */
  onPaced?: ((seconds: number) => void) | undefined
}

/** A service that answered before and is away now is given this long between reads, this many times. */
const outagePause = 30_000

const longestOutage = 40

/**
 * Reads requests again and again until each has reached the goal, can no longer reach it, is not found, or the time
 * is up. Each read has a place in the quota; a request that is finished is not read again. Of several, what was
 * read is answered whatever ends the wait; of one, what ends it is thrown.
 */
export async function waitForRequests(
  api: Pick<Api, 'baseUrl' | 'getRequest'>,
  requestIds: readonly string[],
  options: WaitOptions,
): Promise<WaitResult> {
  const wait: Wait = { api, options, seen: new Map(), notFound: new Map() }
  const halted = await untilOver(wait, requestIds).catch((error: unknown) => {
    const failure = options.signal?.aborted ? interrupted(error) : error
    const isAnswer = requestIds.length > 1 && wait.seen.size > 0
    if (!isAnswer || !(failure instanceof RefcheckError)) throw error
    return failure
  })
  const results = requestIds.map((requestId) => {
    const request = wait.seen.get(requestId)
    return request === undefined
      ? { requestId, error: wait.notFound.get(requestId) ?? halted ?? notReadInTime(requestId) }
      : { requestId, request }
  })
  const requests = requestIds.flatMap((id) => wait.seen.get(id) ?? [])
  const unread = requestIds.length - requests.length - wait.notFound.size
  const ended = halted ?? verdict(requests, unread, options.goal)
  return { requests, results, failure: gravest([ended, ...wait.notFound.values()]) }
}

interface Wait {
  api: Pick<Api, 'baseUrl' | 'getRequest'>
  options: WaitOptions
  /** As last read. */
  seen: Map<string, RequestResource>
  notFound: Map<string, NotFoundError>
}

async function untilOver(wait: Wait, requestIds: readonly string[]): Promise<undefined> {
  const { options, seen, notFound } = wait
  const { clock, signal, goal } = options
  const deadline = clock.monotonic() + options.timeoutMs
  const schedule = new WaitSchedule(requestIds, clock, options.inbox, wait.api.baseUrl)
  const news = new WakeableSleep(clock)
  // Whoever cannot be told looks all the same.
  await news.listen(options.inbox, 'event').catch(() => undefined)
  for (let next = await schedule.next(); next !== undefined; next = await schedule.next()) {
    const patience = schedule.patience(next)
    const left = Math.max(0, deadline - clock.monotonic())
    if (seen.size > 0 && patience >= left) {
      await clock.sleep(left, signal)
      return
    }
    if (patience > 0) {
      options.onRest?.(Math.max(0, next.at - clock.monotonic()) / 1000)
      if (await news.sleep(patience, signal)) schedule.expectNews()
      continue
    }
    if (!(await hasPlace(options, left))) return
    const request = await read(wait, next, requestIds.length > 1)
    if (notFound.has(next.id)) schedule.drop(next)
    else if (request === undefined) schedule.postpone(next, outagePause)
    else if (settled(request, goal)) schedule.drop(next)
    else schedule.read(next, request)
  }
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

/** One read; undefined where a service that was well before is away for now, and where there is no such request. */
async function read(
  { api, options, seen, notFound }: Wait,
  due: Due,
  isOfSeveral: boolean,
): Promise<RequestResource | undefined> {
  try {
    const request = await api.getRequest(due.id, options.signal)
    const before = seen.get(due.id)
    seen.set(due.id, request)
    options.onRead?.(request)
    if (before?.status !== request.status) options.onStatus?.(request)
    return request
  } catch (error) {
    if (isOfSeveral && error instanceof NotFoundError && !seen.has(due.id)) {
      notFound.set(due.id, error)
      return undefined
    }
    due.failures += 1
    const isOutage = error instanceof UnavailableError && seen.has(due.id) && due.failures <= longestOutage
    if (!isOutage) throw error
    options.onTrouble?.(error, outagePause / 1000)
    return undefined
  }
}
