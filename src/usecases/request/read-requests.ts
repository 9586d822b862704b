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
import { terminalStatuses } from '../../contract/statuses.ts'
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
import type { Submission } from '../../domain/submission/submission.ts'
import { localDay } from '../../domain/wording/time.ts'
import { personName } from '../../domain/wording/text.ts'
import type { Recipient } from '../../contract/request.ts'
import { foldedName } from '../../domain/submission/similarity.ts'
import { redactArgument } from '../../domain/wording/redact-argument.ts'
import { ambiguousPerson, ambiguousStart } from '../../domain/request/id-start.ts'

/** So many requests in a row that the service fails to answer about: then it is away, and the rest is not tried. */
const maxFailedReads = 3

/**
 * Reads requests in the order of their ids. One that cannot be read has its error in its place, and does not keep
 * the others from being read, unless the error is about all of them. Throws where that is so before any was read;
 * `failure` is the error of the highest precedence.
 */
export async function readRequests(
  api: Pick<Api, 'getRequest'>,
  requestIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ results: RequestResult[]; failure: RefcheckError | undefined }> {
  const results: RequestResult[] = []
  let halted: RefcheckError | undefined
  let failedReads = 0
  for (const requestId of requestIds) {
    if (halted !== undefined) {
      results.push({ requestId, error: halted })
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
      const isOfOne = failure instanceof NotFoundError || failure instanceof UnavailableError
      if (!isOfOne || failedReads >= maxFailedReads) halted = failure
    }
  }
  const unread = results.filter(isUnread)
  const [first] = unread
  const isNothingRead = unread.length === results.length
  if (first !== undefined && isNothingRead && (halted !== undefined || results.length === 1)) {
    throw halted ?? first.error
  }
  return { results, failure: mostSevere(unread.map(({ error }) => error)) }
}

/**
 * What this store knows it created, oldest first, with what may have been created. Orders whose process
 * died on the way are found by it, and become `unknown`.
 */
export async function listRequests(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  filter: RequestFilter,
): Promise<ListedRequest[]> {
  await ledger.recover(clock.now())
  const { status, organisation, ...others } = filter
  const submissions = await ledger.list({
    ...others,
    account: organisation?.account,
    states: statesAtService,
  })
  const wanted = status?.toUpperCase()
  const service = organisation && serviceOf(organisation.baseUrl)
  return submissions
    .filter((each) => wanted === undefined || requestStatusOf(each).toUpperCase() === wanted)
    .filter(({ baseUrl }) => service === undefined || serviceOf(baseUrl) === service)
    .map(toListedRequest)
}

interface RefreshServices
  extends Pick<Services, 'api' | 'ledger' | 'clock'>, Partial<Pick<Services, 'governor'>> {
  /** Milliseconds that waits for the quota may take together; default Infinity. */
  budgetMs?: number | undefined
  signal?: AbortSignal | undefined
  onQuotaWait?: ((seconds: number) => void) | undefined
  /** Called before each read with how many are done. */
  onProgress?: ((done: number, total: number) => void) | undefined
}

/**
 * Reads each request of this service again that is not finished, keeps its status, and lists. Requests
 * of another base URL stay as they are.
 */
export async function refreshRequests(parts: RefreshServices, filter: RequestFilter): Promise<Refreshed> {
  const failures = await readAgain(parts, await listRequests(parts, { ...filter, status: undefined }))
  return { requests: await listRequests(parts, filter), failures }
}

/** All whose status, as last read, is not final. */
export async function unfinishedRequests({
  ledger,
  clock,
}: Pick<RefreshServices, 'ledger' | 'clock'>): Promise<ListedRequest[]> {
  await ledger.recover(clock.now())
  return (await ledger.list({ states: ['accepted'], unfinished: true })).map(toListedRequest)
}

