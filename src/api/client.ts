import type { z } from 'zod'

import { type Envelope, envelope } from '../contract/envelope.ts'
import { apiKeyHeader, userEmailHeader } from '../contract/headers.ts'
import { parseRetryAfter, type RetryAfter } from '../contract/retry-after.ts'
import { InternalError } from '../errors/internal.ts'
import { UnavailableError } from '../errors/unavailable.ts'
import type { Clock } from '../host/clock.ts'
import type { Random } from '../host/random.ts'
import { collect } from '../http/body.ts'
import type { HttpClient } from '../http/client.ts'
import { reportLimits } from '../http/limits.ts'
import { type RetryNotice, withRetries } from '../http/retry.ts'
import type { HttpHeaders, HttpResponse, HttpStream } from '../http/types.ts'
import { failure } from './failure.ts'

export interface ApiClientOptions {
  http: HttpClient
  clock: Clock
  random: Random
  /** No trailing slash. */
  baseUrl: string
  /** Undefined only for ping, which needs none. */
  credentials: { apiKey: string; userEmail: string } | undefined
  /** Milliseconds that retries and 429 waits of one call may take together. */
  budgetMs: number
  onNotice?: ((notice: RetryNotice) => void) | undefined
}

interface GetOptions {
  authenticate?: boolean
  signal?: AbortSignal | undefined
}

/** Bytes of an error answer that are read at most, where a file was expected. */
const largestFailure = 1024 * 1024

/** Authentication and envelope on top of http. The key goes to the base URL's origin and nowhere else. */
export class ApiClient {
  readonly options: ApiClientOptions

  constructor(options: ApiClientOptions) {
    this.options = options
  }

  /** GET a JSON resource: retried, its envelope taken off, `data` checked against `shape`. */
  async get<T extends z.ZodType>(path: string, shape: T, options: GetOptions = {}): Promise<z.output<T>> {
    const response = await withRetries(
      () =>
        this.options.http.send({
          method: 'GET',
          url: this.url(path),
          headers: { accept: 'application/json', ...this.#headers(options.authenticate ?? true) },
          signal: options.signal,
        }),
      this.retryPolicy(options.signal),
    )
    const wrapped = parseEnvelope(response)
    if (response.status !== 200) throw this.failed(response, wrapped)
    if (wrapped === undefined) {
      throw new UnavailableError(
        'the answer is not the service’s: no envelope {data, status_message, message}',
        {
          status: 200,
          hint: 'Check the base URL: something else may have answered.',
        },
      )
    }
    return parseData(shape, wrapped.data)
  }

  /** GET a binary resource with the authentication headers; anything but a 200 throws. */
  async openAuthenticated(path: string, signal: AbortSignal | undefined): Promise<HttpStream> {
    return this.open(this.url(path), { accept: 'application/pdf', ...this.#headers(true) }, signal)
  }

  /** GET a stream; retried before its first byte is handed on; anything but a 200 throws its typed error. */
  async open(
    url: string,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
  ): Promise<HttpStream> {
    const stream = await withRetries(
      () => this.options.http.open({ method: 'GET', url, headers, signal, limits: reportLimits }),
      this.retryPolicy(signal),
    )
    if (stream.status === 200) return stream
    const body = await collect(stream.body, largestFailure)
    throw this.failed({ ...stream, body }, parseEnvelope({ ...stream, body }))
  }

  /** One POST of JSON, sent once. */
  async postOnce(path: string, body: Uint8Array, signal: AbortSignal | undefined): Promise<HttpResponse> {
    return this.options.http.sendOnce({
      method: 'POST',
      url: this.url(path),
      headers: { accept: 'application/json', 'content-type': 'application/json', ...this.#headers(true) },
      body,
      signal,
    })
  }

  url(path: string): string {
    return this.options.baseUrl + path
  }

  failed(response: HttpResponse, wrapped: Envelope | undefined) {
    return failure({
      status: response.status,
      envelope: wrapped,
      retryAfter: response.status === 429 ? retryAfter(response).seconds : undefined,
    })
  }

  retryPolicy(signal: AbortSignal | undefined) {
    const { clock, random, budgetMs, onNotice } = this.options
    return { clock, random, budgetMs, onNotice, signal, retryAfter }
  }

  #headers(authenticate: boolean): Record<string, string> {
    const { credentials } = this.options
    if (!authenticate) return {}
    if (credentials === undefined) throw new InternalError('a call that needs a key was made without one')
    return { [apiKeyHeader]: credentials.apiKey, [userEmailHeader]: credentials.userEmail }
  }
}

/** A header's only value; the first where it came more than once. */
export function header(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

function retryAfter(response: { headers: HttpHeaders }): RetryAfter {
  return parseRetryAfter(header(response.headers, 'retry-after'))
}

/** The envelope of an answer, or undefined where the body is anything else. */
export function parseEnvelope(response: HttpResponse): Envelope | undefined {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(response.body))
  } catch {
    return undefined
  }
  const parsed = envelope.safeParse(json)
  return parsed.success ? parsed.data : undefined
}

function parseData<T extends z.ZodType>(shape: T, data: unknown): z.output<T> {
  const parsed = shape.safeParse(data)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = ['data', ...(issue?.path ?? [])].map(String).join('.')
  throw new UnavailableError(
    `the service’s answer does not have the documented shape: ${path}: ${issue?.message}`,
    {
      field: path,
      hint: 'The service may be newer than this program, or something else answered; check the base URL.',
    },
  )
}
