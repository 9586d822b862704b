import { isUnfinished } from '../../contract/statuses.ts'
import type { Api } from '../../api/api.ts'
import type { RequestResource } from '../../contract/request.ts'
import {
  earlierEventsMs,
  notReadInTimeError,
  pauseBeforeRead,
  pauseWithReceiver,
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
import { missingPersonText, personWithEmail } from '../../domain/wording/text.ts'
import type { Clock } from '../../host/clock.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Services } from '../services.ts'
import { listUnfinished } from './read-requests.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { Governor } from '../quota/governor.ts'
import { WakeableSleep } from '../webhook/wakeable-sleep.ts'
import { requireSameService } from '../batch/same-organisation.ts'
import { type BatchServices, findBatch } from '../batch/read-batch.ts'

export interface WaitOptions {
  goal: WaitGoal
  /** Maximum time in milliseconds; Infinity for no limit. */
  timeoutMs: number
  clock: Clock
  signal?: AbortSignal | undefined
  /** Distributes the quota among all processes that use the API key. */
  governor?: Pick<Governor, 'claim'> | undefined
  /**
   * The inbox of a receiver on this store. While a receiver runs, requests without new events are read less
   * often.
   */
  inbox?: Pick<Inbox, 'findLatestStatus' | 'list' | 'onArrival'> | undefined
  /** Called at each read that shows a new status. */
  onStatus?: ((request: RequestResource) => void) | undefined
  /** Called at each read. */
  onRead?: ((request: RequestResource) => void) | undefined
  /** Called when a read has failed and the wait continues. */
  onTrouble?: ((error: UnavailableError, seconds: number) => void) | undefined
  /** Called before each sleep, with the seconds until the next read is due. */
  onSleep?: ((seconds: number) => void) | undefined
  /** Called when the next read has to wait for the quota. */
  onQuotaWait?: ((seconds: number) => void) | undefined
}

/** Pause between reads while a service that responded before is unreachable. */
const outagePauseMs = 30_000

/** Maximum number of consecutive failed reads of a request while such a service is unreachable. */
const maxOutageReads = 40

/**
 * Reads requests repeatedly until each has reached the goal, can no longer reach it, is not found, or the time is up.
 * Every read counts in the quota; a finished request is not read again. If several requests were given, an error that
 * ends the wait is returned with the requests that were read; with one request it is thrown.
 */
export async function waitForRequests(
  api: Pick<Api, 'baseUrl' | 'getRequest'>,
  requestIds: readonly string[],
  options: WaitOptions,
): Promise<WaitResult> {
  const state: WaitState = { api, options, lastReads: new Map(), notFound: new Map() }
  const halted = await readUntilOver(state, requestIds).catch((error: unknown) => {
    const failure = options.signal?.aborted ? interrupted(error) : error
    const hasPartialResult = requestIds.length > 1 && state.lastReads.size > 0
    if (!hasPartialResult || !(failure instanceof RefcheckError)) throw error
    return failure
  })
  const results = requestIds.map((requestId) => {
    const request = state.lastReads.get(requestId)
    return request === undefined
      ? { requestId, error: state.notFound.get(requestId) ?? halted ?? notReadInTimeError(requestId) }
      : { requestId, request }
  })
  const requests = requestIds.flatMap((id) => state.lastReads.get(id) ?? [])
  const unreadCount = requestIds.length - requests.length - state.notFound.size
  const endError = halted ?? waitFailure(requests, unreadCount, options.goal)
  return { requests, results, failure: mostSevere([endError, ...state.notFound.values()]) }
}

interface WaitState {
  api: Pick<Api, 'baseUrl' | 'getRequest'>
  options: WaitOptions
  /** Requests as last read, by id. */
  lastReads: Map<string, RequestResource>
  notFound: Map<string, NotFoundError>
}

async function readUntilOver(wait: WaitState, requestIds: readonly string[]): Promise<undefined> {
  const { options, lastReads, notFound } = wait
  const { clock, signal, goal } = options
  const deadline = clock.monotonic() + options.timeoutMs
  const schedule = new WaitSchedule(requestIds, clock, options.inbox, wait.api.baseUrl)
  const arrivals = new WakeableSleep(clock)
  // If the store cannot announce events, the wait only polls.
  await arrivals.listen(options.inbox, 'event').catch(() => undefined)
  for (let next = await schedule.findNext(); next !== undefined; next = await schedule.findNext()) {
    const maxSleepMs = schedule.computeMaxSleepMs(next)
    const remainingMs = Math.max(0, deadline - clock.monotonic())
    if (lastReads.size > 0 && maxSleepMs >= remainingMs) {
      await clock.sleep(remainingMs, signal)
      return
    }
    if (maxSleepMs > 0) {
      options.onSleep?.(Math.max(0, next.nextReadAt - clock.monotonic()) / 1000)
      if (await arrivals.sleep(maxSleepMs, signal)) schedule.requireInboxRead()
      continue
    }
    if (!(await waitForQuota(options, remainingMs))) return
    const request = await readRequest(wait, next, requestIds.length > 1)
    if (notFound.has(next.id)) schedule.remove(next)
    else if (request === undefined) schedule.postpone(next, outagePauseMs)
    else if (isWaitOver(request, goal)) schedule.remove(next)
    else schedule.recordRead(next, request)
  }
}

/**
 * Waits until the quota allows a read, for at most `remainingMs`. Returns false if it is not allowed within
 * this time.
 */
async function waitForQuota(
  { governor, clock, signal, onQuotaWait }: WaitOptions,
  remainingMs: number,
): Promise<boolean> {
  const deadline = clock.monotonic() + remainingMs
  try {
    await governor?.claim('poll', { signal, budgetMs: remainingMs, onWait: (ms) => onQuotaWait?.(ms / 1000) })
    return true
  } catch (error) {
    if (!(error instanceof ThrottledError)) throw error
    await clock.sleep(Math.max(0, deadline - clock.monotonic()), signal)
    return false
  }
}

/**
 * Reads a request once. Returns undefined if the service is unreachable for now, or has no such request and the wait is
 * for several requests (`isOfSeveral`).
 */
async function readRequest(
  { api, options, lastReads, notFound }: WaitState,
  due: DueRequest,
  isOfSeveral: boolean,
): Promise<RequestResource | undefined> {
  try {
    const request = await api.getRequest(due.id, options.signal)
    const earlierRead = lastReads.get(due.id)
    lastReads.set(due.id, request)
    options.onRead?.(request)
    if (earlierRead?.status !== request.status) options.onStatus?.(request)
    return request
  } catch (error) {
    if (isOfSeveral && error instanceof NotFoundError && !lastReads.has(due.id)) {
      notFound.set(due.id, error)
      return undefined
    }
    due.failures += 1
    const isOutage =
      error instanceof UnavailableError && lastReads.has(due.id) && due.failures <= maxOutageReads
    if (!isOutage) throw error
    options.onTrouble?.(error, outagePauseMs / 1000)
    return undefined
  }
}

/** A request that still has to be read. Times are monotonic, in ms. */
interface DueRequest {
  id: string
  /** The time of the next read. */
  nextReadAt: number
  /** The status as last read; undefined before the first read. */
  status: string | undefined
  /** The time of the read that last showed a new status. */
  changedAt: number
  /**
   * Whether an event reported another status. The request is then read before those of the regular schedule.
   */
  hasNewEvent: boolean
  /** Number of consecutive failed reads. */
  failures: number
}

/** Interval at which the inbox is read, which costs no API call. */
const inboxPollMs = 1000

/**
 * Decides which request to read next, and when. An event in the inbox with another status than was read makes
 * its request due at once. Once a read has confirmed an event, the store has a running receiver, and requests
 * without new events are read only at the long safety interval. After a change of status without an event, all
 * requests are read by the regular schedule again.
 */
class WaitSchedule {
  readonly #clock: Clock
  readonly #inbox: Pick<Inbox, 'findLatestStatus' | 'list'> | undefined
  readonly #baseUrl: string
  readonly #queue: DueRequest[]
  /** The newest status that an event reported, by request. */
  readonly #reportedStatuses = new Map<string, string>()
  /** Only events that were received since this wall time, in ms, are read. */
  readonly #eventsSince: number
  #lastEventId = 0
  /** The monotonic time of the last read of the inbox, in ms; undefined before the first. */
  #inboxReadAt: number | undefined
  /** Whether a read has confirmed an event, so that a receiver stores events in the inbox. */
  #hasReceiver = false

  constructor(
    requestIds: readonly string[],
    clock: Clock,
    inbox: Pick<Inbox, 'findLatestStatus' | 'list'> | undefined,
    baseUrl: string,
  ) {
    const now = clock.monotonic()
    this.#clock = clock
    this.#baseUrl = baseUrl
    this.#inbox = inbox
    this.#eventsSince = clock.now() - earlierEventsMs
    const unread = { nextReadAt: now, status: undefined, changedAt: now, hasNewEvent: false, failures: 0 }
    this.#queue = requestIds.map((id) => ({ id, ...unread }))
  }

  /** Returns the request to read next; undefined if all are finished. */
  async findNext(): Promise<DueRequest | undefined> {
    await this.#readInbox()
    return this.#queue.reduce<DueRequest | undefined>(
      (first, each) => (first === undefined || isEarlier(each, first) ? each : first),
      undefined,
    )
  }

  /** Returns the maximum sleep in milliseconds: until the request is due or the inbox has to be read. */
  computeMaxSleepMs(due: DueRequest): number {
    const untilDue = Math.ceil(Math.max(0, due.nextReadAt - this.#clock.monotonic()))
    return this.#inbox === undefined ? untilDue : Math.min(untilDue, inboxPollMs)
  }

  /** Makes the next call of `findNext` read the inbox. */
  requireInboxRead(): void {
    this.#inboxReadAt = this.#clock.monotonic() - inboxPollMs
  }

  /** Removes a finished request. */
  remove(due: DueRequest): void {
    this.#queue.splice(this.#queue.indexOf(due), 1)
  }

  /** Records the result of a read and sets the time of the next one. */
  recordRead(due: DueRequest, { status }: RequestResource): void {
    const now = this.#clock.monotonic()
    const reportedStatus = this.#reportedStatuses.get(due.id)
    if (due.status !== status) {
      // The first read does not count as a change.
      if (reportedStatus === status) this.#trustReceiver()
      else if (due.status !== undefined) this.#distrustReceiver()
      due.changedAt = now
    }
    due.status = status
    due.hasNewEvent = false
    due.failures = 0
    const isWaitingForEvent = this.#hasReceiver && isUnfinished(status)
    due.nextReadAt =
      now + (isWaitingForEvent ? this.#pauseWithReceiverMs() : pauseBeforeRead(now - due.changedAt))
  }

  /** Sets the time of the next read of a request after a failed read. */
  postpone(due: DueRequest, ms: number): void {
    due.hasNewEvent = false
    due.nextReadAt = this.#clock.monotonic() + ms
  }

  #trustReceiver(): void {
    if (this.#hasReceiver) return
    this.#hasReceiver = true
    const safetyReadAt = this.#clock.monotonic() + this.#pauseWithReceiverMs()
    for (const due of this.#queue) {
      const isUnchanged =
        due.status !== undefined && (this.#reportedStatuses.get(due.id) ?? due.status) === due.status
      if (isUnchanged) due.nextReadAt = safetyReadAt
    }
  }

  #distrustReceiver(): void {
    if (!this.#hasReceiver) return
    this.#hasReceiver = false
    const now = this.#clock.monotonic()
    for (const due of this.#queue)
      due.nextReadAt = Math.min(due.nextReadAt, now + pauseBeforeRead(now - due.changedAt))
  }

  #pauseWithReceiverMs(): number {
    return Math.max(pauseWithReceiver.minMs, pauseWithReceiver.perRequestMs * this.#queue.length)
  }

  async #readInbox(): Promise<void> {
    const now = this.#clock.monotonic()
    if (this.#inbox === undefined) return
    if (this.#inboxReadAt !== undefined && now - this.#inboxReadAt < inboxPollMs) return
    if (this.#inboxReadAt === undefined) await this.#readOlderEvents(this.#inbox)
    this.#inboxReadAt = now
    const byId = new Map(this.#queue.map((due) => [due.id, due]))
    for await (const event of this.#inbox.list({
      baseUrl: this.#baseUrl,
      after: this.#lastEventId,
      since: this.#eventsSince,
    })) {
      this.#lastEventId = event.id
      const { requestId, status, oddity } = event
      const due = requestId === undefined ? undefined : byId.get(requestId)
      if (due === undefined || status === undefined || oddity !== undefined) continue
      this.#reportedStatuses.set(due.id, status)
      if (due.status === undefined || due.status === status) continue
      due.hasNewEvent = true
      due.nextReadAt = Math.min(due.nextReadAt, now)
    }
  }

  /** Reads the newest reported status of each request, from events that are older than those of `#readInbox` too. */
  async #readOlderEvents(inbox: Pick<Inbox, 'findLatestStatus'>): Promise<void> {
    for (const { id } of this.#queue) {
      const latest = await inbox.findLatestStatus(this.#baseUrl, id)
      if (latest !== undefined) this.#reportedStatuses.set(id, latest.status)
    }
  }
}

function isEarlier(one: DueRequest, other: DueRequest): boolean {
  return one.hasNewEvent === other.hasNewEvent ? one.nextReadAt < other.nextReadAt : one.hasNewEvent
}

/**
 * Returns the ids of the requests of a batch, in the order of its rows. `withoutRequestCount`: the number of rows
 * without a request; `batchStart`: the id of the batch, or the start of it.
 */
export async function findRequestIdsOfBatch(
  ports: BatchServices,
  batchStart: string,
  baseUrl: string,
): Promise<{ batchId: string; requestIds: string[]; withoutRequestCount: number }> {
  const batch = await findBatch(ports, batchStart)
  const { id: batchId, name, counts } = batch
  requireSameService(batch, { baseUrl })
  const accepted = await ports.ledger.list({ states: ['accepted'], batchId })
  if (accepted.length === 0) {
    throw new NotFoundError(`no row of ${name} was accepted, so there is no request to wait for`, {
      hint: `Show the rows with: refcheck batch rows ${batchId}`,
    })
  }
  const requestIds = accepted.flatMap(({ requestId }) => requestId ?? [])
  return { batchId, requestIds, withoutRequestCount: counts.total - requestIds.length }
}

/** Asks the user which unfinished requests of the current service to wait for. Returns their ids. */
export async function chooseUnfinishedRequests(
  services: Pick<Services, 'session' | 'ledger' | 'clock' | 'packageNames'>,
  prompter: Prompter,
): Promise<string[]> {
  const { baseUrl, email: userEmail } = services.session
  const names = await services.packageNames.get({ baseUrl, userEmail })
  const unfinished = (await listUnfinished(services))
    .filter((each) => serviceOf(each.base_url) === serviceOf(baseUrl))
    .toReversed()
  if (unfinished.length === 0) {
    throw new UsageError('no request is running', {
      hint: 'Nothing is running. List the requests with: refcheck request list',
      isUserChoice: true,
    })
  }
  const ids = unfinished.map((each) => each.request_id ?? '')
  if (ids.length === 1) return ids
  const choices = unfinished.map(({ recipient, package_id: packageId, status, reason }, index) => {
    const name = recipient === null ? missingPersonText(reason) : personWithEmail(recipient)
    return {
      value: ids.slice(index, index + 1),
      label: [name, packageLabel(packageId, names.get(packageId)), status ?? 'RECEIVED'].join(', '),
    }
  })
  return prompter.select({
    message: 'Wait for which request?',
    isSearchable: true,
    choices: [{ value: ids, label: `All ${ids.length}` }, ...choices],
  })
}
