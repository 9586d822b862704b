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
  readonly #maxEntries: number
  readonly #listSecrets: () => Iterable<readonly [name: string, value: string]>
  readonly #secrets = new Secrets()
  /** Entries, each with the function that makes its messages; most of these functions are never called. */
  readonly #stored: { entry: LogEntry; createExchange: (() => Exchange) | undefined }[] = []
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
    this.#maxEntries = maxEntries
    this.#listSecrets = listSecrets
  }

  add(at: number, event: LogEvent, createExchange?: () => Exchange): void {
    const entry: LogEntry = { n: this.#count, at, ...this.#redactEvent(event) }
    this.#count += 1
    this.#stored.push({ entry, createExchange })
    if (this.#stored.length > this.#maxEntries) this.#stored.shift()
    for (const subscriber of this.#subscribers) subscriber(entry)
  }

  #redactEvent(event: LogEvent): LogEvent {
    if (event.kind === 'call') return { ...event, path: this.#redact(event.path) }
    return event.kind === 'failure' ? { ...event, message: this.#redact(event.message) } : event
  }

  #redact(text: string): string {
    for (const [name, value] of this.#listSecrets()) this.#secrets.add(name, value)
    return this.#secrets.redact(text)
  }

  /** Returns the stored entries from number `from` on, oldest first. */
  entries(from = 0): LogEntry[] {
    return this.#stored.map(({ entry }) => entry).filter(({ n }) => n >= from)
  }

  /**
   * Returns the messages of an entry, which may contain keys. Undefined if the entry has none or is no longer stored.
   */
  exchange(n: number): Exchange | undefined {
    return this.#stored.find(({ entry }) => entry.n === n)?.createExchange?.()
  }

  /**
   * Returns the messages of an entry, in which the API keys, the webhook secrets and the control token are
   * replaced.
   */
  redactedExchange(n: number): Exchange | undefined {
    const exchange = this.exchange(n)
    if (exchange === undefined) return undefined
    const redactMessage = ({ headers, body }: Message): Message => ({
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          credentialHeaders[name.toLowerCase()] ?? this.#redact(value),
        ]),
      ),
      body: body === null ? null : this.#redact(body),
    })
    const { request, response } = exchange
    return { request: redactMessage(request), response: response === null ? null : redactMessage(response) }
  }

  /** Returns a function that ends the subscription. */
  subscribe(subscriber: (entry: LogEntry) => void): () => void {
    this.#subscribers.add(subscriber)
    return () => void this.#subscribers.delete(subscriber)
  }

  /**
   * Returns the next entry for which `isWanted` is true. Returns undefined if there is none within `ms` of real
   * time, or if `signal` is aborted.
   */
  async waitForEntry(
    isWanted: (entry: LogEntry) => boolean,
    ms: number,
    signal?: AbortSignal,
  ): Promise<LogEntry | undefined> {
    const foundEntry = Promise.withResolvers<LogEntry | undefined>()
    const endController = new AbortController()
    const endWait = (): void => foundEntry.resolve(undefined)
    const unsubscribe = this.subscribe((entry) => {
      if (isWanted(entry)) foundEntry.resolve(entry)
    })
    const endSignals = signal === undefined ? [endController.signal] : [signal, endController.signal]
    systemClock.sleep(ms, AbortSignal.any(endSignals)).then(endWait, endWait)
    try {
      return await foundEntry.promise
    } finally {
      unsubscribe()
      endController.abort()
    }
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