/** Reads each of them that is of this service and not finished, and keeps its status; what failed. */
export async function readAgain(
  parts: RefreshServices,
  requests: readonly ListedRequest[],
): Promise<Refreshed['failures']> {
  const { api, ledger, clock, governor, signal, onQuotaWait, onProgress } = parts
  const { budgetMs = Number.POSITIVE_INFINITY } = parts
  const deadline = clock.monotonic() + budgetMs
  const failures: Refreshed['failures'] = []
  const service = serviceOf(api.baseUrl)
  const wanted = requests.flatMap(({ request_id, status, base_url }) =>
    request_id === null || terminalStatuses.includes(status ?? '') || serviceOf(base_url) !== service
      ? []
      : [{ request_id, base_url }],
  )
  for (const [done, { request_id, base_url }] of wanted.entries()) {
    onProgress?.(done, wanted.length)
    try {
      await governor?.claim('poll', {
        signal,
        budgetMs: deadline - clock.monotonic(),
        onWait: (ms) => onQuotaWait?.(ms / 1000),
      })
      const read = await api.getRequest(request_id, signal)
      await ledger.recordStatus(base_url, request_id, read.status, clock.now(), checksText(read.checks))
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

type Events = Pick<Inbox, 'list'>

/** Why a request ended in ERROR: the API states it in its event alone. Undefined without such an event. */
export async function errorReason(
  inbox: Events,
  baseUrl: string,
  requestId: string,
): Promise<string | undefined> {
  let reason: string | undefined
  for await (const { body } of inbox.list({ baseUrl, requestId, status: 'ERROR' })) {
    // Loads zod, which lists of requests do without.
    const { errorReasonOf } = await import('../../domain/webhook/events.ts')
    reason = errorReasonOf(body) ?? reason
  }
  return reason
}

/** Requests that were read at a service, those in ERROR with the reason that the inbox has. It is opened for them alone. */
export async function withReasons(
  results: readonly RequestResult[],
  baseUrl: string,
  inbox: () => Promise<Events>,
): Promise<RequestResult[]> {
  const all: RequestResult[] = []
  for (const result of results) {
    const isOpen =
      !isUnread(result) && result.request.status === 'ERROR' && result.request['error_reason'] === undefined
    const reason = isOpen ? await errorReason(await inbox(), baseUrl, result.requestId) : undefined
    if (isUnread(result) || reason === undefined) all.push(result)
    else all.push({ ...result, request: { ...result.request, error_reason: reason } })
  }
  return all
}

/** Rows of a list whose request is in ERROR, with the reason that the inbox has; null for every other. */
export async function withListedReasons<Row extends { request_id: string | null; status: string | null }>(
  rows: readonly Row[],
  inbox: Events,
  baseUrlOf: (row: Row) => string,
): Promise<(Row & { error_reason: string | null })[]> {
  const all: (Row & { error_reason: string | null })[] = []
  for (const row of rows) {
    const isError = row.status === 'ERROR' && row.request_id !== null
    all.push({
      ...row,
      error_reason: isError
        ? ((await errorReason(inbox, baseUrlOf(row), row.request_id ?? '')) ?? null)
        : null,
    })
  }
  return all
}

/**
 * The request of this store whose id starts so; `baseUrl`: at this service alone. Throws UsageError where several do,
 * with them.
 */
export async function findRequestId(
  { ledger, inbox }: { ledger: Pick<Ledger, 'list'>; inbox: Pick<Inbox, 'unclaimed'> },
  start: string,
  baseUrl?: string,
): Promise<string> {
  const all = await ledger.list({ requestStart: start })
  const ordered =
    baseUrl === undefined ? all : all.filter((each) => serviceOf(each.baseUrl) === serviceOf(baseUrl))
  const unclaimed = (await inbox.unclaimed(baseUrl)).filter((id) => id.startsWith(start))
  const names = new Map([
    ...unclaimed.map((id) => [id, 'not ordered with this store'] as const),
    ...ordered.map(({ requestId = '', recipient: person, requestStatus: status }) => {
      const name = person === undefined ? 'removed' : personName(person)
      return [requestId, `${name}${status === undefined ? '' : `, ${status}`}`] as const
    }),
  ])
  const [only, ...others] = names.keys()
  const [elsewhere] = all
  if (only === undefined && elsewhere !== undefined) {
    throw new UsageError(`request ${start} is for ${elsewhere.baseUrl}, and this profile is for ${baseUrl}`, {
      hint: 'Choose the profile that it was ordered with: --profile NAME',
    })
  }
  if (only === undefined) {
    throw new NotFoundError(`no request of this store starts with "${start}"`, {
      hint: 'List the requests with: refcheck request list',
    })
  }
  if (others.length === 0) return only
  throw new UsageError(...ambiguousStart('request', start, [...names]))
}

/**
 * The one request of this service that is for a person: whose e-mail `text` is, or whose name has every word of it. Throws
 * UsageError where there are several, with them.
 */
export async function findRequestOfPerson(
  { ledger }: { ledger: Pick<Ledger, 'list'> },
  text: string,
  baseUrl: string,
): Promise<string> {
  const service = serviceOf(baseUrl)
  const named = (await ledger.list({ states: ['accepted', 'sending', 'unknown'] })).filter(
    (each) =>
      serviceOf(each.baseUrl) === service && each.recipient !== undefined && isCalled(each.recipient, text),
  )
  const found = named.filter(({ requestId }) => requestId !== undefined)
  const [only, ...others] = found
  const lost = named.find(({ requestId }) => requestId === undefined)
  if (only === undefined && lost === undefined) {
    throw new NotFoundError(`no request of this store is for "${redactArgument(text)}"`, {
      hint: 'List the requests with: refcheck request list',
    })
  }
  if (only !== undefined && others.length === 0 && lost === undefined) return only.requestId ?? ''
  const perhaps = lost?.recipient && {
    who: `${personName(lost.recipient)} (${lost.recipient.email})`,
    hint: `Find out with: refcheck batch reconcile ${lost.batchId}`,
  }
  if (only === undefined && perhaps !== undefined) {
    throw new NotFoundError(`${perhaps.who} is perhaps ordered: the outcome is unknown`, {
      hint: perhaps.hint,
    })
  }
  const candidates = found.toReversed().map(({ requestId = '', ...each }) => {
    const { recipient, packageId, requestStatus = 'RECEIVED', changedAt } = each
    const who = recipient === undefined ? 'removed' : `${personName(recipient)}, ${recipient.email}`
    return [requestId, [who, `package ${packageId}, ${requestStatus}, ${localDay(changedAt)}`]] as const
  })
  const [message, { hint }] = ambiguousPerson(text, candidates)
  if (perhaps === undefined) throw new UsageError(message, { hint })
  throw new UsageError(message, {
    hint: `${hint}\n${perhaps.who} is perhaps ordered as well. ${perhaps.hint}`,
  })
}

function isCalled({ first_name: first, last_name: last, email }: Recipient, text: string): boolean {
  if (text.includes('@')) return email.toLowerCase() === text.trim().toLowerCase()
  const wordsOf = (name: string): string[] =>
    name
      .split(/[\s-]+/)
      .map(foldedName)
      .filter((word) => word !== '')
  const words = new Set(wordsOf(`${first} ${last}`))
  const wanted = wordsOf(text)
  return wanted.length > 0 && wanted.every((word) => words.has(word))
}

/** The rows of this service that have a request. Another service may give out the same id. */
export async function rowsOfRequest(
  { api, ledger }: { api: Pick<Api, 'baseUrl'>; ledger: Pick<Ledger, 'list'> },
  requestId: string,
): Promise<Submission[]> {
  const service = serviceOf(api.baseUrl)
  return (await ledger.list({ requestId })).filter(({ baseUrl }) => serviceOf(baseUrl) === service)
}
