import { Buffer } from 'node:buffer'
import { Readable } from 'node:stream'

import { type Dispatcher, errors } from 'undici'

import { RefcheckError, InternalError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import type { Environment } from '../host/process.ts'
import { TransportError, transportFailure } from './failure.ts'
import { interceptedUrl } from './intercept.ts'
import { secureUrl, Transport } from './transport.ts'
import {
  type ExchangeReport,
  type HttpLimits,
  type HttpRequest,
  type HttpResponse,
  type HttpStream,
  jsonLimits,
} from './types.ts'

export interface HttpClientOptions {
  clock: Clock
  env: Environment
  userAgent: string
  /** Called once for every exchange, after its end. */
  onExchange?: ((report: ExchangeReport) => void) | undefined
  /** Called before every exchange. */
  onStart?: ((request: HttpRequest) => void) | undefined
  /**
   * A dispatcher of undici that sends every exchange, in place of the client's own connections. The caller closes it.
   */
  dispatcher?: { request(options: never): unknown } | undefined
  /** Whether plain http to a URL of another machine is allowed; by default it is not. */
  isPlainHttpAllowed?: ((url: URL) => boolean) | undefined
  /** Certificates (PEM) of the trusted authorities, in place of those of this machine. */
  authorities?: string[] | undefined
}

/**
 * HTTP/1.1 exchanges with limits. Redirects are not followed, nothing is repeated, compressed responses are refused,
 * and no key is added.
 */
export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #transport: Transport

  constructor(options: HttpClientOptions) {
    this.#options = options
    this.#transport = new Transport(
      options.env,
      options.authorities,
      options.dispatcher as Dispatcher | undefined,
    )
  }

  /** Makes one exchange and reads the whole body. Throws TransportError, or the signal's reason. */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const exchange = this.#startExchange(request)
    return this.#readWhole(exchange, this.#sharedDispatcher(exchange))
  }

  /** Makes one exchange whose body is read as it arrives. Throws as `send` does, also during the iteration. */
  async open(request: HttpRequest): Promise<HttpStream> {
    const exchange = this.#startExchange(request)
    return this.#exchange(exchange, this.#sharedDispatcher(exchange))
  }

  /**
   * Makes one exchange on a new connection, which no layer repeats. Once a byte was sent it throws only
   * TransportError, whose `sent` is exact: undici reads the body only once the connection is open (with TLS, also
   * through a proxy), and an iterable body cannot be sent again.
   */
  async sendOnce(request: HttpRequest & { body: Uint8Array }): Promise<HttpResponse> {
    const exchange = this.#startExchange(request)
    const { url, calledUrl, limits } = exchange.plan
    const route = this.#transport.freshRoute(calledUrl, limits)
    try {
      // `reset`: undici closes the connection after the response.
      return await this.#readWhole(exchange, route.dispatcher, { reset: true })
    } catch (error) {
      if (error instanceof RefcheckError) throw error
      throw new TransportError(`${url.host}: cancelled before an answer came`, {
        sent: exchange.sent,
        hint: exchange.sent ? 'The service may still have carried out what was sent.' : 'Nothing was sent.',
        cause: error,
      })
    } finally {
      await route.close()
    }
  }

  /** Closes every connection permanently, even one in use. */
  async close(): Promise<void> {
    await this.#transport.close()
  }

  #startExchange(request: HttpRequest): Exchange {
    const { clock, isPlainHttpAllowed, onStart, onExchange } = this.#options
    const url = secureUrl(request.url, undefined, isPlainHttpAllowed)
    onStart?.(request)
    const calledUrl = interceptedUrl(url) ?? url
    return new Exchange({
      request,
      url,
      calledUrl,
      limits: { ...jsonLimits, ...request.limits },
      clock,
      onExchange,
      proxy: this.#transport.proxyFor(calledUrl),
    })
  }

  #sharedDispatcher({ plan }: Exchange): Dispatcher {
    return this.#transport.sharedDispatcher(plan.calledUrl, plan.limits)
  }

  async #readWhole(
    exchange: Exchange,
    dispatcher: Dispatcher,
    extra: { reset?: boolean } = {},
  ): Promise<HttpResponse> {
    const { status, headers, body } = await this.#exchange(exchange, dispatcher, extra)
    return { status, headers, body: await collect(body), milliseconds: exchange.milliseconds }
  }

  async #exchange(
    exchange: Exchange,
    dispatcher: Dispatcher,
    extra: { reset?: boolean } = {},
  ): Promise<HttpStream> {
    try {
      const answer = await exchange.untilAborted(() =>
        dispatcher.request({ ...this.#dispatch(exchange), ...extra }),
      )
      exchange.status = answer.statusCode
      const refusal = refusalOf(answer, exchange)
      if (refusal !== undefined) {
        // A body destroyed before its end emits an error, and this one has no reader.
        answer.body.on('error', () => {}).destroy()
        throw refusal
      }
      return { status: answer.statusCode, headers: answer.headers, body: exchange.limitBody(answer.body) }
    } catch (error) {
      throw exchange.fail(error)
    }
  }

  #dispatch(exchange: Exchange): Dispatcher.RequestOptions {
    const { request, calledUrl, limits } = exchange.plan
    const body = request.body
    return {
      origin: calledUrl.origin,
      path: calledUrl.pathname + calledUrl.search,
      method: request.method,
      headers: {
        'accept-encoding': 'identity',
        'user-agent': this.#options.userAgent,
        ...request.headers,
        ...(body && !request.chunked && { 'content-length': String(body.byteLength) }),
      },
      body: body === undefined ? null : Readable.from(sendBody(body, exchange)),
      headersTimeout: limits.idleMs,
      bodyTimeout: limits.idleMs,
      signal: exchange.signal,
    }
  }
}

