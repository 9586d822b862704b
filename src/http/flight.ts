import { errors } from 'undici'

import { InternalError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import { TransportError, transportFailure } from './failure.ts'
import type { ExchangeReport, HttpLimits, HttpRequest } from './types.ts'

/** What a flight needs from the client that starts it. */
export interface FlightPlan {
  request: HttpRequest
  url: URL
  limits: HttpLimits
  clock: Clock
  /** The host of the proxy that the environment names for the network; NO_PROXY may still go past it. */
  proxy: string | undefined
  onExchange: ((report: ExchangeReport) => void) | undefined
}

/** One exchange under way: what ends it early, whether its first byte was handed over, and its report, made once. */
export class Flight {
  readonly plan: FlightPlan
  /** Set when the connection stands and the body is asked for; of a request without a body it tells nothing. */
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
   * abort only when the connection stands.
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

  /** Ends the flight with a failure and says which to throw: the caller's own reason where the caller gave up. */
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

  /** Ends the flight: no timer and no listener stays, and its report goes out. */
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
