import { z } from 'zod'

import { type Envelope, ping } from '../contract/envelope.ts'
import { apiKeyHeader, userEmailHeader } from '../contract/headers.ts'
import { type PackageSchema, packageSchema } from '../contract/package-schema.ts'
import { type Package, packageList } from '../contract/package.ts'
import { parseJsonOrUndefined, utf8Text } from '../contract/parse-json.ts'
import { type RequestResource, requestResource } from '../contract/request.ts'
import { type User, userList } from '../contract/user.ts'
import type { CreateAnswer } from '../domain/submission/outcome.ts'
import { redactArgument } from '../domain/wording/redact-argument.ts'
import { shellWord } from '../domain/wording/pasted-command.ts'
import { RefcheckError, InternalError, InvalidInputError, UnavailableError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import type { Random } from '../host/random.ts'
import { decodeUriOrUndefined, Secrets } from '../host/secrets.ts'
import { collect, type HttpClient } from '../http/client.ts'
import { TransportError } from '../http/failure.ts'
import { type RetryEvent, type RetryPolicy, withRetries } from '../http/retry.ts'
import { type HttpHeaders, type HttpResponse, type HttpStream, reportLimits } from '../http/types.ts'
import {
  failure,
  header,
  isTooLarge,
  parseData,
  parseEnvelope,
  readRetryAfter,
  requireAbout,
  type StatusHints,
  tooLarge,
} from './answer.ts'

export interface PackageFilter {
  status?: 'active' | 'inactive' | 'disabled' | undefined
  id?: number | undefined
}

/** Which PDF: a background check's, or one referee's. */
export interface ReportAddress {
  checkId: string
  refereeId?: string | undefined
}

/** An answer as it came, but for secrets. */
export interface AnyAnswer {
  status: number
  headers: HttpHeaders
  /** The envelope and all. */
  body: unknown
  /** Set where the status is not 200. */
  failure: RefcheckError | undefined
}

export interface ApiClientOptions {
  http: HttpClient
  clock: Clock
  random: Random
  /** No trailing slash. */
  baseUrl: string
  /** Undefined only for ping, which needs none. */
  credentials: { apiKey: string; userEmail: string } | undefined
  /** What no answer may bring into the program, besides the key. */
  secrets?: Secrets | undefined
  /** Milliseconds that retries and 429 waits of one call may take together. */
  budgetMs: number
  onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called with packages that were listed, before they are answered. */
  onPackages?: ((packages: readonly Package[]) => Promise<void>) | undefined
  onThrottled?: ((seconds: number, understood: boolean) => void) | undefined
}

// To compile a parser for every shape takes longer than to check the few answers that a run reads.
z.config({ jitless: true })

/** The real service at a base URL. */
export function connectApi(options: ApiClientOptions) {
  const client = new ApiClient(options)
  return {
    /** No trailing slash. */
    baseUrl: options.baseUrl,

    /** The user the calls are attributed to. */
    userEmail: options.credentials?.userEmail ?? '',

    /**
     * By how many milliseconds the service's clock is ahead of this one, by the Date header of its last answer, to
     * the second; undefined before one.
     */
    clockDifferenceMs: (): number | undefined => client.clockDifferenceMs,

    /** GET /v1/ping. Needs no authentication; latency in whole milliseconds, of the exchange that was answered. */
    async ping(signal?: AbortSignal): Promise<{ status: string; latency_ms: number }> {
      const { data, milliseconds } = await client.get('/v1/ping', ping, {
        authenticate: false,
        signal,
      })
      return { status: data.status, latency_ms: Math.round(milliseconds) }
    },

    /** GET /v1/packages. */
    async listPackages({ status, id: asked }: PackageFilter = {}, signal?: AbortSignal): Promise<Package[]> {
      const query = new URLSearchParams()
      if (status !== undefined) query.set('status', status)
      if (asked !== undefined) query.set('id', String(asked))
      const path = query.size === 0 ? '/v1/packages' : `/v1/packages?${query.toString()}`
      const {
        data: { packages },
      } = await client.get(path, packageList, { signal })
      if (asked !== undefined) for (const { id } of packages) requireAbout('package', asked, id)
      await options.onPackages?.(packages)
      return packages
    },

    /** GET /v1/packages/{id}/schema. */
    async packageSchema(packageId: number, signal?: AbortSignal): Promise<PackageSchema> {
      const { data: schema } = await client.get(apiPath`/v1/packages/${packageId}/schema`, packageSchema, {
        hints: {
          404: 'List the packages that this user may see with: refcheck packages list',
          subject: `package ${packageId}`,
        },
        signal,
      })
      requireAbout('package', packageId, schema.id)
      return schema
    },

    /** POST /v1/requests: `body` is sent as it is, once; never throws for what the wire did. */
    async createRequest(body: Uint8Array, signal?: AbortSignal): Promise<CreateAnswer> {
      let response: HttpResponse
      try {
        response = await client.postOnce('/v1/requests', body, signal)
      } catch (error) {
        return unanswered(error)
      }
      const envelope = client.envelopeOf(response)
      const success = response.status >= 200 && response.status < 300
      return {
        kind: 'answered',
        status: response.status,
        envelope,
        retryAfter: header(response.headers, 'retry-after'),
        error: success ? undefined : client.failed(response, envelope, createHints),
      }
    },

    /** GET /v1/requests/{request_id}; the id comes out in lowercase, as every id here is compared. */
    async getRequest(requestId: string, signal?: AbortSignal): Promise<RequestResource> {
      const { data: request } = await client.get(apiPath`/v1/requests/${requestId}`, requestResource, {
        hints: { subject: `request ${requestId}` },
        signal,
      })
      requireAbout('request', requestId, request.request_id)
      return { ...request, request_id: request.request_id.toLowerCase() }
    },

    /** GET /v1/users. */
    async listUsers(signal?: AbortSignal): Promise<User[]> {
      return (await client.get('/v1/users', userList, { signal })).data.users
    },

    /** GET of any path below /v1/ with its query, as it is. A body that is not the envelope throws, and so does a path elsewhere. */
    async getAny(path: string, signal?: AbortSignal): Promise<AnyAnswer> {
      const response = await client.getResponse(pathBelow(options, path), signal)
      const envelope = client.envelopeOf(response)
      const failed = response.status === 200 ? undefined : client.failed(response, envelope, anyHints)
      if (envelope === undefined) {
        throw (
          failed ??
          new UnavailableError('the answer has no envelope {data, status_message, message}', {
            status: response.status,
            hint: 'A report is a PDF: refcheck report download CHECK_ID. For the rest check the base URL: something other than the service may have answered.',
          })
        )
      }
      return { status: response.status, headers: response.headers, body: envelope, failure: failed }
    },

    /** GET /v1/reports/{check_id} and /v1/reports/{check_id}/referees/{referee_id}, with the authentication headers; counts against the quota. */
    async openReport({ checkId, refereeId }: ReportAddress, signal?: AbortSignal): Promise<HttpStream> {
      const path =
        refereeId === undefined
          ? apiPath`/v1/reports/${checkId}`
          : apiPath`/v1/reports/${checkId}/referees/${refereeId}`
      const referee = refereeId === undefined ? '' : `, referee ${refereeId}`
      const hints = { ...reportHints, subject: `the report of check ${checkId}${referee}` }
      return client.open({ url: options.baseUrl + path, hints, signal }, client.authentication())
    },

    /**
     * The same by a signed URL of this service; "replaces the authentication headers", so none are sent. Any other origin or
     * path is refused before a connection.
     */
    async openSignedReport(text: string, signal?: AbortSignal): Promise<HttpStream> {
      const url = signedReportUrl(text, options.baseUrl)
      const hints = { ...signedHints, 401: `A signed URL is valid for one hour. ${byIds(url)}` }
      return client.open({ url: url.href, hints, signal }, {})
    },
  }
}

/**
 * The service, an operation a method, the envelope taken off. Every method throws a RefcheckError (api/answer) for
 * anything but the documented success, except `createRequest`, which returns what happened.
 */
export type Api = ReturnType<typeof connectApi>

const createHints = {
  404: 'List the packages that can be ordered with: refcheck packages list --status active',
}

/** Not every path holds an id. */
const anyHints = {
  404: "Check the path and the ids in it. List the paths of the API with: refcheck sandbox openapi --jq '.paths | keys[]'",
}

const reportHints = {
  404: 'Check the ids and whether the report is ready with "refcheck request get" and the id of its request.',
}

/** "An invalid or expired token gives 401". Reading the request again would give a fresh URL, which is not printed. */
const signedHints = {
  ...reportHints,
  refused: 'the report URL was refused: its token is invalid or has expired',
}

/** http knows exactly what was sent; our own errors come before that, and anything else counts as sent. */
function unanswered(error: unknown): CreateAnswer {
  if (error instanceof TransportError) return { kind: error.sent ? 'lost' : 'unsent', error }
  if (error instanceof RefcheckError) return { kind: 'unsent', error }
  return { kind: 'lost', error: new InternalError('the connection broke during the order', { cause: error }) }
}

/** The same report without the URL. */
function byIds({ pathname }: URL): string {
  const [, check = '', referee] = /\/v1\/reports\/([^/]+)(?:\/referees\/([^/]+))?$/.exec(pathname) ?? []
  const which =
    referee === undefined ? '' : ` --referee ${shellWord(decodeUriOrUndefined(referee) ?? referee)}`
  return `Download the report by its ids: refcheck report download ${shellWord(check)}${which}`
}

/** The key is sent nowhere but below /v1/ of the base URL, never in it, and never together with a signed token. */
function pathBelow(
  { baseUrl, credentials }: Pick<ApiClientOptions, 'baseUrl' | 'credentials'>,
  path: string,
): string {
  const url = URL.parse(baseUrl + path)
  const below = `${URL.parse(baseUrl)?.pathname.replace(/(?<!\/)\/+$/, '') ?? ''}/v1/`
  const isBelow =
    url !== null &&
    path.startsWith('/v1/') &&
    url.origin === new URL(baseUrl).origin &&
    url.pathname.startsWith(below) &&
    url.hash === ''
  if (!isBelow) {
    throw new InvalidInputError('PATH is not a path below /v1/', {
      hint: 'For example: refcheck api GET /v1/users',
    })
  }
  if (credentials !== undefined && (decodeUriOrUndefined(path) ?? path).includes(credentials.apiKey)) {
    throw new InvalidInputError('PATH: the API key is refused in a URL', {
      hint: 'Leave it out: it is sent as a header.',
    })
  }
  if (url.searchParams.has('t')) {
    throw new InvalidInputError('PATH: a signed token is refused on the command line', {
      hint: 'Give the whole URL on stdin: refcheck report download --url -',
    })
  }
  return url.pathname.slice(below.length - '/v1/'.length) + url.search
}

/**
 * A path with its ids encoded, as a template: apiPath`/v1/requests/${id}`. An id that a URL would read
 * as a step through its folders is refused, so that no id can lead to another resource.
 */
function apiPath(texts: TemplateStringsArray, ...ids: (string | number)[]): string {
  return texts.reduce((path, text, index) => path + segment(String(ids[index - 1] ?? '')) + text)
}

function segment(id: string): string {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) {
    throw new InvalidInputError(`"${redactArgument(id)}" is not an id`, {
      hint: 'Copy the id as the service shows it.',
    })
  }
  return encodeURIComponent(id)
}

