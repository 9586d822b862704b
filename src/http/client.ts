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
  /** Called once for every exchange when it is over, however it ended. */
  onExchange?: ((report: ExchangeReport) => void) | undefined
  /** Called before every exchange. */
  onStart?: ((request: HttpRequest) => void) | undefined
  /** Sends every exchange, instead of connections of its own. It is not closed. */
  dispatcher?: { request(options: never): unknown } | undefined
  /** Whether plain http may go to a URL of another machine; by default to none. */
  isApproved?: ((url: URL) => boolean) | undefined
  /** A certificate (PEM) that is trusted besides those of this machine. */
  authority?: string | undefined
}

/**
 * HTTP/1.1 exchanges with limits. It follows no redirect, repeats nothing by itself, takes no
 * compressed answer, and knows no key.
 */
export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #transport: Transport

  constructor(options: HttpClientOptions) {
    this.#options = options
    this.#transport = new Transport(
      options.env,
      options.authority,
      options.dispatcher as Dispatcher | undefined,
    )
  }

  /** One exchange, the body read whole. Throws TransportError, or the signal's reason. */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const { url, limits } = this.#target(request)
    const flight = this.#flight(request, url, limits)
    return this.#whole(flight, this.#transport.shared(flight.plan.to, limits))
  }

  /** One exchange whose body is read as it comes. Throws as `send` does, from the iteration too. */
  async open(request: HttpRequest): Promise<HttpStream> {
    const { url, limits } = this.#target(request)
    const flight = this.#flight(request, url, limits)
    return this.#exchange(flight, this.#transport.shared(flight.plan.to, limits))
  }

  /**
   * One exchange on a connection of its own, never repeated by any layer. Once anything was sent it
   * throws TransportError alone, whose `sent` is exact: undici asks for the body only once the
   * connection (with TLS, through a proxy too) is open, and an iterable body cannot be replayed.
   */
  async sendOnce(request: HttpRequest & { body: Uint8Array }): Promise<HttpResponse> {
    const { url, limits } = this.#target(request)
    const flight = this.#flight(request, url, limits)
    const route = this.#transport.fresh(flight.plan.to, limits)
    try {
      return await this.#whole(flight, route.dispatcher, { reset: true })
    } catch (error) {
      if (error instanceof RefcheckError) throw error
      throw new TransportError(`${url.host}: cancelled before an answer came`, {
        sent: flight.sent,
        hint: flight.sent ? 'The service may still have carried out what was sent.' : 'Nothing was sent.',
        cause: error,
      })
    } finally {
      await route.close()
    }
  }

  /** Closes every connection, also one in use, for good. */
  async close(): Promise<void> {
    await this.#transport.close()
  }

  #target(request: HttpRequest): { url: URL; limits: HttpLimits } {
    const { isApproved } = this.#options
    return {
      url: secureUrl(request.url, undefined, isApproved),
      limits: { ...jsonLimits, ...request.limits },
    }
  }

  #flight(request: HttpRequest, url: URL, limits: HttpLimits): Flight {
    const { clock, onStart, onExchange } = this.#options
    onStart?.(request)
    const to = interceptedUrl(url) ?? url
    return new Flight({ request, url, to, limits, clock, onExchange, proxy: this.#transport.proxyFor(to) })
  }

  async #whole(
    flight: Flight,
    dispatcher: Dispatcher,
    extra: { reset?: boolean } = {},
  ): Promise<HttpResponse> {
    const { status, headers, body } = await this.#exchange(flight, dispatcher, extra)
    return { status, headers, body: await collect(body), milliseconds: flight.milliseconds }
  }

  async #exchange(
    flight: Flight,
    dispatcher: Dispatcher,
    extra: { reset?: boolean } = {},
  ): Promise<HttpStream> {
    try {
      const answer = await flight.unlessGivenUp(() =>
        dispatcher.request({ ...this.#dispatch(flight), ...extra }),
      )
      flight.status = answer.statusCode
      const refusal = refused(answer, flight)
      if (refusal !== undefined) {
        // A body destroyed before its end emits an error, and this one has no reader.
        answer.body.on('error', () => {}).destroy()
        throw refusal
      }
      return { status: answer.statusCode, headers: answer.headers, body: flight.bounded(answer.body) }
    } catch (error) {
      throw flight.fail(error)
    }
  }

  #dispatch(flight: Flight): Dispatcher.RequestOptions {
    const { request, to, limits } = flight.plan
    const body = request.body
    return {
      origin: to.origin,
      path: to.pathname + to.search,
      method: request.method,
      headers: {
        'accept-encoding': 'identity',
        'user-agent': this.#options.userAgent,
        ...request.headers,
        ...(body && !request.chunked && { 'content-length': String(body.byteLength) }),
      },
      body: body === undefined ? null : Readable.from(handedOver(body, flight)),
      headersTimeout: limits.idleMs,
      bodyTimeout: limits.idleMs,
      signal: flight.signal,
    }
  }
}