/**
 * Yields the body, and marks the exchange as sent when undici takes the first byte. An exchange that was aborted is
 * reported as unsent, so no byte may be sent then.
 */
async function* sendBody(body: Uint8Array, exchange: Exchange): AsyncGenerator<Uint8Array> {
  exchange.signal.throwIfAborted()
  exchange.sent = true
  const firstLength = exchange.plan.request.chunked === true ? (body.byteLength + 1) >> 1 : body.byteLength
  yield body.subarray(0, firstLength)
  if (firstLength < body.byteLength) yield body.subarray(firstLength)
}

/** Returns the error if a response must not be read: it is compressed or too large. */
function refusalOf({ headers }: Dispatcher.ResponseData, exchange: Exchange): TransportError | undefined {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (typeof encoding !== 'string' || encoding.trim().toLowerCase() !== 'identity') {
    return new TransportError(
      `${exchange.plan.url.host}: the answer is compressed, which was not requested`,
      {
        sent: true,
        permanent: true,
        hint: 'Something between this machine and the service changes its answers.',
      },
    )
  }
  return Number(headers['content-length']) > exchange.plan.limits.maxBytes
    ? exchange.tooLargeError()
    : undefined
}

/** The parameters of an exchange. */
interface ExchangePlan {
  request: HttpRequest
  url: URL
  /** The URL that is called: `url`, unless it is intercepted. */
  calledUrl: URL
  limits: HttpLimits
  clock: Clock
  /** Host of the proxy that the environment sets; NO_PROXY may still exclude the URL. */
  proxy: string | undefined
  onExchange: ((report: ExchangeReport) => void) | undefined
}

/**
 * One exchange under way: its time limit and abort, whether its first byte was sent, and its report, which is made
 * once.
 */
class Exchange {
  readonly plan: ExchangePlan
  /** Set when the connection is open and undici reads the body; has no meaning for a request without a body. */
  sent = false
  status: number | undefined
  readonly #startedAt: number
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  #isFinished = false

  constructor(plan: ExchangePlan) {
    this.plan = plan
    this.#startedAt = plan.clock.monotonic()
    const { signal } = plan.request
    this.#timer = setTimeout(() => this.#controller.abort(this.#timeoutError()), plan.limits.totalMs)
    this.#timer.unref()
    signal?.addEventListener('abort', this.#onAbort)
    if (signal?.aborted) this.#onAbort()
  }

  /** Aborts with the reason of the caller's signal, or with a TransportError when the total time is up. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get milliseconds(): number {
    return this.plan.clock.monotonic() - this.#startedAt
  }

  /**
   * Returns the result of `work`, or rejects as soon as the exchange is aborted: undici itself notices an abort only
   * when the connection is open.
   */
  async untilAborted<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this
    signal.throwIfAborted()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    return Promise.race([work(), aborted])
  }

  /** Yields the body within its limits. The end of the iteration finishes the exchange. */
  async *limitBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let receivedBytes = 0
    try {
      for await (const chunk of body) {
        receivedBytes += chunk.byteLength
        if (receivedBytes > this.plan.limits.maxBytes) throw this.tooLargeError()
        yield chunk
      }
    } catch (error) {
      throw this.fail(error)
    } finally {
      this.finish()
    }
  }

  tooLargeError(): TransportError {
    const { url, limits } = this.plan
    return new TransportError(`${url.host}: the answer is larger than ${limits.maxBytes} bytes, the limit`, {
      sent: true,
      permanent: true,
      hint: 'Check the base URL: the service’s answers are smaller.',
    })
  }

  /**
   * Finishes the exchange with a failure and returns the error to throw: the caller's reason if the caller aborted
   * it.
   */
  fail(error: unknown): unknown {
    const { url, proxy, request } = this.plan
    if (request.signal?.aborted && this.signal.reason === request.signal.reason) {
      this.finish('cancelled')
      return this.signal.reason
    }
    const failure = this.signal.aborted
      ? (this.signal.reason as Error)
      : error instanceof errors.InvalidArgumentError
        ? new InternalError('a request was made that cannot be sent', { cause: error })
        : transportFailure(error, { url, proxy, sent: this.sent })
    this.finish(failure.message)
    return failure
  }

  /** Finishes the exchange: removes its timer and its listener, and reports it. */
  finish(failure?: string): void {
    if (this.#isFinished) return
    this.#isFinished = true
    clearTimeout(this.#timer)
    this.plan.request.signal?.removeEventListener('abort', this.#onAbort)
    this.plan.onExchange?.({
      method: this.plan.request.method,
      url: this.plan.request.url,
      status: this.status,
      failure,
      milliseconds: this.milliseconds,
    })
  }

  readonly #onAbort = (): void => {
    this.#controller.abort(this.plan.request.signal?.reason)
  }

  #timeoutError(): TransportError {
    const { url, limits } = this.plan
    return new TransportError(
      `${url.host}: timed out after ${limits.totalMs / 1000} s without a complete answer`,
      {
        sent: this.sent,
        hint: 'Try again in a moment. Check whether the service is up with: refcheck ping',
      },
    )
  }
}

/** Collects a body, or at least its first `maxBytes` bytes; later chunks are not read. */
export async function collect(
  body: AsyncIterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let receivedBytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    receivedBytes += chunk.byteLength
    if (receivedBytes >= maxBytes) break
  }
  return Buffer.concat(chunks)
}
