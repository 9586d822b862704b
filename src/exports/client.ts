import { emitWarning } from 'node:process'

import { type Api, connectApi } from '../api/api.ts'
import { maskUrl } from '../contract/url.ts'
import { parseBaseUrl, checkApiKey } from '../domain/session/session.ts'
import { outcomeOf } from '../domain/submission/outcome.ts'
import { OutcomeUnknownError, UsageError } from '../errors/kinds.ts'
import { systemClock } from '../host/clock.ts'
import { processEnvironment } from '../host/process.ts'
import { systemRandom } from '../host/random.ts'
import { HttpClient } from '../http/client.ts'
import { PdfStream } from '../usecases/report/one-report.ts'
import {
  checkMilliseconds,
  checkText,
  invalidOption,
  runLibraryCall,
  toLibraryError,
  checkOrderBody,
  registerClient,
} from './internal/boundary.ts'
import type { CheckRequest, CreatedRequest, NewRequest, Package, PackageSchema, User } from './types.ts'

export type { ErrorCode } from '../errors/kinds.ts'
export { RefcheckError } from '../errors/kinds.ts'
export {
  ForbiddenError,
  InternalError,
  InterruptedError,
  InvalidInputError,
  NotFoundError,
  OutcomeUnknownError,
  ThrottledError,
  UnauthenticatedError,
  UnavailableError,
  UsageError,
} from '../errors/kinds.ts'
export type * from './types.ts'

export interface ClientOptions {
  /** URL of the API: https, or http to this machine only. */
  baseUrl: string
  /** API key of 32 characters. */
  apiKey: string
  /** E-mail address of an active user of the organisation. */
  userEmail: string
  /**
   * Maximum number of milliseconds that retries and 429 waits of one read may take together; default two minutes,
   * Infinity for no limit.
   */
  timeoutMs?: number | undefined
  /** Called before a read is repeated, and before the wait after a 429. */
  onRetry?: ((retry: { reason: string; seconds: number }) => void) | undefined
  /**
   * Sends every call: an Agent, ProxyAgent or MockAgent of undici 6 or newer. By default the client uses connections
   * of its own, through the proxy of the environment. The dispatcher must not repeat calls by itself, as RetryAgent
   * does: an order might be made twice. The client does not close it.
   */
  dispatcher?: RequestDispatcher | undefined
  /**
   * Called before each exchange, also before a retry. The key and the token of a signed URL are not in its argument.
   */
  onRequest?: ((request: ClientExchange) => void) | undefined
  /** Called when an exchange has ended or failed. The key and the token of a signed URL are not in its argument. */
  onResponse?: ((response: ClientResponse) => void) | undefined
}

/** The part of undici's Dispatcher that the client uses. */
export interface RequestDispatcher {
  request(options: never): unknown
}

export interface ClientExchange {
  method: string
  /** The URL; tokens in it are masked. */
  url: string
}

export interface ClientResponse extends ClientExchange {
  /** Status of the response; undefined if there was none. */
  status: number | undefined
  /** Why there was no complete response; undefined if there was one. */
  failure: string | undefined
  milliseconds: number
}

export interface CallOptions {
  /** Ends the call with an InterruptedError, whose `cause` is the reason of the signal. */
  signal?: AbortSignal | undefined
}

export interface CreateOptions extends CallOptions {
  /**
   * Maximum number of milliseconds to wait after 429s of this order; after each wait it is sent again, since a 429 means
   * that the service did not accept it. Default 0: a ThrottledError with `retryAfter`.
   */
  waitMs?: number | undefined
}

/**
 * The API, with one method for each operation. Methods return checked data without the envelope. Reads are tried up to
 * four times, and repeated after the wait that a 429 states.
 *
 * Every method rejects with a RefcheckError, and nothing else:
 * - InvalidInputError (`invalid_input`): an argument is invalid (nothing was sent), or the service answered 400; see `field`,
 * - UnauthenticatedError (`unauthenticated`): 401; ForbiddenError (`forbidden`): 403; NotFoundError (`not_found`): 404,
 * - ThrottledError (`throttled`): 429, and the time to wait exceeds the limit; see `retryAfter`, in seconds,
 * - UnavailableError (`unavailable`): unreachable, a 5xx or a malformed answer; nothing was created,
 * - OutcomeUnknownError (`outcome_unknown`), only createRequest: the request may have been created,
 * - InterruptedError (`interrupted`): the signal was aborted,
 * - UsageError (`usage`): the client is closed, or a variable of the environment names no proxy,
 * - InternalError (`internal`): a fault of this library.
 */