const longest = 4096
/** Below the base URL. Of encoded characters, controls and those that a server might read as a path (% . / \\) do not pass. */
const reportPath = /^\/v1\/reports\/[\w.~-]+(?:\/referees\/(?:[\w.~:-]|%(?!2[5ef]|5c|[01]))+)?$/i

/**
 * A signed URL is called only if it is exactly this service's: origin of the base URL, a report's
 * path under it, one `t` and nothing else, and nothing that URL() would have to repair: what is called
 * is what was read. No message shows the token.
 */
export function signedReportUrl(text: string, baseUrl: string): URL {
  const base = new URL(baseUrl)
  if (text.length > longest) throw refuse(`it is longer than ${longest} characters`)
  if (!URL.canParse(text)) throw refuse('it is not a URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw refuse('it has a user name in it')
  if (url.origin !== base.origin) {
    throw refuse(`it points to ${url.protocol}//${url.host}, not to ${base.origin}`)
  }
  if (url.href !== text) throw refuse('it differs from the URLs that the service makes')
  const prefix = base.pathname.replace(/\/$/, '')
  if (!url.pathname.startsWith(prefix) || !reportPath.test(url.pathname.slice(prefix.length))) {
    throw refuse('its path is not that of a report')
  }
  if (!/^\?t=[^&;]+$/.test(url.search) || text.includes('#')) {
    throw refuse('it does not have exactly one token "t"')
  }
  return url
}

function refuse(why: string): InvalidInputError {
  return new InvalidInputError(`refused the report URL: ${why}`, {
    field: 'url',
    hint: 'Download the report by the id of its check: refcheck report download CHECK_ID',
  })
}

interface GetOptions {
  authenticate?: boolean
  hints?: StatusHints
  signal?: AbortSignal | undefined
}

interface Download {
  url: string
  hints: StatusHints
  signal: AbortSignal | undefined
}

interface ReceivedData<T> {
  data: T
  /** How long the exchange took that brought it; waits and earlier tries do not count. */
  milliseconds: number
}

/** Bytes of an error answer that are read at most, where a file was expected. */
const largestFailure = 1024 * 1024

/** Authentication and envelope on top of http. The key goes to the base URL's origin and nowhere else. */
class ApiClient {
  readonly #options: ApiClientOptions
  readonly #secrets: Secrets
  clockDifferenceMs: number | undefined

  constructor(options: ApiClientOptions) {
    this.#options = options
    this.#secrets = new Secrets(options.secrets)
    this.#secrets.add('API key', options.credentials?.apiKey)
  }

  /** GET a JSON resource: retried, its envelope taken off, `data` checked against `shape`. */
  async get<T extends z.ZodType>(
    path: string,
    shape: T,
    { authenticate = true, hints, signal }: GetOptions = {},
  ): Promise<ReceivedData<z.output<T>>> {
    const response = await this.getResponse(path, signal, authenticate)
    const wrapped = this.envelopeOf(response)
    if (response.status !== 200) throw this.failed(response, wrapped, hints)
    if (wrapped === undefined) {
      throw new UnavailableError(
        'the answer does not come from the service: it has no envelope {data, status_message, message}',
        {
          status: 200,
          hint: 'Check the base URL: something other than the service may have answered.',
        },
      )
    }
    return { data: parseData(shape, wrapped.data), milliseconds: response.milliseconds }
  }

  /** GET, retried, whatever its status. */
  async getResponse(
    path: string,
    signal: AbortSignal | undefined,
    authenticate = true,
  ): Promise<HttpResponse> {
    const headers = { accept: 'application/json', ...(authenticate && this.authentication()) }
    const response = await withRetries(
      () => this.#options.http.send({ method: 'GET', url: this.#options.baseUrl + path, headers, signal }),
      this.#retryPolicy(signal),
    )
    if (response.status === 200 && isTooLarge(response)) throw tooLarge(response.status)
    return this.#received(response)
  }

  /** One POST of JSON, sent once. */
  async postOnce(path: string, body: Uint8Array, signal: AbortSignal | undefined): Promise<HttpResponse> {
    const response = await this.#options.http.sendOnce({
      method: 'POST',
      url: this.#options.baseUrl + path,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...this.authentication() },
      body,
      signal,
    })
    return this.#received(response)
  }

  /**
   * The envelope of an answer, or undefined where the body is anything else, or too large. A service, or a proxy, may send back what it
   * was sent in confidence, and its texts go into the store, results files and logs. `url`: signed, that was called.
   */
  envelopeOf({ body }: { body: Uint8Array }, url = ''): Envelope | undefined {
    if (isTooLarge({ body })) return undefined
    const secrets = new Secrets(this.#secrets)
    secrets.addTokenOf(url)
    const text = utf8Text(body) ?? ''
    const answer = parseJsonOrUndefined(text)
    const isCut = cutMessage(answer)
    // Few answers hold any, and a walk over 16 MiB takes longer than to look for them.
    const envelope = parseEnvelope(isCut || secrets.mayBeIn(text) ? secrets.redactAnswer(answer) : answer)
    // A secret that the cut has split is only in the part that is left out here.
    if (isCut && envelope !== undefined) envelope.message = envelope.message.slice(0, -cutOverlap)
    return envelope
  }

  /** The typed error of an answer that is not the documented success. */
  failed(
    response: { status: number; headers: HttpHeaders },
    wrapped: Envelope | undefined,
    hints: StatusHints = {},
  ): RefcheckError {
    const { status } = response
    const seconds = status === 429 ? readRetryAfter(response).seconds : undefined
    return failure({ status, envelope: wrapped, retryAfter: seconds, hints })
  }

  /**
   * GET a PDF; anything but a 200 throws. Retried before its first byte is passed on; the body of a failure is read, which
   * frees its connection.
   */
  async open({ url, hints, signal }: Download, authentication: Record<string, string>): Promise<HttpStream> {
    const answer = await withRetries(async () => {
      const stream = await this.#options.http.open({
        method: 'GET',
        url,
        headers: { accept: 'application/pdf', ...authentication },
        signal,
        limits: reportLimits,
      })
      const failed = stream.status === 200 ? undefined : await collect(stream.body, largestFailure)
      return { ...stream, failed }
    }, this.#retryPolicy(signal))
    if (answer.failed !== undefined) {
      throw this.failed(answer, this.envelopeOf({ body: answer.failed }, url), hints)
    }
    const { status, body } = answer
    const secrets = new Secrets(this.#secrets)
    secrets.addTokenOf(url)
    const headers = secrets.redactAnswer(answer.headers) as HttpHeaders
    await refuseOther({ status, headers, body })
    return { status, headers, body }
  }

  #retryPolicy(signal: AbortSignal | undefined): RetryPolicy {
    const { clock, random, budgetMs, onRetry, onThrottled } = this.#options
    return { clock, random, budgetMs, onRetry, onThrottled, signal, retryAfter: readRetryAfter }
  }

  /** The clock's difference is noted, and the headers are redacted; the body is, once it is parsed. */
  #received(response: HttpResponse): HttpResponse {
    const date = Date.parse(header(response.headers, 'date') ?? '')
    if (Number.isFinite(date)) this.clockDifferenceMs = date - this.#options.clock.now()
    return { ...response, headers: this.#secrets.redactAnswer(response.headers) as HttpHeaders }
  }

  authentication(): Record<string, string> {
    const { credentials } = this.#options
    if (credentials === undefined) throw new InternalError('a call that needs a key was made without one')
    return {
      [apiKeyHeader]: sendable(credentials.apiKey, 'the API key'),
      [userEmailHeader]: sendable(credentials.userEmail, 'the user e-mail'),
    }
  }
}

