import { isUnfinished } from '../../contract/statuses.ts'
import type { Services } from '../services.ts'
import type { Api } from '../../api/api.ts'
import { mostSevere, isUnread, type RequestResult } from '../../domain/request/result.ts'
import {
  RefcheckError,
  interrupted,
  NotFoundError,
  UnavailableError,
  InterruptedError,
  UsageError,
} from '../../errors/kinds.ts'
import {
  toListedRequest,
  type ListedRequest,
  statesAtService,
  type Refreshed,
  type RequestFilter,
  requestStatusOf,
  checksText,
} from '../../domain/request/listed-request.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import type { Clock } from '../../host/clock.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import { findOtherOrder, isEndedWithoutResult } from '../../domain/overview/attention.ts'
import { decisionCommand } from '../../domain/submission/duplicate.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { packageWithName } from '../../domain/submission/confirmation.ts'
import { listedTime, localTime } from '../../domain/wording/time.ts'
import { missingPersonText, personName, personWithEmail } from '../../domain/wording/text.ts'
import type { Recipient, RequestResource } from '../../contract/request.ts'
import { foldedName } from '../../domain/submission/similarity.ts'
import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { ambiguousPerson, ambiguousStart } from '../../domain/request/id-start.ts'

/**
 * Number of consecutive requests that the service fails to return before it counts as unreachable and no more
 * requests are read.
 */
export const maxFailedReads = 3

/**
 * Reads requests in the order of `requestIds`. The result of a request that cannot be read is its error; the
 * other requests are still read, unless the error concerns all of them. Throws such an error if it occurs
 * before any request was read. `failure` is the error of the highest precedence.
 */
export async function readRequests(
  api: Pick<Api, 'getRequest'>,
  requestIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ results: RequestResult[]; failure: RefcheckError | undefined }> {
  const results: RequestResult[] = []
  let haltError: RefcheckError | undefined
  let failedReads = 0
  for (const requestId of requestIds) {
    if (haltError !== undefined) {
      results.push({ requestId, error: haltError })
      continue
    }
    try {
      results.push({ requestId, request: await api.getRequest(requestId, signal) })
      failedReads = 0
    } catch (error) {
      const failure = signal?.aborted ? interrupted(error) : error
      if (!(failure instanceof RefcheckError)) throw failure
      results.push({ requestId, error: failure })
      failedReads += failure instanceof UnavailableError ? 1 : 0
      const isAboutOneRequest = failure instanceof NotFoundError || failure instanceof UnavailableError
      if (!isAboutOneRequest || failedReads >= maxFailedReads) haltError = failure
    }
  }
  const unreadResults = results.filter(isUnread)
  const [first] = unreadResults
  const isNothingRead = unreadResults.length === results.length
  if (first !== undefined && isNothingRead && (haltError !== undefined || results.length === 1)) {
    throw haltError ?? first.error
  }
  return { results, failure: mostSevere(unreadResults.map(({ error }) => error)) }
}

/**
 * Lists the requests that this store created or may have created, oldest first. Before that, orders whose
 * process has ended become `unknown`.
 */
export async function listRequests(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  filter: RequestFilter,
): Promise<ListedRequest[]> {
  await ledger.recover(clock.now())
  const { status, organisation, ...storeFilter } = filter
  const submissions = await ledger.list({
    ...storeFilter,
    account: organisation?.account,
    states: statesAtService,
  })
  const wantedStatus = status?.toUpperCase()
  const service = organisation && serviceOf(organisation.baseUrl)
  return submissions
    .filter((each) => wantedStatus === undefined || requestStatusOf(each).toUpperCase() === wantedStatus)
    .filter(({ baseUrl }) => service === undefined || serviceOf(baseUrl) === service)
    .map(toListedRequest)
}

/** Records the status of a request that was read, and its person if the store lacks it. */
export async function recordRead(
  ledger: Pick<Ledger, 'recordStatus' | 'addLostPerson'>,
  baseUrl: string,
  { request_id: requestId, status, checks, recipient }: RequestResource,
  at: number,
): Promise<void> {
  await ledger.recordStatus(baseUrl, requestId, status, at, checksText(checks))
  await ledger.addLostPerson(baseUrl, requestId, recipient)
}

