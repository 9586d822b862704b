import type { Api } from '../../api/api.ts'
import type { RequestResource } from '../../contract/request.ts'
import {
  earlierMs,
  notReadInTime,
  pauseAfter,
  safetyPause,
  isWaitOver,
  waitFailure,
  type WaitGoal,
  type WaitResult,
} from '../../domain/request/goal.ts'
import { mostSevere } from '../../domain/request/result.ts'
import {
  RefcheckError,
  interrupted,
  NotFoundError,
  ThrottledError,
  UnavailableError,
  UsageError,
} from '../../errors/kinds.ts'
import { packageLabel } from '../../domain/request/listed-request.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { personName } from '../../domain/wording/text.ts'
import type { Clock } from '../../host/clock.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Services } from '../services.ts'
import { unfinishedRequests } from './read-requests.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { Governor } from '../quota/governor.ts'
import { WakeableSleep } from '../webhook/wakeable-sleep.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import { requireSameService } from '../batch/same-organisation.ts'
import { type BatchServices, findBatch } from '../batch/read-batch.ts'

export interface WaitOptions {
  goal: WaitGoal
  /** Milliseconds; Infinity for as long as it takes. */
  timeoutMs: number
  clock: Clock
  signal?: AbortSignal | undefined
  /** Shares the quota with what else uses the key. */
  governor?: Pick<Governor, 'claim'> | undefined
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
  onQuotaWait?: ((seconds: number) => void) | undefined
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
  const ended = halted ?? waitFailure(requests, unread, options.goal)
  return { requests, results, failure: mostSevere([ended, ...wait.notFound.values()]) }
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
  const arrivals = new WakeableSleep(clock)
  // Without a way to be notified it reads all the same.
  await arrivals.listen(options.inbox, 'event').catch(() => undefined)
  for (let next = await schedule.next(); next !== undefined; next = await schedule.next()) {
    const patience = schedule.patience(next)
    const left = Math.max(0, deadline - clock.monotonic())
    if (seen.size > 0 && patience >= left) {
      await clock.sleep(left, signal)
      return
    }
    if (patience > 0) {
      options.onRest?.(Math.max(0, next.at - clock.monotonic()) / 1000)
      if (await arrivals.sleep(patience, signal)) schedule.expectNews()
      continue
    }
    if (!(await waitForQuota(options, left))) return
    const request = await read(wait, next, requestIds.length > 1)
    if (notFound.has(next.id)) schedule.drop(next)
    else if (request === undefined) schedule.postpone(next, outagePause)
    else if (isWaitOver(request, goal)) schedule.drop(next)
    else schedule.read(next, request)
  }
}

