import { systemClock } from '../../host/clock.ts'
import { Secrets } from '../../host/secrets.ts'
import type { DeliveryRecord } from './schemas.ts'
import type { State } from './state.ts'

/** An entry of the log; `n` is its number. */
export type LogEntry = { n: number; at: number } & LogEvent

export type LogEvent =
  /** A failure outside a call, such as a full disk. */
  | { kind: 'failure'; message: string }
  | { kind: 'call'; method: string; path: string; status: number | null; fault: string | null }
  | { kind: 'status'; request_id: string; status: string }
  | {
      kind: 'delivery'
      delivery_id: string
      request_id: string
      status: string
      attempt: number
      outcome: string
    }

/** Headers by names in lowercase, and the text of a body; null if it is empty, unread or not text. */
export interface Message {
  headers: Readonly<Record<string, string>>
  body: string | null
}

/**
 * The messages of a call or a delivery attempt. `response` is the service's response before a fault changed it; null
 * if there was none.
 */
export interface Exchange {
  request: Message
  response: Message | null
}

/** Most characters of a body that are logged. */
export const maxLoggedBody = 65_536

/** Headers whose values are credentials, of this sandbox or another, with the text that replaces the value. */
const credentialHeaders: Readonly<Record<string, string>> = {
  'x-service-api-key': '[API key]',
  authorization: '[credentials]',
  'proxy-authorization': '[credentials]',
  cookie: '[credentials]',
}

/** Returns the log entry of a delivery attempt. */
export function attemptEntry({ id, request_id, status, attempts, outcome }: DeliveryRecord): LogEvent {
  return {
    kind: 'delivery',
    delivery_id: id,
    request_id,
    status,
    attempt: attempts,
    outcome: outcome ?? '',
  }
}

/** The latest entries of the log, in order. */
export class Log {
  readonly #size: number
  readonly #known: () => Iterable<readonly [name: string, value: string]>
  readonly #secrets = new Secrets()
  readonly #entries: LogEntry[] = []
  /** Functions that make the messages of the entries, at the same indexes; most are never called. */
  readonly #exchanges: ((() => Exchange) | undefined)[] = []
  readonly #subscribers = new Set<(entry: LogEntry) => void>()
  #count = 0

  /**
   * `known` yields values that are never logged, although callers may put them into paths; new keys are added
   * over time.
   */
  constructor(size = 1000, known: () => Iterable<readonly [name: string, value: string]> = () => []) {
    this.#size = size
    this.#known = known
  }

  add(at: number, event: LogEvent, exchange?: () => Exchange): void {
    const entry: LogEntry = { n: this.#count, at, ...this.#redacted(event) }
    this.#entries[this.#count % this.#size] = entry
    this.#exchanges[this.#count % this.#size] = exchange
    this.#count += 1
    for (const subscriber of this.#subscribers) subscriber(entry)
  }

  #redacted(event: LogEvent): LogEvent {
    if (event.kind !== 'call' && event.kind !== 'failure') return event
    for (const [name, value] of this.#known()) this.#secrets.add(name, value)
    return event.kind === 'call'
      ? { ...event, path: this.#secrets.redact(event.path) }
      : { ...event, message: this.#secrets.redact(event.message) }
  }

  /** Returns the stored entries from number `from` on, oldest first. */
  entries(from = 0): LogEntry[] {
    const first = Math.max(from, this.#count - this.#size)
    const length = Math.max(0, this.#count - first)
    return Array.from({ length }, (_, index) => this.#entries[(first + index) % this.#size]).filter(
      (entry) => entry !== undefined,
    )
  }

  /**
   * Returns the messages of an entry, which may contain keys. Undefined if the entry has none or is no longer stored.
   */
  exchange(n: number): Exchange | undefined {
    if (this.#entries[n % this.#size]?.n !== n) return undefined
    return this.#exchanges[n % this.#size]?.()
  }

  /** As `exchange`, but without keys, secrets and tokens of report URLs. */
  redactedExchange(n: number): Exchange | undefined {
    const exchange = this.exchange(n)
    if (exchange === undefined) return undefined
    for (const [name, value] of this.#known()) this.#secrets.add(name, value)
    const redacted = ({ headers, body }: Message): Message => ({
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          credentialHeaders[name.toLowerCase()] ?? this.#secrets.redact(value),
        ]),
      ),
      body: body === null ? null : this.#secrets.redact(body),
    })
    const { request, response } = exchange
    return { request: redacted(request), response: response === null ? null : redacted(response) }
  }

  /** Returns a function that ends the subscription. */
  subscribe(subscriber: (entry: LogEntry) => void): () => void {
    this.#subscribers.add(subscriber)
    return () => void this.#subscribers.delete(subscriber)
  }
}

/** Yields the keys, revoked ones too, the webhook secrets and the control token. */
export function* secretsIn(
  { keys, organisations }: Pick<State, 'keys' | 'organisations'>,
  reach?: { controlToken: string },
): Generator<readonly [name: string, value: string]> {
  for (const key of keys.keys()) yield ['API key', key]
  for (const { webhook_secret: secret } of organisations.values()) yield ['webhook secret', secret]
  if (reach !== undefined) yield ['control token', reach.controlToken]
}

/**
 * Waits for the next entry for which `fits` is true; undefined if there is none within `ms` of real time, or if
 * `signal` is aborted.
 */
export async function nextEntry(
  log: Pick<Log, 'subscribe'>,
  fits: (entry: LogEntry) => boolean,
  ms: number,
  signal?: AbortSignal,
): Promise<LogEntry | undefined> {
  const found = Promise.withResolvers<LogEntry>()
  const over = new AbortController()
  const stop = log.subscribe((entry) => {
    if (fits(entry)) found.resolve(entry)
  })
  const ends = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
  const late = systemClock.sleep(ms, ends).then(
    () => undefined,
    () => undefined,
  )
  try {
    return await Promise.race([found.promise, late])
  } finally {
    stop()
    over.abort()
  }
}
