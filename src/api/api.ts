import { z } from 'zod'

import { type Envelope, ping } from '../contract/envelope.ts'
import { apiKeyHeader, userEmailHeader } from '../contract/headers.ts'
import { type PackageSchema, packageSchema } from '../contract/package-schema.ts'
import { type Package, packageList } from '../contract/package.ts'
import { parseJsonOrUndefined, utf8Text } from '../contract/parse-json.ts'
import { type RequestResource, requestResource } from '../contract/request.ts'
import { decodeUriOrUndefined } from '../contract/url.ts'
import { type User, userList } from '../contract/user.ts'
import type { CreateAnswer } from '../domain/submission/outcome.ts'
import { redactArgument } from '../domain/wording/redact-argument.ts'
import { shellWord } from '../domain/wording/pasted-command.ts'
import { RefcheckError, InternalError, InvalidInputError, UnavailableError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import type { Random } from '../host/random.ts'
import { Secrets } from '../host/secrets.ts'
import { collect, type HttpClient } from '../http/client.ts'
import { TransportError } from '../http/failure.ts'
import { type RetryEvent, type RetryPolicy, withRetries } from '../http/retry.ts'
import { type HttpHeaders, type HttpResponse, type HttpStream, reportLimits } from '../http/types.ts'
import {
  responseError,
  header,
  isTooLarge,
  parseData,
  parseEnvelope,
  readRetryAfter,
  requireAbout,
  type StatusHints,
  tooLargeError,
} from './answer.ts'

export interface PackageFilter {
  status?: 'active' | 'inactive' | 'disabled' | undefined
  id?: number | undefined
}

/** The PDF to download: that of a background check, or of one referee. */
export interface ReportAddress {
  checkId: string
  refereeId?: string | undefined
}

/** A response with its secrets redacted. */
export interface AnyAnswer {
  status: number
  headers: HttpHeaders
  /** The complete body, with the envelope. */
  body: unknown
  /** Set if the status is not 200. */
  failure: RefcheckError | undefined
}

export interface ApiClientOptions {
  http: HttpClient
  clock: Clock
  random: Random
  /** The base URL without a trailing slash. */
  baseUrl: string
  /** Undefined only for ping, which needs no key. */
  credentials: { apiKey: string; userEmail: string } | undefined
  /** Texts that are redacted in every response, in addition to the key. */
  secrets?: Secrets | undefined
  /** Maximum time in milliseconds that retries and waits on a 429 of one call may take together. */
  budgetMs: number
  onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called with packages that were listed, before they are returned. */
  onPackages?: ((packages: readonly Package[]) => Promise<void>) | undefined
  /** Called for every 429; `isStated` is false if the 429 states no wait and `seconds` is assumed. */
  onThrottled?: ((seconds: number, isStated: boolean) => void) | undefined
}

// Compiling a parser for every shape would take longer than checking the few responses of a run.
z.config({ jitless: true })

/** Returns a client for the service at a base URL. */
export function connectApi(options: ApiClientOptions) {
  const client = new ApiClient(options)
  return {
    /** The base URL without a trailing slash. */
    baseUrl: options.baseUrl,

    /** The user whom the service records as the caller. */
    userEmail: options.credentials?.userEmail ?? '',

    /**
     * Returns the milliseconds by which the service's clock is ahead of this machine's, from the Date header of the last
     * response, which has a precision of one second; undefined before the first response.
     */
    clockDifferenceMs: (): number | undefined => client.clockDifferenceMs,

    /** GET /v1/ping, without authentication. Returns the latency of the successful exchange in whole milliseconds. */
    async ping(signal?: AbortSignal): Promise<{ status: string; latency_ms: number }> {
      const { data, milliseconds } = await client.get('/v1/ping', ping, {
        authenticate: false,
        signal,
      })
      return { status: data.status, latency_ms: Math.round(milliseconds) }
    },

    /** GET /v1/packages. */
    async listPackages(
      { status, id: packageId }: PackageFilter = {},
      signal?: AbortSignal,
    ): Promise<Package[]> {
      const query = new URLSearchParams()
      if (status !== undefined) query.set('status', status)
      if (packageId !== undefined) query.set('id', String(packageId))
      const path = query.size === 0 ? '/v1/packages' : `/v1/packages?${query.toString()}`
      const {
        data: { packages },
      } = await client.get(path, packageList, { signal })
      if (packageId !== undefined) for (const { id } of packages) requireAbout('package', packageId, id)
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

    /** POST /v1/requests: sends `body` unchanged and once. Never throws for an error of the connection. */
    async createRequest(body: Uint8Array, signal?: AbortSignal): Promise<CreateAnswer> {
      let response: HttpResponse
      try {
        response = await client.postOnce('/v1/requests', body, signal)
      } catch (error) {
        return unansweredCreate(error)
      }
      const envelope = client.envelopeOf(response)
      const isSuccess = response.status >= 200 && response.status < 300
      return {
        kind: 'answered',
        status: response.status,
        envelope,
        retryAfter: header(response.headers, 'retry-after'),
        error: isSuccess ? undefined : client.responseError(response, envelope, createHints),
      }
    },

    /** GET /v1/requests/{request_id}. The id is returned in lowercase, since ids are compared in this form. */
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

    /**
     * GET of any path below /v1/ with its query. Throws if the body is not an envelope, or if the path is not below
     * /v1/.
     */
    async getAny(path: string, signal?: AbortSignal): Promise<AnyAnswer> {
      const response = await client.getResponse(requireApiPath(options, path), signal)
      const envelope = client.envelopeOf(response)
      const error = response.status === 200 ? undefined : client.responseError(response, envelope, anyHints)
      if (envelope === undefined) {
        throw (
          error ??
          new UnavailableError('the answer has no envelope {data, status_message, message}', {
            status: response.status,
            hint: 'A report is a PDF: refcheck report download CHECK_ID. For the rest check the base URL: something other than the service may have answered.',
          })
        )
      }
      return { status: response.status, headers: response.headers, body: envelope, failure: error }
    },

    /**
     * GET /v1/reports/{check_id} or /v1/reports/{check_id}/referees/{referee_id}, with the authentication headers.
     * Counts in the quota.
     */
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
     * GET of a report by a signed URL of this service. The token "replaces the authentication headers", so none are
     * sent. Throws for any other origin or path before a connection is opened.
     */
    async openSignedReport(text: string, signal?: AbortSignal): Promise<HttpStream> {
      const url = signedReportUrl(text, options.baseUrl)
      const hints = { ...signedHints, 401: `A signed URL is valid for one hour. ${downloadByIdsHint(url)}` }
      return client.open({ url: url.href, hints, signal }, {})
    },
  }
}

/**
 * The client of the service, with one method for each operation. Methods return the data without the envelope, and
 * throw a RefcheckError (api/answer) for everything but the documented success; `createRequest` returns the outcome
 * instead.
 */
export type Api = ReturnType<typeof connectApi>

const createHints = {
  404: 'List the packages that can be ordered with: refcheck packages list --status active',
}

/** Hints for `getAny`, which may be called with any path, also with one that contains no id. */
const anyHints = {
  404: "Check the path and the ids in it. List the paths of the API with: refcheck sandbox openapi --jq '.paths | keys[]'",
}

const reportHints = {
  404: 'Check the ids and whether the report is ready with "refcheck request get" and the id of its request.',
}

/**
 * Hints for a signed URL: "An invalid or expired token gives 401". No hint suggests to read the request for a new URL,
 * because signed URLs are not printed.
 */
const signedHints = {
  ...reportHints,
  refusedMessage: 'the report URL was refused: its token is invalid or has expired',
}

/**
 * Converts an error to the outcome of a create. A TransportError states whether the request was sent, other
 * RefcheckErrors occur before sending, and any other error counts as sent.
 */
function unansweredCreate(error: unknown): CreateAnswer {
  if (error instanceof TransportError) return { kind: error.sent ? 'lost' : 'unsent', error }
  if (error instanceof RefcheckError) return { kind: 'unsent', error }
  return { kind: 'lost', error: new InternalError('the connection broke during the order', { cause: error }) }
}

/** Returns the hint that names the same report by its ids instead of the URL. */
function downloadByIdsHint({ pathname }: URL): string {
  const [, check = '', referee] = /\/v1\/reports\/([^/]+)(?:\/referees\/([^/]+))?$/.exec(pathname) ?? []
  const which =
    referee === undefined ? '' : ` --referee ${shellWord(decodeUriOrUndefined(referee) ?? referee)}`
  return `Download the report by its ids: refcheck report download ${shellWord(check)}${which}`
}

/**
 * Returns the path below the base URL. Throws unless it is below /v1/: the key is not sent elsewhere, never in a URL,
 * and never together with a signed token.
 */
function requireApiPath(
  { baseUrl, credentials }: Pick<ApiClientOptions, 'baseUrl' | 'credentials'>,
  path: string,
): string {
  const url = URL.parse(baseUrl + path)
  const apiPrefix = `${URL.parse(baseUrl)?.pathname.replace(/(?<!\/)\/+$/, '') ?? ''}/v1/`
  const isBelow =
    url !== null &&
    path.startsWith('/v1/') &&
    url.origin === new URL(baseUrl).origin &&
    url.pathname.startsWith(apiPrefix) &&
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
  return url.pathname.slice(apiPrefix.length - '/v1/'.length) + url.search
}

/**
 * Template for a path with encoded ids: apiPath`/v1/requests/${id}`. Throws for an id such as `..`, which a URL would
 * read as a step to another folder, so that no id can lead to another resource.
 */
function apiPath(texts: TemplateStringsArray, ...ids: (string | number)[]): string {
  return texts.reduce((path, text, index) => path + encodeSegment(String(ids[index - 1] ?? '')) + text)
}

function encodeSegment(id: string): string {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) {
    throw new InvalidInputError(`"${redactArgument(id)}" is not an id`, {
      hint: 'Copy the id as the service shows it.',
    })
  }
  return encodeURIComponent(id)
}

const maxUrlLength = 4096
/**
 * Path of a report below the base URL. Encoded control characters, and encoded characters that a server might read as
 * part of the path (% . / \\), are not allowed.
 */
const reportPath = /^\/v1\/reports\/[\w.~-]+(?:\/referees\/(?:[\w.~:-]|%(?!2[5ef]|5c|[01]))+)?$/i

/**
 * Checks a signed URL. It must have the origin of the base URL, the path of a report and only the parameter `t`, and
 * must not change when it is parsed: the URL that is called is the one that was checked. No error message contains
 * the token.
 */
export function signedReportUrl(text: string, baseUrl: string): URL {
  const base = new URL(baseUrl)
  if (text.length > maxUrlLength) throw refusedUrlError(`it is longer than ${maxUrlLength} characters`)
  if (!URL.canParse(text)) throw refusedUrlError('it is not a URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw refusedUrlError('it has a user name in it')
  if (url.origin !== base.origin) {
    throw refusedUrlError(`it points to ${url.protocol}//${url.host}, not to ${base.origin}`)
  }
  if (url.href !== text) throw refusedUrlError('it differs from the URLs that the service makes')
  const prefix = base.pathname.replace(/\/$/, '')
  if (!url.pathname.startsWith(prefix) || !reportPath.test(url.pathname.slice(prefix.length))) {
    throw refusedUrlError('its path is not that of a report')
  }
  if (!/^\?t=[^&;]+$/.test(url.search) || text.includes('#')) {
    throw refusedUrlError('it does not have exactly one token "t"')
  }
  return url
}

function refusedUrlError(why: string): InvalidInputError {
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
  /** Duration of the successful exchange, without waits and earlier tries. */
  milliseconds: number
}

/** Maximum number of bytes that are read of an error response to a download. */
const maxFailureBytes = 1024 * 1024

/** Adds authentication and the envelope to the HTTP client. The key is sent only to the origin of the base URL. */
class ApiClient {
  readonly #options: ApiClientOptions
  readonly #secrets: Secrets
  clockDifferenceMs: number | undefined

  constructor(options: ApiClientOptions) {
    this.#options = options
    this.#secrets = new Secrets(options.secrets)
    this.#secrets.add('API key', options.credentials?.apiKey)
  }

  /** GET of a JSON resource with retries. Removes the envelope and checks `data` against `shape`. */
  async get<T extends z.ZodType>(
    path: string,
    shape: T,
    { authenticate = true, hints, signal }: GetOptions = {},
  ): Promise<ReceivedData<z.output<T>>> {
    const response = await this.getResponse(path, signal, authenticate)
    const envelope = this.envelopeOf(response)
    if (response.status !== 200) throw this.responseError(response, envelope, hints)
    if (envelope === undefined) {
      throw new UnavailableError(
        'the answer does not come from the service: it has no envelope {data, status_message, message}',
        {
          status: 200,
          hint: 'Check the base URL: something other than the service may have answered.',
        },
      )
    }
    return { data: parseData(shape, envelope.data), milliseconds: response.milliseconds }
  }

  /** GET with retries. Returns the response whatever its status. */
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
    if (response.status === 200 && isTooLarge(response)) throw tooLargeError(response.status)
    return this.#processResponse(response)
  }

  /** POST of JSON, sent once. */
  async postOnce(path: string, body: Uint8Array, signal: AbortSignal | undefined): Promise<HttpResponse> {
    const response = await this.#options.http.sendOnce({
      method: 'POST',
      url: this.#options.baseUrl + path,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...this.authentication() },
      body,
      signal,
    })
    return this.#processResponse(response)
  }

  /**
   * Returns the envelope of a response; undefined if the body is too large or not an envelope. Its secrets are
   * redacted, since a service or a proxy may return what it was sent, and the messages of responses are stored and
   * printed. `url`: the signed URL that was called.
   */
  envelopeOf({ body }: { body: Uint8Array }, url = ''): Envelope | undefined {
    if (isTooLarge({ body })) return undefined
    const secrets = new Secrets(this.#secrets)
    secrets.addTokenOf(url)
    const text = utf8Text(body) ?? ''
    const answer = parseJsonOrUndefined(text)
    const isCut = cutLongMessage(answer)
    // Few responses contain a secret, and redacting 16 MiB takes longer than searching for one.
    const envelope = parseEnvelope(isCut || secrets.mayBeIn(text) ? secrets.redactAnswer(answer) : answer)
    // The end is removed too, since a secret that was cut in two is not redacted there.
    if (isCut && envelope !== undefined) envelope.message = envelope.message.slice(0, -overlapLength)
    return envelope
  }

  /** Returns the typed error of a failed response. */
  responseError(
    response: { status: number; headers: HttpHeaders },
    envelope: Envelope | undefined,
    hints: StatusHints = {},
  ): RefcheckError {
    const { status } = response
    const seconds = status === 429 ? readRetryAfter(response).seconds : undefined
    return responseError({ status, envelope, retryAfter: seconds, hints })
  }

  /**
   * GET of a PDF. Throws unless the status is 200. Retried only before the first byte is returned; the body of a
   * failed response is read to free its connection.
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
      const failedBody = stream.status === 200 ? undefined : await collect(stream.body, maxFailureBytes)
      return { ...stream, failedBody }
    }, this.#retryPolicy(signal))
    if (answer.failedBody !== undefined) {
      throw this.responseError(answer, this.envelopeOf({ body: answer.failedBody }, url), hints)
    }
    const { status, body } = answer
    const secrets = new Secrets(this.#secrets)
    secrets.addTokenOf(url)
    const headers = secrets.redactAnswer(answer.headers) as HttpHeaders
    await requirePdf({ status, headers, body })
    return { status, headers, body }
  }

  #retryPolicy(signal: AbortSignal | undefined): RetryPolicy {
    const { clock, random, budgetMs, onRetry, onThrottled } = this.#options
    return { clock, random, budgetMs, onRetry, onThrottled, signal, retryAfter: readRetryAfter }
  }

  /** Records the difference of the clocks and redacts the headers. The body is redacted once it is parsed. */
  #processResponse(response: HttpResponse): HttpResponse {
    const date = Date.parse(header(response.headers, 'date') ?? '')
    if (Number.isFinite(date)) this.clockDifferenceMs = date - this.#options.clock.now()
    return { ...response, headers: this.#secrets.redactAnswer(response.headers) as HttpHeaders }
  }

  authentication(): Record<string, string> {
    const { credentials } = this.#options
    if (credentials === undefined) throw new InternalError('a call that needs a key was made without one')
    return {
      [apiKeyHeader]: requireSendable(credentials.apiKey, 'the API key'),
      [userEmailHeader]: requireSendable(credentials.userEmail, 'the user e-mail'),
    }
  }
}