/** A header carries visible ASCII alone (RFC 9110, 5.5); the value may be a secret and is not shown. */
function sendable(value: string, what: string): string {
  if (/^[\u0021-\u007E]+$/.test(value)) return value
  throw new InvalidInputError(`${what} is empty or holds characters that cannot be sent`, {
    hint: 'Correct REFCHECK_API_KEY and REFCHECK_USER_EMAIL, or log in again with: refcheck auth login',
  })
}

/** "Content-Type application/pdf": a login page with a 200 is not a report. */
async function refuseOther(stream: HttpStream): Promise<void> {
  const type = /^\s*([\w.+-]+\/[\w.+-]+)/.exec(header(stream.headers, 'content-type') ?? '')?.[1]
  if (type?.toLowerCase() === 'application/pdf') return
  await collect(stream.body, 0)
  throw new UnavailableError(`the answer is not a PDF but ${type ?? 'without a type'}`, {
    status: 200,
    hint: 'Check the base URL: something other than the service may have answered.',
  })
}

/** Far more than a person reads of a message. Secrets are looked for in every encoding of it, which takes long. */
const maxMessage = 100_000
/** Longer than any secret, however it is encoded. */
const cutOverlap = 50_000

/** Whether the message of an answer was too long; then it is cut in place, to more than is used of it. */
function cutMessage(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null || !('message' in answer)) return false
  const { message } = answer
  if (typeof message !== 'string' || message.length <= maxMessage + cutOverlap) return false
  answer.message = message.slice(0, maxMessage + cutOverlap)
  return true
}
