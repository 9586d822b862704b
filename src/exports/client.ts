import { connectApi } from '../api/service.ts'
import { parseBaseUrl, checkApiKey } from '../domain/session/session.ts'
import { outcomeOf } from '../domain/submission/outcome.ts'
import { OutcomeUnknownError } from '../errors/kinds.ts'
import { systemClock } from '../host/clock.ts'
import { processEnvironment } from '../host/env.ts'
import { systemRandom } from '../host/random.ts'
import { HttpClient } from '../http/client.ts'
import { PdfStream } from '../usecases/report/pdf-stream.ts'
import type { CheckRequest, CreatedRequest, NewRequest, Package, PackageSchema, User } from './types.ts'

export type { ErrorCode } from '../errors/base.ts'
export { RefcheckError } from '../errors/base.ts'
export {
  ForbiddenError,
  InvalidInputError,
  NotFoundError,
  OutcomeUnknownError,
  ThrottledError,
  UnauthenticatedError,
  UnavailableError,
} from '../errors/kinds.ts'
export type * from './types.ts'

export interface ClientOptions {
  /** https; http to this machine alone. */
  baseUrl: string
  /** 32 characters. */
  apiKey: string
  /** An active user of the organisation. */
  userEmail: string
  /** Milliseconds that the retries and 429 waits of one read may take together; default two minutes. */
  timeoutMs?: number | undefined
  /** Told before a read is tried again. */
  onRetry?: ((retry: { reason: string; seconds: number }) => void) | undefined
}

export interface CallOptions {
  signal?: AbortSignal | undefined
}

/**
 * The API, an operation a method, its envelope taken off and its shapes checked. Every method throws a RefcheckError,
 * whose `code` says what to do. Reads are tried up to four times, and a 429 is waited out.
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
   * Orders, once: it is never sent again by itself. Throws OutcomeUnknownError where the order may have been accepted;
   * do not send that order again before the provider or a webhook event has told. Nothing is recorded, and nobody is
   * compared with earlier orders: the command line does that.
   */
  createRequest(body: NewRequest, options?: CallOptions): Promise<CreatedRequest>
  getRequest(requestId: string, options?: CallOptions): Promise<CheckRequest>
  listUsers(options?: CallOptions): Promise<User[]>
  /** A report's PDF as it comes, checked to be whole. By the ids of a check and referee, or by a signed URL. */
  report(
    which: { checkId: string; refereeId?: string | undefined } | { url: string },
    options?: CallOptions,
  ): AsyncIterable<Uint8Array>
  /** Closes every connection. */
  close(): Promise<void>
}

const defaultTimeoutMs = 120_000

/** A client of one organisation and user. Throws InvalidInputError or UsageError for options that cannot be. */
export function createClient(options: ClientOptions): Client {
  const { timeoutMs = defaultTimeoutMs, onRetry } = options
  const baseUrl = parseBaseUrl(options.baseUrl, 'baseUrl')
  const credentials = { apiKey: checkApiKey(options.apiKey, 'apiKey'), userEmail: options.userEmail }
  const http = new HttpClient({ clock: systemClock, env: processEnvironment(), userAgent: 'refcheck-client' })
  const api = connectApi({
    http,
    clock: systemClock,
    random: systemRandom,
    baseUrl,
    credentials,
    budgetMs: timeoutMs,
    onNotice: (retry) => {
      const reason = retry.kind === 'throttled' ? 'the quota is used up' : retry.reason
      onRetry?.({ reason, seconds: retry.seconds })
    },
  })
  return {
    baseUrl,
    ping: ({ signal } = {}) => api.ping(signal),
    listPackages: (filter, { signal } = {}) => api.listPackages(filter, signal),
    packageSchema: (packageId, { signal } = {}) => api.packageSchema(packageId, signal),
    async createRequest(body, { signal } = {}) {
      signal?.throwIfAborted()
      const bytes = new TextEncoder().encode(JSON.stringify(body))
      const outcome = outcomeOf(await api.createRequest(bytes, signal))
      if (outcome.kind === 'accepted') return { request_id: outcome.requestId, status: outcome.requestStatus }
      if (outcome.kind !== 'unknown') throw outcome.error
      const offered = outcome.offeredId === undefined ? '' : ` The answer named request ${outcome.offeredId}.`
      throw new OutcomeUnknownError(`the order may have been accepted: ${outcome.reason}`, {
        status: outcome.answerStatus,
        hint: `Do not send it again before it is known whether it was.${offered}`,
        cause: outcome.error,
      })
    },
    getRequest: (requestId, { signal } = {}) => api.getRequest(requestId, signal),
    listUsers: ({ signal } = {}) => api.listUsers(signal),
    async *report(which, { signal } = {}) {
      const stream = 'url' in which ? api.openSignedReport(which.url, signal) : api.openReport(which, signal)
      yield* new PdfStream(await stream)
    },
    close: () => http.close(),
  }
}