/**
 * The body, marking the flight as sent at the moment undici takes the first of it. A flight that was
 * given up has been reported as unsent, so nothing of it may leave any more.
 */
async function* handedOver(body: Uint8Array, flight: Flight): AsyncGenerator<Uint8Array> {
  flight.signal.throwIfAborted()
  flight.sent = true
  const first = flight.plan.request.chunked === true ? (body.byteLength + 1) >> 1 : body.byteLength
  yield body.subarray(0, first)
  if (first < body.byteLength) yield body.subarray(first)
}

/** Why an answer is not read at all. */
function refused({ headers }: Dispatcher.ResponseData, flight: Flight): TransportError | undefined {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (typeof encoding !== 'string' || encoding.trim().toLowerCase() !== 'identity') {
    return new TransportError(`${flight.plan.url.host}: the answer is compressed, which was not requested`, {
      sent: true,
      permanent: true,
      hint: 'Something between this machine and the service changes its answers.',
    })
  }
  return Number(headers['content-length']) > flight.plan.limits.maxBytes ? flight.tooLarge() : undefined
}

/** What a flight needs from the client that starts it. */
interface FlightPlan {
  request: HttpRequest
  url: URL
  /** Where it is sent: `url`, unless that is intercepted. */
  to: URL
  limits: HttpLimits
  clock: Clock
  /** The host of the proxy that the environment names for the network; NO_PROXY may still go past it. */
  proxy: string | undefined
  onExchange: ((report: ExchangeReport) => void) | undefined
}

/** One exchange under way: what ends it early, whether its first byte was handed over, and its report, made once. */
class Flight {
  readonly plan: FlightPlan
  /** Set when the connection is open and the body is asked for; it has no meaning for a request without a body. */
  sent = false
  status: number | undefined
  readonly #startedAt: number
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  #landed = false

  constructor(plan: FlightPlan) {
    this.plan = plan
    this.#startedAt = plan.clock.monotonic()
    const { signal } = plan.request
    this.#timer = setTimeout(() => this.#controller.abort(this.#overtime()), plan.limits.totalMs)
    this.#timer.unref()
    signal?.addEventListener('abort', this.#onAbort)
    if (signal?.aborted) this.#onAbort()
  }

  /** Aborts when the caller's does, with its reason, or when the total time is up, with a TransportError. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get milliseconds(): number {
    return this.plan.clock.monotonic() - this.#startedAt
  }

  /**
   * What `work` comes to, or the reason the flight was given up, at once: undici itself notices an
   * abort only when the connection is open.
   */
  async unlessGivenUp<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this
    signal.throwIfAborted()
    const { promise: givenUp, reject } = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    return Promise.race([work(), givenUp])
  }

  /** The body within its limits; ends the flight when it ends. */
  async *bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let taken = 0
    try {
      for await (const chunk of body) {
        taken += chunk.byteLength
        if (taken > this.plan.limits.maxBytes) throw this.tooLarge()
        yield chunk
      }
    } catch (error) {
      throw this.fail(error)
    } finally {
      this.land()
    }
  }

  tooLarge(): TransportError {
    const { url, limits } = this.plan
    return new TransportError(`${url.host}: the answer is larger than ${limits.maxBytes} bytes, the limit`, {
      sent: true,
      permanent: true,
      hint: 'Check the base URL: the service’s answers are smaller.',
    })
  }

  /** Ends the flight with a failure and returns what to throw: the caller's own reason where the caller gave up. */
  fail(error: unknown): unknown {
    const { url, proxy, request } = this.plan
    if (request.signal?.aborted && this.signal.reason === request.signal.reason) {
      this.land('cancelled')
      return this.signal.reason
    }
    const failure = this.signal.aborted
      ? (this.signal.reason as Error)
      : error instanceof errors.InvalidArgumentError
        ? new InternalError('a request was made that cannot be sent', { cause: error })
        : transportFailure(error, { url, proxy, sent: this.sent })
    this.land(failure.message)
    return failure
  }

  /** Ends the flight: removes its timer and its listener, and reports it. */
  land(failure?: string): void {
    if (this.#landed) return
    this.#landed = true
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

  #overtime(): TransportError {
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

/** A body whole, or its first `most` bytes: what comes after them is not read. */
export async function collect(
  body: AsyncIterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let taken = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    taken += chunk.byteLength
    if (taken >= maxBytes) break
  }
  return Buffer.concat(chunks)
}
