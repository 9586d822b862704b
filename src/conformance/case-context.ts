import { ThrottledError } from '../errors/kinds.ts'
import type { Secrets } from '../host/secrets.ts'
import type { HttpClient } from '../http/client.ts'
import { TransportError } from '../http/failure.ts'
import { Answer } from './answer.ts'
import type { Receiver } from './receiver.ts'
import type { Control, Identity, DeploymentClock, Target } from './target.ts'

/** The data and functions of a run of the suite that its cases use. */
export interface CaseContext {
  readonly probe: Probe
  readonly deploymentClock: DeploymentClock
  readonly target: Target
  readonly control: Control
  /** Receiver of the organisation's events, if the suite may receive them. */
  readonly receiver: Receiver | undefined
  readonly canCreate: boolean
  /** Maximum number of milliseconds for which a request is followed with the real clock. */
  readonly watchMs: number
  /** Returns the result of `make`, which is called once per name and run, so that cases share reads and orders. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>
}

export interface CallOptions {
  /** The key and the user of the call; default: those of the target. With an empty object, neither header is sent. */
  identity?: Partial<Identity> | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Text after the path in findings: "as an unknown user". */
  note?: string | undefined
  /** `return`: a 429 is returned. By default the call is repeated after the wait that the 429 states. */
  on429?: 'return' | undefined
}

interface Call {
  method: 'GET' | 'POST'
  /** Path below the base URL, with the query. */
  path: string
  body?: Buffer
}

export interface ProbeOptions {
  http: HttpClient
  target: Target
  secrets: Secrets
  deploymentClock: DeploymentClock
  signal?: AbortSignal | undefined
  /** Maximum number of milliseconds that all waits for the quota may take; default no limit. */
  waitBudgetMs?: number | undefined
  /** Called before each wait after a throttled call. */
  onWait?: ((seconds: number) => void) | undefined
}

/** Maximum wait for the quota in seconds: the hour's window and a minute. */
const maxWaitSeconds = 3_660

/** Maximum number of waits for one call. The 429 after the last wait is returned. */
const maxWaits = 5

/**
 * Calls the deployment and stores all responses for the rules about all responses. A call throws a
 * TransportError if there was no complete response, and a ThrottledError if the wait for the quota would
 * exceed the limit.
 */
export class Probe {
  readonly answers: Answer[] = []
  readonly #options: ProbeOptions
  readonly #base: string
  /** Times of all calls in ms, by `deploymentClock`. */
  readonly callTimes: number[] = []
  /** Milliseconds spent waiting for the quota. */
  waitedMs = 0

  constructor(options: ProbeOptions) {
    this.#options = options
    this.#base = options.target.baseUrl.replace(/(?<!\/)\/+$/, '')
  }

  /** Makes a GET call; `path` is below the base URL and includes the query. */
  get(path: string, options: CallOptions = {}): Promise<Answer> {
    return this.#call({ method: 'GET', path }, options)
  }

  /** Makes a call of POST /v1/requests. A string is sent unchanged, any other value as JSON. */
  post(body: unknown, options: CallOptions = {}): Promise<Answer> {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const headers = options.headers ?? { 'Content-Type': 'application/json' }
    return this.#call({ method: 'POST', path: '/v1/requests', body: bytes }, { ...options, headers })
  }

  /**
   * Returns the status of GET /v1/ping over plain HTTP on the deployment's port; undefined if there was no response.
   */
  async pingByPlainHttp(): Promise<number | undefined> {
    const { http, signal } = this.#options
    const url = `${this.#base.replace(/^https:/, 'http:')}/v1/ping`
    try {
      return (await http.send({ method: 'GET', url, signal })).status
    } catch (error) {
      if (error instanceof TransportError) return undefined
      throw error
    }
  }

  /**
   * Returns the path of a URL from the deployment below the base URL; undefined for another host, which is
   * never called.
   */
  relativePath(url: string): string | undefined {
    return url.startsWith(`${this.#base}/`) ? url.slice(this.#base.length) : undefined
  }

  async #call(call: Call, options: CallOptions): Promise<Answer> {
    for (let waits = 0; ; waits += 1) {
      const answer = await this.#send(call, options)
      if (answer.status !== 429 || options.on429 === 'return' || waits === maxWaits) return answer
      await this.#waitOut(answer)
    }
  }

  async #send({ method, path, body }: Call, { identity, note, ...options }: CallOptions): Promise<Answer> {
    const { http, signal, target, secrets, deploymentClock } = this.#options
    const url = this.#base + path
    const headers = { ...createIdentityHeaders(identity ?? target), ...options.headers }
    const response =
      body === undefined
        ? await http.send({ method, url, headers, signal })
        : await http.sendOnce({ method, url, headers, body, signal })
    this.callTimes.push(deploymentClock.now())
    const label = `${method} ${secrets.redact(path)}${note === undefined ? '' : ` ${note}`}`
    const answer = new Answer(label, response, path.startsWith('/v1/'), secrets)
    this.answers.push(answer)
    return answer
  }

  async #waitOut(answer: Answer): Promise<void> {
    const retryAfter = Number(answer.header('retry-after') ?? 60)
    const seconds = Number.isFinite(retryAfter) ? Math.min(maxWaitSeconds, Math.max(1, retryAfter)) : 60
    this.waitedMs += seconds * 1000
    if (this.waitedMs > (this.#options.waitBudgetMs ?? Number.POSITIVE_INFINITY)) {
      throw new ThrottledError(`the quota is used up for the next ${seconds} s`, {
        status: 429,
        retryAfter: seconds,
        hint: `Run it again in ${seconds} s, or wait automatically with a longer --timeout.`,
      })
    }
    this.#options.onWait?.(seconds)
    await this.#options.deploymentClock.pause(seconds * 1000)
  }
}

function createIdentityHeaders({ apiKey, userEmail }: Partial<Identity>): Record<string, string> {
  return {
    ...(apiKey !== undefined && { 'X-Service-API-Key': apiKey }),
    ...(userEmail !== undefined && { 'X-Service-User-Email': userEmail }),
  }
}