/** Waits for a place in the quota; false when there is none before the time is up, which it then is. */
async function waitForQuota(
  { governor, clock, signal, onQuotaWait }: WaitOptions,
  left: number,
): Promise<boolean> {
  const until = clock.monotonic() + left
  try {
    await governor?.claim('poll', { signal, budgetMs: left, onWait: (ms) => onQuotaWait?.(ms / 1000) })
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

/** A request that still has to be read. Times are monotonic, in ms. */
interface Due {
  id: string
  /** When to read it next. */
  at: number
  /** As last read; undefined before the first read. */
  status: string | undefined
  changedAt: number
  /** An event reported another status; it comes before those that are read for safety. */
  isNews: boolean
  /** Failed reads in a row. */
  failures: number
}

/** How often the inbox is looked into; it costs no call. */
const pollInboxEveryMs = 1000

/**
 * Which of the requests that are waited for to read next, and when. An event in the inbox that tells of
 * another status than was read makes its request due at once. Once a read has confirmed an event, a
 * receiver is known to run, and what it is silent about is read for safety alone; a change that it
 * did not tell of ends that.
 */
class WaitSchedule {
  readonly #clock: Clock
  readonly #inbox: Pick<Inbox, 'latestStatus' | 'list'> | undefined
  readonly #baseUrl: string
  readonly #queue: Due[]
  /** The newest status that an event reported, by request. */
  readonly #reported = new Map<string, string>()
  readonly #since: number
  #seenEvent = 0
  #lookedAt: number | undefined
  #hasReceiver = false

  constructor(
    requestIds: readonly string[],
    clock: Clock,
    inbox: Pick<Inbox, 'latestStatus' | 'list'> | undefined,
    baseUrl: string,
  ) {
    const now = clock.monotonic()
    this.#clock = clock
    this.#baseUrl = baseUrl
    this.#inbox = inbox
    this.#since = clock.now() - earlierMs
    const fresh = { at: now, status: undefined, changedAt: now, isNews: false, failures: 0 }
    this.#queue = requestIds.map((id) => ({ id, ...fresh }))
  }

  /** The request to read next; undefined when none is left. */
  async next(): Promise<Due | undefined> {
    await this.#readInbox()
    return this.#queue.reduce<Due | undefined>(
      (first, each) => (first === undefined || goesBefore(each, first) ? each : first),
      undefined,
    )
  }

  /** How long to sleep for it at most: until it is due, or an event may have changed that. */
  patience(due: Due): number {
    const untilDue = Math.ceil(Math.max(0, due.at - this.#clock.monotonic()))
    return this.#inbox === undefined ? untilDue : Math.min(untilDue, pollInboxEveryMs)
  }

  /** The inbox is worth a look now. */
  expectNews(): void {
    this.#lookedAt = this.#clock.monotonic() - pollInboxEveryMs
  }

  /** It is finished, and not read again. */
  drop(due: Due): void {
    this.#queue.splice(this.#queue.indexOf(due), 1)
  }

  /** A read brought this; it goes on being waited for. */
  read(due: Due, { status }: RequestResource): void {
    const now = this.#clock.monotonic()
    const reported = this.#reported.get(due.id)
    if (due.status !== status) {
      // The first read is no change.
      if (reported === status) this.#trust()
      else if (due.status !== undefined) this.#distrust()
      due.changedAt = now
    }
    due.status = status
    due.isNews = false
    due.failures = 0
    const isSilent = this.#hasReceiver && !terminalStatuses.includes(status)
    due.at = now + (isSilent ? this.#safetyMs() : pauseAfter(now - due.changedAt))
  }

  /** A read failed; the next one in `ms`. */
  postpone(due: Due, ms: number): void {
    due.isNews = false
    due.at = this.#clock.monotonic() + ms
  }

  #trust(): void {
    if (this.#hasReceiver) return
    this.#hasReceiver = true
    const later = this.#clock.monotonic() + this.#safetyMs()
    for (const due of this.#queue) {
      const isStill = due.status !== undefined && (this.#reported.get(due.id) ?? due.status) === due.status
      if (isStill) due.at = later
    }
  }

  #distrust(): void {
    if (!this.#hasReceiver) return
    this.#hasReceiver = false
    const now = this.#clock.monotonic()
    for (const due of this.#queue) due.at = Math.min(due.at, now + pauseAfter(now - due.changedAt))
  }

  #safetyMs(): number {
    return Math.max(safetyPause.leastMs, safetyPause.perRequestMs * this.#queue.length)
  }

  async #readInbox(): Promise<void> {
    const now = this.#clock.monotonic()
    if (this.#inbox === undefined) return
    if (this.#lookedAt !== undefined && now - this.#lookedAt < pollInboxEveryMs) return
    if (this.#lookedAt === undefined) await this.#readOlderEvents(this.#inbox)
    this.#lookedAt = now
    const waited = new Map(this.#queue.map((due) => [due.id, due]))
    for await (const event of this.#inbox.list({
      baseUrl: this.#baseUrl,
      after: this.#seenEvent,
      since: this.#since,
    })) {
      this.#seenEvent = event.id
      const { requestId, status, oddity } = event
      const due = requestId === undefined ? undefined : waited.get(requestId)
      if (due === undefined || status === undefined || oddity !== undefined) continue
      this.#reported.set(due.id, status)
      if (due.status === undefined || due.status === status) continue
      due.isNews = true
      due.at = Math.min(due.at, now)
    }
  }

  async #readOlderEvents(inbox: Pick<Inbox, 'latestStatus'>): Promise<void> {
    for (const { id } of this.#queue) {
      const latest = await inbox.latestStatus(this.#baseUrl, id)
      if (latest !== undefined) this.#reported.set(id, latest.status)
    }
  }
}

function goesBefore(one: Due, other: Due): boolean {
  return one.isNews === other.isNews ? one.at < other.at : one.isNews
}

/** Ids of the requests of a batch of this service, in the order of its rows, and how many of its rows have none. */
export async function requestsOfBatch(
  ports: BatchServices,
  named: string,
  baseUrl: string,
): Promise<{ batchId: string; requestIds: string[]; others: number }> {
  const batch = await findBatch(ports, named)
  const { id: batchId, name, counts } = batch
  requireSameService(batch, { baseUrl })
  const accepted = await ports.ledger.list({ states: ['accepted'], batchId })
  if (accepted.length === 0) {
    throw new NotFoundError(`no row of ${name} was accepted, so there is no request to wait for`, {
      hint: `Show the rows with: refcheck batch rows ${batchId}`,
    })
  }
  const requestIds = accepted.flatMap(({ requestId }) => requestId ?? [])
  return { batchId, requestIds, others: counts.total - requestIds.length }
}

/** Ids of requests of the service in use that are in flight, chosen by a person. */
export async function chooseInFlight(
  services: Pick<Services, 'session' | 'ledger' | 'clock' | 'packageNames'>,
  prompter: Prompter,
): Promise<string[]> {
  const { baseUrl, email: userEmail } = services.session
  const names = await services.packageNames.get({ baseUrl, userEmail })
  const open = (await unfinishedRequests(services))
    .filter((each) => serviceOf(each.base_url) === serviceOf(baseUrl))
    .toReversed()
  if (open.length === 0) {
    throw new UsageError('no request is running', {
      hint: 'Nothing is running. List the requests with: refcheck request list',
      isChosen: true,
    })
  }
  const ids = open.map((each) => each.request_id ?? '')
  if (ids.length === 1) return ids
  const choices = open.map(({ recipient, package_id: of, status }, at) => {
    const name = recipient === null ? 'removed' : personName(recipient)
    return {
      value: ids.slice(at, at + 1),
      label: [name, packageLabel(of, names.get(of)), status ?? 'RECEIVED'].join(', '),
    }
  })
  return prompter.select({
    message: 'Wait for which request?',
    narrows: true,
    choices: [...choices, { value: ids, label: `All ${ids.length}` }],
  })
}
