import { systemClock } from '../../host/clock.ts'
import { Secrets } from '../../host/secrets.ts'
import type { DeliveryRecord } from './schemas.ts'
import type { State } from './state.ts'

/** An entry of the log; `n` is its number, counted from 0 since the start. */
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
 * The messages of a call or a delivery attempt. `response` is the service's response before a fault was applied; null
 * if the service made none.
 */
export interface Exchange {
  request: Message
  response: Message | null
}

/** Maximum number of characters of a body that are logged. */
export const maxLoggedBody = 65_536

/**
 * Headers whose values are credentials, of this sandbox or of another service, each with the text that replaces the
 * value in the log.
 */
const credentialHeaders: Readonly<Record<string, string>> = {
  'x-service-api-key': '[API key]',
  authorization: '[credentials]',
  'proxy-authorization': '[credentials]',
  cookie: '[credentials]',
}

/** Returns the log entry of a delivery attempt. */
export function toAttemptEvent({ id, request_id, status, attempts, outcome }: DeliveryRecord): LogEvent {
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
  readonly #listSecrets: () => Iterable<readonly [name: string, value: string]>
  readonly #secrets = new Secrets()
  readonly #entries: LogEntry[] = []
  /** Functions that make the messages of the entries, at the same indexes; most are never called. */
  readonly #exchanges: ((() => Exchange) | undefined)[] = []
  readonly #subscribers = new Set<(entry: LogEntry) => void>()
  #count = 0

  /**
   * `listSecrets` yields values that are never logged, even if a caller puts one into a path. It is called for each
   * entry, because new keys are added over time.
   */
  constructor(
    maxEntries = 1000,
    listSecrets: () => Iterable<readonly [name: string, value: string]> = () => [],
  ) {
    this.#size = maxEntries
    this.#listSecrets = listSecrets
  }

  add(at: number, event: LogEvent, exchange?: () => Exchange): void {
    const entry: LogEntry = { n: this.#count, at, ...this.#redactEvent(event) }
    this.#entries[this.#count % this.#size] = entry
    this.#exchanges[this.#count % this.#size] = exchange
    this.#count += 1
    for (const subscriber of this.#subscribers) subscriber(entry)
  }

  #redactEvent(event: LogEvent): LogEvent {
    if (event.kind !== 'call' && event.kind !== 'failure') return event
    for (const [name, value] of this.#listSecrets()) this.#secrets.add(name, value)
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

  /**
   * Returns the messages of an entry, in which the API keys, the webhook secrets and the control token are
   * replaced.
   */
  redactedExchange(n: number): Exchange | undefined {
    const exchange = this.exchange(n)
    if (exchange === undefined) return undefined
    for (const [name, value] of this.#listSecrets()) this.#secrets.add(name, value)
    const redactMessage = ({ headers, body }: Message): Message => ({
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          credentialHeaders[name.toLowerCase()] ?? this.#secrets.redact(value),
        ]),
      ),
      body: body === null ? null : this.#secrets.redact(body),
    })
    const { request, response } = exchange
    return { request: redactMessage(request), response: response === null ? null : redactMessage(response) }
  }

  /** Returns a function that ends the subscription. */
  subscribe(subscriber: (entry: LogEntry) => void): () => void {
    this.#subscribers.add(subscriber)
    return () => void this.#subscribers.delete(subscriber)
  }
}

/** Yields the keys (also the revoked ones), the webhook secrets and the control token. */
export function* listSecretsOfState(
  { keys, organisations }: Pick<State, 'keys' | 'organisations'>,
  remoteAccess?: { controlToken: string },
): Generator<readonly [name: string, value: string]> {
  for (const key of keys.keys()) yield ['API key', key]
  for (const { webhook_secret: secret } of organisations.values()) yield ['webhook secret', secret]
  if (remoteAccess !== undefined) yield ['control token', remoteAccess.controlToken]
}

/**
 * Returns the next entry for which `isWanted` is true. Returns undefined if there is none within `ms` of real
 * time, or if `signal` is aborted.
 */
export async function waitForEntry(
  log: Pick<Log, 'subscribe'>,
  isWanted: (entry: LogEntry) => boolean,
  ms: number,
  signal?: AbortSignal,
): Promise<LogEntry | undefined> {
  const foundEntry = Promise.withResolvers<LogEntry>()
  const endController = new AbortController()
  const unsubscribe = log.subscribe((entry) => {
    if (isWanted(entry)) foundEntry.resolve(entry)
  })
  const endSignal =
    signal === undefined ? endController.signal : AbortSignal.any([signal, endController.signal])
  const timeout = systemClock.sleep(ms, endSignal).then(
    () => undefined,
    () => undefined,
  )
  try {
    return await Promise.race([foundEntry.promise, timeout])
  } finally {
    unsubscribe()
    endController.abort()
  }
}