interface RefreshServices
  extends Pick<Services, 'api' | 'ledger' | 'clock'>, Partial<Pick<Services, 'governor'>> {
  /** Maximum time in milliseconds that waits for the quota may take together; default Infinity. */
  budgetMs?: number | undefined
  signal?: AbortSignal | undefined
  onQuotaWait?: ((seconds: number) => void) | undefined
  /** Called before each read with the number of reads done. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/**
 * Reads the unfinished requests of this service, records their statuses and returns the list. Requests of another
 * service are listed as they are stored.
 */
export async function refreshRequests(ports: RefreshServices, filter: RequestFilter): Promise<Refreshed> {
  const failures = await recordStatuses(ports, await listRequests(ports, { ...filter, status: undefined }))
  return { requests: await listRequests(ports, filter), failures }
}

/** Lists all requests whose status, as last read, is not final. */
export async function listUnfinished({
  ledger,
  clock,
}: Pick<RefreshServices, 'ledger' | 'clock'>): Promise<ListedRequest[]> {
  await ledger.recover(clock.now())
  return (await ledger.list({ states: ['accepted'], unfinished: true })).map(toListedRequest)
}

/**
 * Reads the unfinished ones of these requests, if they are of this service, and records their statuses. Returns the
 * failures.
 */
export async function recordStatuses(
  ports: RefreshServices,
  requests: readonly ListedRequest[],
): Promise<Refreshed['failures']> {
  const { api, ledger, clock, governor, signal, onQuotaWait, onProgress } = ports
  const { budgetMs = Number.POSITIVE_INFINITY } = ports
  const deadline = clock.monotonic() + budgetMs
  const failures: Refreshed['failures'] = []
  const service = serviceOf(api.baseUrl)
  const unfinished = requests.flatMap(({ request_id, status, base_url }) =>
    request_id === null || !isUnfinished(status) || serviceOf(base_url) !== service
      ? []
      : [{ request_id, base_url }],
  )
  for (const [done, { request_id, base_url }] of unfinished.entries()) {
    onProgress?.(done, unfinished.length)
    try {
      await governor?.claim('poll', {
        signal,
        budgetMs: deadline - clock.monotonic(),
        onWait: (ms) => onQuotaWait?.(ms / 1000),
      })
      const request = await api.getRequest(request_id, signal)
      await recordRead(ledger, base_url, { ...request, request_id }, clock.now())
    } catch (error) {
      if (signal?.aborted)
        throw new InterruptedError('interrupted; the statuses read so far are kept', {
          rerunLabel: 'Continue with',
        })
      if (!(error instanceof RefcheckError)) throw error
      failures.push({ base_url, request_id, error })
      if (error.code !== 'not_found') break
    }
  }
  return failures
}

type EventList = Pick<Inbox, 'list'>

/**
 * Returns the reason why a request ended in ERROR; the API states it only in the request's event. Returns
 * undefined if there is no such event.
 */
export async function findErrorReason(
  inbox: EventList,
  baseUrl: string,
  requestId: string,
): Promise<string | undefined> {
  let reason: string | undefined
  for await (const { body } of inbox.list({ baseUrl, requestId, status: 'ERROR' })) {
    // This import loads zod, which lists of requests do not need.
    const { errorReasonOf } = await import('../../domain/webhook/events.ts')
    reason = errorReasonOf(body) ?? reason
  }
  return reason
}

/** Adds the reason from the inbox to requests in ERROR. The inbox is opened only for these. */
export async function addReasons(
  results: readonly RequestResult[],
  baseUrl: string,
  openInbox: () => Promise<EventList>,
): Promise<RequestResult[]> {
  const resultsWithReasons: RequestResult[] = []
  for (const result of results) {
    const needsReason =
      !isUnread(result) && result.request.status === 'ERROR' && result.request['error_reason'] === undefined
    const reason = needsReason
      ? await findErrorReason(await openInbox(), baseUrl, result.requestId)
      : undefined
    if (isUnread(result) || reason === undefined) resultsWithReasons.push(result)
    else resultsWithReasons.push({ ...result, request: { ...result.request, error_reason: reason } })
  }
  return resultsWithReasons
}

/** Adds to each row the reason from the inbox if its request is in ERROR, or else null. */
export async function addListedReasons<Row extends { request_id: string | null; status: string | null }>(
  rows: readonly Row[],
  inbox: EventList,
  baseUrlOf: (row: Row) => string,
): Promise<(Row & { error_reason: string | null })[]> {
  const rowsWithReasons: (Row & { error_reason: string | null })[] = []
  for (const row of rows) {
    const isError = row.status === 'ERROR' && row.request_id !== null
    rowsWithReasons.push({
      ...row,
      error_reason: isError
        ? ((await findErrorReason(inbox, baseUrlOf(row), row.request_id ?? '')) ?? null)
        : null,
    })
  }
  return rowsWithReasons
}

/**
 * Returns the id of the request in this store that starts with `requestStart`; with `baseUrl`, only of this service.
 * Throws NotFoundError if there is none, and UsageError with the list if there are several.
 */
export async function findRequestId(
  { ledger, inbox }: { ledger: Pick<Ledger, 'list'>; inbox: Pick<Inbox, 'listUnmatchedIds'> },
  requestStart: string,
  baseUrl?: string,
): Promise<string> {
  const matchingOrders = await ledger.list({ requestStart })
  const ordersOfService =
    baseUrl === undefined
      ? matchingOrders
      : matchingOrders.filter((each) => serviceOf(each.baseUrl) === serviceOf(baseUrl))
  const unmatchedIds = (await inbox.listUnmatchedIds(baseUrl)).filter((id) => id.startsWith(requestStart))
  const descriptions = new Map([
    ...unmatchedIds.map((id) => [id, 'not ordered with this store'] as const),
    ...ordersOfService.map(({ requestId = '', recipient: person, requestStatus: status, reason }) => {
      const name = person === undefined ? missingPersonText(reason) : personName(person)
      return [requestId, `${name}${status === undefined ? '' : `, ${status}`}`] as const
    }),
  ])
  const [onlyId, ...otherIds] = descriptions.keys()
  const [orderElsewhere] = matchingOrders
  if (onlyId === undefined && orderElsewhere !== undefined) {
    throw new UsageError(
      `request ${requestStart} is for ${orderElsewhere.baseUrl}, and this profile is for ${baseUrl}`,
      {
        hint: 'Choose the profile that it was ordered with: --profile NAME',
      },
    )
  }
  if (onlyId === undefined) {
    throw new NotFoundError(`no request of this store starts with "${requestStart}"`, {
      hint: 'List the requests with: refcheck request list',
    })
  }
  if (otherIds.length === 0) return onlyId
  throw new UsageError(...ambiguousStart('request', requestStart, [...descriptions]))
}

/**
 * Returns the id of the request of this service for a person: `text` is the e-mail or words of the name. If several
 * orders match, the only one whose whole name is `text` is used, or else the one that the user chooses. Throws
 * NotFoundError if there is none or its outcome is unknown, and UsageError with the list if there are several and no
 * `prompter`. `commandFor`: the command of the user with an id instead of `text`.
 */
export async function findRequestOfPerson(
  { ledger, packageNames }: Pick<Services, 'packageNames'> & { ledger: Pick<Ledger, 'list'> },
  text: string,
  {
    baseUrl,
    prompter,
    commandFor,
  }: { baseUrl: string; prompter: Prompter | undefined; commandFor: (requestId: string) => string },
): Promise<string> {
  const service = serviceOf(baseUrl)
  const findOrders = async (states: readonly SubmissionState[]): Promise<Submission[]> =>
    (await ledger.list({ states })).filter(
      (each) =>
        serviceOf(each.baseUrl) === service &&
        each.recipient !== undefined &&
        hasNameOrEmail(each.recipient, text),
    )
  const orders = await findOrders(statesAtService)
  const withWholeName = orders.filter(({ recipient }) => recipient && isWholeName(recipient, text))
  const matchingOrders = withWholeName.length === 1 ? withWholeName : orders.toReversed()
  const [onlyOrder, ...otherOrders] = matchingOrders
  if (onlyOrder === undefined) {
    const [waiting] = await findOrders(['held', 'pending', 'rejected'])
    throw new NotFoundError(`no request of this store is for "${redactArgument(text)}"`, {
      hint:
        waiting?.recipient === undefined
          ? 'List the requests with: refcheck request list'
          : `The row of ${personWithEmail(waiting.recipient)} is ${waiting.state}: refcheck batch rows ${waiting.batchId} --state ${waiting.state}`,
    })
  }
  if (otherOrders.length === 0) return requestIdOfOrder(onlyOrder)
  const names = await packageNames.get(onlyOrder)
  const timeText = listedTime(matchingOrders, ({ changedAt }) => changedAt)
  const describeOrder = (order: Submission): string => {
    const { recipient, requestId, packageId: id, reason } = order
    const personText =
      recipient === undefined ? missingPersonText(reason) : `${personName(recipient)}, ${recipient.email}`
    const status =
      requestId === undefined
        ? `perhaps ordered${order.state === 'dropped' ? ', dropped,' : ''}`
        : `${order.requestStatus ?? 'RECEIVED'}, ordered`
    return `${personText}, ${status} ${timeText(order)}, ${packageWithName({ id, name: names.get(id) })}`
  }
  if (prompter === undefined) {
    const candidates = matchingOrders.map((order) => {
      const { requestId } = order
      const command = requestId === undefined ? decisionCommand(order) : commandFor(requestId)
      return { description: describeOrder(order), command }
    })
    throw new UsageError(...ambiguousPerson(text, candidates))
  }
  const chosenOrder = await prompter.select({
    message: `Which order for "${redactArgument(text)}"?`,
    isSearchable: true,
    choices: matchingOrders.map((order) => ({
      value: order,
      label: describeOrder(order),
      detail: order.requestId,
    })),
  })
  return requestIdOfOrder(chosenOrder)
}

/** Returns the id of the request of an order. Throws NotFoundError if its outcome is unknown. */
function requestIdOfOrder(order: Submission): string {
  const { requestId, recipient, reason, state, attemptedAt } = order
  if (requestId !== undefined) return requestId
  const personText = recipient === undefined ? missingPersonText(reason) : personWithEmail(recipient)
  const sentText = attemptedAt === undefined ? '' : `, sent ${localTime(attemptedAt)}`
  throw state === 'dropped'
    ? new NotFoundError(
        `${personText} is perhaps ordered: package ${order.packageId}${sentText}, the outcome is unknown and the order was dropped`,
        { hint: `It is never sent again. To decide again: ${decisionCommand(order)}` },
      )
    : new NotFoundError(`${personText} is perhaps ordered: the outcome is unknown`, {
        hint: `Find out with: ${decisionCommand(order)}`,
      })
}

const wordsOf = (name: string): string[] =>
  name
    .split(/[\s-]+/)
    .map(foldedName)
    .filter((word) => word !== '')

function hasNameOrEmail({ first_name: first, last_name: last, email }: Recipient, text: string): boolean {
  if (text.includes('@')) return email.toLowerCase() === text.trim().toLowerCase()
  const words = new Set(wordsOf(`${first} ${last}`))
  const wantedWords = wordsOf(text)
  return wantedWords.length > 0 && wantedWords.every((word) => words.has(word))
}

const isWholeName = ({ first_name: first, last_name: last }: Recipient, text: string): boolean =>
  wordsOf(`${first} ${last}`).join(' ') === wordsOf(text).join(' ')

/** Returns the rows with the request of this id at this service. Another service may use the same id. */
export async function findRowsOfRequest(
  { api, ledger }: { api: Pick<Api, 'baseUrl'>; ledger: Pick<Ledger, 'list'> },
  requestId: string,
): Promise<Submission[]> {
  const service = serviceOf(api.baseUrl)
  return (await ledger.list({ requestId })).filter(({ baseUrl }) => serviceOf(baseUrl) === service)
}

interface UnreadServices extends Pick<Services, 'unmatched'> {
  api: Pick<Api, 'baseUrl' | 'userEmail'>
  governor: Pick<Services['governor'], 'account'>
  ledger: Pick<Ledger, 'list'>
}

/** Returns the service and reader of requests that no row ordered. */
export function readerOf({ api, governor }: Pick<UnreadServices, 'api' | 'governor'>) {
  const { baseUrl, userEmail } = api
  return { service: serviceOf(baseUrl), reader: `${governor.account} ${userEmail.toLowerCase()}` }
}

/** Returns those of the ids whose requests no row has and that have no final read. */
export async function findUnread(services: UnreadServices, ids: Iterable<string>): Promise<string[]> {
  const unreadIds: string[] = []
  for (const id of await services.unmatched.selectUnread(ids, readerOf(services)))
    if ((await findRowsOfRequest(services, id)).length === 0) unreadIds.push(id)
  return unreadIds
}

/**
 * Returns the newest other request of the service for the person and package of each of these requests that ended
 * without a result, by the id of that request. Left out are orders that ended without a result too.
 */
export async function findOrderedAgain(
  ledger: Pick<Ledger, 'list'>,
  baseUrl: string,
  results: readonly RequestResult[],
): Promise<ReadonlyMap<string, Submission>> {
  const orderedAgain = new Map<string, Submission>()
  for (const result of results) {
    if (isUnread(result) || !isEndedWithoutResult(result.request.status)) continue
    const { request_id: requestId, package_id: packageId, recipient } = result.request
    const orders = await ledger.list({ email: recipient.email, states: ['accepted'] })
    const other = findOtherOrder(orders, { baseUrl, packageId, requestId })
    if (other !== undefined) orderedAgain.set(requestId, other)
  }
  return orderedAgain
}
