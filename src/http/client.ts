import { Readable } from 'node:stream'

import type { Dispatcher } from 'undici'

import type { Clock } from '../host/clock.ts'
import type { Environment } from '../host/env.ts'
import { collect } from './body.ts'
import { TransportError, transportFailure } from './failure.ts'
import { jsonLimits } from './limits.ts'
import { secureUrl, Transport } from './transport.ts'
import type { ExchangeReport, HttpLimits, HttpRequest, HttpResponse, HttpStream } from './types.ts'

export interface HttpClientOptions {
  clock: Clock
  env: Environment
  userAgent: string
  onExchange?: ((report: ExchangeReport) => void) | undefined
}

/** A request on its way out: where it goes, how long it may take, and whether its first byte was handed over. */
interface Flight {
  request: HttpRequest
  url: URL
  limits: HttpLimits
  startedAt: number
  sent: boolean
  /** Aborts with the caller's signal or when the total time is up. */
  signal: AbortSignal
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
    this.#transport = new Transport(options.env)
  }

  /** One exchange, the body read whole. Throws TransportError. */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const stream = await this.open(request)
    return { ...stream, body: await collect(stream.body) }
  }

  /** One exchange whose body is read as it comes. Throws TransportError, from the iteration too. */
  async open(request: HttpRequest): Promise<HttpStream> {
    const flight = this.#prepare(request)
    return this.#exchange(flight, this.#transport.shared(flight.url, flight.limits))
  }

  /**
   * One exchange on a connection of its own, never repeated by any layer. A TransportError's `sent`
   * is exact: undici asks for the body only once the connection (with TLS, through a proxy too)
   * stands, and an iterable body cannot be replayed.
   */
  async sendOnce(request: HttpRequest & { body: Uint8Array }): Promise<HttpResponse> {
    const flight = this.#prepare(request)
    const dispatcher = this.#transport.fresh(flight.url, flight.limits)
    try {
      const stream = await this.#exchange(flight, dispatcher)
      return { ...stream, body: await collect(stream.body) }
    } finally {
      await dispatcher.destroy()
    }
  }

  async close(): Promise<void> {
    await this.#transport.close()
  }

  #prepare(request: HttpRequest): Flight {
    const limits = { ...jsonLimits, ...request.limits }
    const deadline = AbortSignal.timeout(limits.totalMs)
    return {
      request,
      url: secureUrl(request.url),
      limits,
      startedAt: this.#options.clock.monotonic(),
      sent: false,
      signal: request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]),
    }
  }

  async #exchange(flight: Flight, dispatcher: Dispatcher): Promise<HttpStream> {
    try {
      const answer = await dispatcher.request(this.#dispatch(flight))
      this.#report(flight, { status: answer.statusCode })
      const encoding = answer.headers['content-encoding']
      if (encoding !== undefined && encoding !== 'identity') {
        answer.body.destroy()
        throw new TransportError(`${flight.url.host}: the answer is compressed, though none was asked for`, {
          sent: true,
          hint: 'Something between here and the service changes its answers.',
        })
      }
      return { status: answer.statusCode, headers: answer.headers, body: bounded(answer.body, flight) }
    } catch (error) {
      const failure = this.#failure(error, flight)
      if (failure instanceof TransportError) this.#report(flight, { failure: failure.message })
      throw failure
    }
  }

  #dispatch(flight: Flight): Dispatcher.RequestOptions {
    const { request, url, limits } = flight
    const body = request.body
    return {
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method,
      headers: {
        'accept-encoding': 'identity',
        'user-agent': this.#options.userAgent,
        ...request.headers,
        ...(body && { 'content-length': String(body.byteLength) }),
      },
      body: body === undefined ? null : Readable.from(handedOver(body, flight)),
      headersTimeout: limits.idleMs,
      bodyTimeout: limits.idleMs,
      signal: flight.signal,
    }
  }

  #failure(error: unknown, flight: Flight): unknown {
    const caller = flight.request.signal
    if (caller?.aborted && !flight.sent) return caller.reason
    return overtime(error, flight) ?? transportFailure(error, flight.url, flight.sent)
  }

  #report(flight: Flight, end: { status?: number; failure?: string }): void {
    this.#options.onExchange?.({
      method: flight.request.method,
      url: flight.request.url,
      milliseconds: this.#options.clock.monotonic() - flight.startedAt,
      ...end,
    })
  }
}

/** The body, marking the flight as sent at the moment undici takes the first of it. */
async function* handedOver(body: Uint8Array, flight: Flight): AsyncGenerator<Uint8Array> {
  flight.sent = true
  yield body
}

async function* bounded(body: AsyncIterable<Uint8Array>, flight: Flight): AsyncGenerator<Uint8Array> {
  let taken = 0
  try {
    for await (const chunk of body) {
      taken += chunk.byteLength
      if (taken > flight.limits.maxBytes) {
        throw new TransportError(
          `${flight.url.host}: the answer is larger than ${flight.limits.maxBytes} bytes and was given up`,
          { sent: true },
        )
      }
      yield chunk
    }
  } catch (error) {
    throw overtime(error, flight) ?? transportFailure(error, flight.url, true)
  }
}

/** The total time being up shows as an abort; told as what it is. */
function overtime(error: unknown, flight: Flight): TransportError | undefined {
  if (error instanceof TransportError || !flight.signal.aborted || flight.request.signal?.aborted) {
    return undefined
  }
  const seconds = flight.limits.totalMs / 1000
  return new TransportError(`${flight.url.host}: no whole answer within ${seconds} s`, {
    sent: flight.sent,
    cause: error,
  })
}