export interface Client {
  readonly baseUrl: string
  ping(options?: CallOptions): Promise<{ status: string; latency_ms: number }>
  listPackages(
    filter?: { status?: 'active' | 'inactive' | 'disabled'; id?: number },
    options?: CallOptions,
  ): Promise<Package[]>
  packageSchema(packageId: number, options?: CallOptions): Promise<PackageSchema>
  /**
   * Creates a request without a journal: nothing is recorded, people are not compared with earlier orders, and after
   * a crash nothing shows whether the order was made. To order exactly once, use refcheck/journal or the command
   * line. The order is sent once, and never again after a response that is not a refusal. An OutcomeUnknownError,
   * also after an abort in flight, means that the service may have accepted the order: do not send it again before
   * the provider or a webhook event has shown that it was not accepted.
   */
  createRequest(body: NewRequest, options?: CreateOptions): Promise<CreatedRequest>
  getRequest(requestId: string, options?: CallOptions): Promise<CheckRequest>
  listUsers(options?: CallOptions): Promise<User[]>
  /**
   * Streams a report's PDF and checks that it is complete. The report is named by the ids of a check and referee, or
   * by a signed URL.
   */
  report(
    which: { checkId: string; refereeId?: string | undefined } | { url: string },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>
  /** Closes every connection of the client. */
  close(): Promise<void>
}

const defaultTimeoutMs = 120_000
const packageFilters: ReadonlySet<unknown> = new Set([undefined, 'active', 'inactive', 'disabled'])

/**
 * Creates a client for one organisation and user. Throws an InvalidInputError for invalid options; its `field` names
 * the option.
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, credentials, timeoutMs, onRetry } = checkOptions(options)
  const http = new HttpClient({
    clock: systemClock,
    env: processEnvironment(),
    userAgent: 'refcheck-client',
    dispatcher: options.dispatcher,
    onStart: ({ method, url }) => observe(options.onRequest, { method, url: maskUrl(url) }),
    onExchange: ({ method, url, status, failure, milliseconds }) =>
      observe(options.onResponse, { method, url: maskUrl(url), status, failure, milliseconds }),
  })
  const api = connectApi({
    http,
    clock: systemClock,
    random: systemRandom,
    baseUrl,
    credentials,
    budgetMs: timeoutMs,
    onRetry: (retry) => {
      const reason = retry.kind === 'throttled' ? quotaUsedUp : retry.reason
      observe(onRetry, { reason, seconds: retry.seconds })
    },
  })
  let isClosed = false
  async function call<T>(signal: AbortSignal | undefined, operation: () => Promise<T>): Promise<T> {
    return runLibraryCall(signal, () => {
      if (isClosed)
        throw new UsageError('the client is closed', { hint: 'Make another one with createClient.' })
      return operation()
    })
  }
  const client: Client = {
    baseUrl,
    ping: async ({ signal } = {}) => call(signal, () => api.ping(signal)),
    listPackages: async (filter = {}, { signal } = {}) =>
      call(signal, async () => {
        if (!packageFilters.has(filter.status))
          throw invalidOption('status', 'must be one of: active, inactive, disabled')
        return api.listPackages(
          filter.id === undefined ? filter : { ...filter, id: checkId(filter.id, 'id') },
          signal,
        )
      }),
    packageSchema: async (packageId, { signal } = {}) =>
      call(signal, () => api.packageSchema(checkId(packageId, 'packageId'), signal)),
    createRequest: async (body, { signal, waitMs = 0 } = {}) =>
      call(signal, () => {
        checkMilliseconds(waitMs, 'waitMs')
        return sendOrder(api, body, { signal, waitMs, onRetry })
      }),
    getRequest: async (requestId, { signal } = {}) =>
      call(signal, () => api.getRequest(checkText(requestId, 'requestId'), signal)),
    listUsers: async ({ signal } = {}) => call(signal, () => api.listUsers(signal)),
    async *report(which, { signal } = {}) {
      const stream = await call(signal, async () => {
        if ('url' in which) return api.openSignedReport(checkText(which.url, 'url'), signal)
        checkText(which.checkId, 'checkId')
        return api.openReport(which, signal)
      })
      try {
        yield* new PdfStream(stream)
      } catch (error) {
        throw toLibraryError(error, signal)
      }
    },
    async close() {
      isClosed = true
      await http.close()
    },
  }
  return registerClient(client, { api, apiKey: credentials.apiKey })
}

const quotaUsedUp = 'the quota is used up'

/** Calls a callback that only observes: an error that it throws becomes a warning of the process. */
function observe<T>(callback: ((value: T) => void) | undefined, value: T): void {
  try {
    callback?.(value)
  } catch (error) {
    emitWarning(error instanceof Error ? error : String(error))
  }
}

function checkOptions(options: ClientOptions) {
  if (Object(options) !== options) throw invalidOption('options', 'must be an object')
  const { timeoutMs = defaultTimeoutMs, onRetry, dispatcher } = options
  const baseUrl = parseBaseUrl(checkText(options.baseUrl, 'baseUrl'), 'baseUrl')
  const apiKey = checkApiKey(checkText(options.apiKey, 'apiKey'), 'apiKey')
  const userEmail = checkText(options.userEmail, 'userEmail')
  if (!/^[!-?A-~]+@[!-?A-~]+$/.test(userEmail)) throw invalidOption('userEmail', 'must be an e-mail address')
  checkMilliseconds(timeoutMs, 'timeoutMs')
  for (const name of ['onRetry', 'onRequest', 'onResponse'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function')
      throw invalidOption(name, 'must be a function')
  }
  if (dispatcher !== undefined && typeof (dispatcher as { request?: unknown } | null)?.request !== 'function')
    throw invalidOption('dispatcher', 'must be a dispatcher of undici, with the method "request"')
  return { baseUrl, credentials: { apiKey, userEmail }, timeoutMs, onRetry }
}

function checkId(value: unknown, name: string): number {
  if (Number.isSafeInteger(value)) return value as number
  throw invalidOption(name, 'must be a whole number')
}

/** Sends an order. Only after a 429, which means that the service refused it, is it sent again. */
async function sendOrder(
  api: Api,
  order: NewRequest,
  { signal, waitMs, onRetry }: CallOptions & { waitMs: number } & Pick<ClientOptions, 'onRetry'>,
): Promise<CreatedRequest> {
  const body = new TextEncoder().encode(JSON.stringify(checkOrderBody(order)))
  const deadline = systemClock.monotonic() + waitMs
  for (;;) {
    signal?.throwIfAborted()
    const outcome = outcomeOf(await api.createRequest(body, signal))
    switch (outcome.kind) {
      case 'accepted':
        return { request_id: outcome.requestId, status: outcome.requestStatus }
      case 'unknown': {
        const offered =
          outcome.offeredId === undefined ? '' : ` The answer named request ${outcome.offeredId}.`
        throw new OutcomeUnknownError(`the order may have been accepted: ${outcome.reason}`, {
          status: outcome.answerStatus,
          hint: `Do not send it again before it is known whether it was.${offered}`,
          cause: outcome.error,
        })
      }
      case 'unsent':
        signal?.throwIfAborted()
        throw outcome.error
      case 'throttled': {
        const { seconds } = outcome
        if (seconds * 1000 > deadline - systemClock.monotonic()) throw outcome.error
        observe(onRetry, { reason: quotaUsedUp, seconds })
        await systemClock.sleep(seconds * 1000, signal)
        break
      }
      case 'rejected':
      case 'halted':
        throw outcome.error
    }
  }
}
