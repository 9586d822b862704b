import type { z } from 'zod'

import type { Envelope } from '../contract/envelope.ts'
import { apiKeyHeader, userEmailHeader } from '../contract/headers.ts'
import { parsedOrUndefined, utf8Text } from '../contract/parse-json.ts'
import type { RefcheckError } from '../errors/base.ts'
import { InternalError, InvalidInputError, UnavailableError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import type { Random } from '../host/random.ts'
import { Secrets } from '../host/secrets.ts'
import { collect, type HttpClient } from '../http/client.ts'
import { type RetryEvent, type RetryPolicy, withRetries } from '../http/retry.ts'
import { type HttpHeaders, type HttpResponse, type HttpStream, reportLimits } from '../http/types.ts'
import {
  failure,
  header,
  isTooLarge,
  parseData,
  parseEnvelope,
  readRetryAfter,
  type StatusHints,
  tooLarge,
} from './answer.ts'
import type { Package } from '../contract/package.ts'

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
export class ApiClient {
  readonly options: ApiClientOptions
  readonly #secrets: Secrets
  /** See Api.clockDifferenceMs. */
  clockDifferenceMs: number | undefined

  constructor(options: ApiClientOptions) {
    this.options = options
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
    const headers = { accept: 'application/json', ...(authenticate && this.#headers()) }
    const response = await withRetries(
      () => this.options.http.send({ method: 'GET', url: this.url(path), headers, signal }),
      this.#retryPolicy(signal),
    )
    if (response.status === 200 && isTooLarge(response)) throw tooLarge(response.status)
    return this.#received(response)
  }

  /** GET a PDF with the authentication headers; anything but a 200 throws. */
  async openAuthenticated(download: Download): Promise<HttpStream> {
    return this.#open(download, this.#headers())
  }

  /** GET a PDF without them, by a URL that carries its own token. */
  async openSigned(download: Download): Promise<HttpStream> {
    return this.#open(download, {})
  }

  /** One POST of JSON, sent once. */
  async postOnce(path: string, body: Uint8Array, signal: AbortSignal | undefined): Promise<HttpResponse> {
    const response = await this.options.http.sendOnce({
      method: 'POST',
      url: this.url(path),
      headers: { accept: 'application/json', 'content-type': 'application/json', ...this.#headers() },
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
    const answer = parsedOrUndefined(text)
    // Few answers hold any, and a walk over 16 MiB takes longer than to look for them.
    return parseEnvelope(secrets.mayBeIn(text) ? secrets.redactAnswer(answer) : answer)
  }

  url(path: string): string {
    return this.options.baseUrl + path
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

  /** Retried before its first byte is passed on; the body of a failure is read, which frees its connection. */
  async #open({ url, hints, signal }: Download, authentication: Record<string, string>): Promise<HttpStream> {
    const answer = await withRetries(async () => {
      const stream = await this.options.http.open({
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
    const { clock, random, budgetMs, onRetry, onThrottled } = this.options
    return { clock, random, budgetMs, onRetry, onThrottled, signal, retryAfter: readRetryAfter }
  }

  /** The clock's difference is noted, and the headers are redacted; the body is, once it is parsed. */
  #received(response: HttpResponse): HttpResponse {
    const date = Date.parse(header(response.headers, 'date') ?? '')
    if (Number.isFinite(date)) this.clockDifferenceMs = date - this.options.clock.now()
    return { ...response, headers: this.#secrets.redactAnswer(response.headers) as HttpHeaders }
  }

  #headers(): Record<string, string> {
    const { credentials } = this.options
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
