import { ThrottledError } from '../errors/kinds.ts'
import type { Secrets } from '../host/secrets.ts'
import type { HttpClient } from '../http/client.ts'
import { TransportError } from '../http/failure.ts'
import { Answer } from './answer.ts'
import type { Receiver } from './receiver.ts'
import type { Control, Identity, Pace, Target } from './target.ts'

/** One run of the suite, as its cases see it. */
export interface Visit {
  readonly probe: Probe
  readonly pace: Pace
  readonly target: Target
  readonly control: Control
  /** Where the organisation's events arrive, if the suite may receive them. */
  readonly receiver: Receiver | undefined
  readonly mayCreate: boolean
  /** Milliseconds that a request is followed for at most, where time cannot be moved. */
  readonly watchMs: number
  /** The result of `make`, which is called once a run, so that cases share reads and orders. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>
}

export interface CallOptions {
  /** Default: the identity under examination. An empty one sends neither header. */
  as?: Partial<Identity> | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Printed in findings after the path: "as an unknown user". */
  note?: string | undefined
  /** Whether a 429 is the answer, instead of something to wait out. */
  throttled?: 'return' | undefined
}

export interface ProbeOptions {
  http: HttpClient
  target: Target
  secrets: Secrets
  pace: Pace
  signal?: AbortSignal | undefined
  /** Milliseconds that waiting for the quota may take altogether; default without limit. */
  waitBudgetMs?: number | undefined
  /** Called before a throttled call is waited for. */
  onWait?: ((seconds: number) => void) | undefined
}

/** Nothing waits longer for the quota: the hour's window and a minute. */
const longestWait = 3_660

/** How often one call is held back by the quota before its 429 is taken for the answer. */
const maxWaits = 5

/**
 * Asks the deployment, and stores every answer for the rules that hold for all of them. A call throws
 * TransportError where no whole answer came, and ThrottledError where the quota may not be waited for.
 */
export class Probe {
  readonly answers: Answer[] = []
  readonly #options: ProbeOptions
  readonly #base: string
  /** When each call was made. */
  readonly calledAt: number[] = []
  /** Milliseconds that the quota has taken. */
  waitedMs = 0

  constructor(options: ProbeOptions) {
    this.#options = options
    this.#base = options.target.baseUrl.replace(/(?<!\/)\/+$/, '')
  }

  /** `path` with its query, from the base URL on. */
  get(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.#call('GET', this.#base + path, path, undefined, options)
  }

  /** POST /v1/requests. A string is sent as it is, anything else as JSON. */
  post(body: unknown, options: CallOptions = {}): Promise<Answer> {
    const path = '/v1/requests'
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const headers = options.headers ?? { 'Content-Type': 'application/json' }
    return this.#call('POST', this.#base + path, path, bytes, { ...options, headers })
  }

  /** GET /v1/ping in clear text on the deployment's own port; undefined where nothing was answered. */
  async plainHttp(): Promise<number | undefined> {
    const { http, signal } = this.#options
    const url = `${this.#base.replace(/^https:/, 'http:')}/v1/ping`
    try {
      return (await http.send({ method: 'GET', url, signal })).status
    } catch (error) {
      if (error instanceof TransportError) return undefined
      throw error
    }
  }

  /** A URL the deployment handed out; undefined where it leads to another host, which is not called. */
  path(url: string): string | undefined {
    return url.startsWith(`${this.#base}/`) ? url.slice(this.#base.length) : undefined
  }

  async #call(
    method: 'GET' | 'POST',
    url: string,
    path: string,
    body: Buffer | undefined,
    options: CallOptions,
  ): Promise<Answer> {
    const note = options.note === undefined ? '' : ` ${options.note}`
    const label = `${method} ${this.#options.secrets.redact(path)}${note}`
    for (let waits = 0; ; waits += 1) {
      const answer = await this.#once(method, url, path, body, options, label)
      if (answer.status !== 429 || options.throttled === 'return' || waits === maxWaits) return answer
      await this.#waitOut(answer)
    }
  }

  async #once(
    method: 'GET' | 'POST',
    url: string,
    path: string,
    body: Buffer | undefined,
    options: CallOptions,
    label: string,
  ): Promise<Answer> {
    const { http, signal, target, secrets } = this.#options
    const headers = { ...identification(options.as ?? target), ...options.headers }
    const response =
      body === undefined
        ? await http.send({ method, url, headers, signal })
        : await http.sendOnce({ method, url, headers, body, signal })
    this.calledAt.push(this.#options.pace.now())
    const answer = new Answer(label, response, path.startsWith('/v1/'), secrets)
    this.answers.push(answer)
    return answer
  }

  async #waitOut(answer: Answer): Promise<void> {
    const retryAfter = Number(answer.header('retry-after') ?? 60)
    const seconds = Number.isFinite(retryAfter) ? Math.min(longestWait, Math.max(1, retryAfter)) : 60
    this.waitedMs += seconds * 1000
    if (this.waitedMs > (this.#options.waitBudgetMs ?? Number.POSITIVE_INFINITY)) {
      throw new ThrottledError(`the quota is used up for the next ${seconds} s`, {
        status: 429,
        retryAfter: seconds,
        hint: `Run it again in ${seconds} s, or wait automatically with a longer --timeout.`,
      })
    }
    this.#options.onWait?.(seconds)
    await this.#options.pace.pause(seconds * 1000)
  }
}

function identification({ apiKey, userEmail }: Partial<Identity>): Record<string, string> {
  return {
    ...(apiKey !== undefined && { 'X-Service-API-Key': apiKey }),
    ...(userEmail !== undefined && { 'X-Service-User-Email': userEmail }),
  }
}