/**
 * Requires visible ASCII, as headers do (RFC 9110, 5.5). The error does not contain the value, which may be a secret.
 */
function requireSendable(value: string, what: string): string {
  if (/^[\u0021-\u007E]+$/.test(value)) return value
  throw new InvalidInputError(`${what} is empty or holds characters that cannot be sent`, {
    hint: 'Correct REFCHECK_API_KEY and REFCHECK_USER_EMAIL, or log in again with: refcheck auth login',
  })
}

/** Throws unless the response has "Content-Type application/pdf": a login page with a 200 is not a report. */
async function requirePdf(stream: HttpStream): Promise<void> {
  const type = /^\s*([\w.+-]+\/[\w.+-]+)/.exec(header(stream.headers, 'content-type') ?? '')?.[1]
  if (type?.toLowerCase() === 'application/pdf') return
  await collect(stream.body, 0)
  throw new UnavailableError(`the answer is not a PDF but ${type ?? 'without a type'}`, {
    status: 200,
    hint: 'Check the base URL: something other than the service may have answered.',
  })
}

/** Characters. Longer messages are cut, since searching all encodings of a secret in them takes long. */
const maxMessageLength = 100_000
/**
 * Characters after `maxMessageLength` that are also searched for secrets and then removed. They are more than any
 * secret has in any encoding, so that no part of a secret remains.
 */
const overlapLength = 50_000

/** Cuts a message that is too long, in the response itself. Returns whether it was cut. */
function cutLongMessage(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null || !('message' in answer)) return false
  const { message } = answer
  if (typeof message !== 'string' || message.length <= maxMessageLength + overlapLength) return false
  answer.message = message.slice(0, maxMessageLength + overlapLength)
  return true
}
