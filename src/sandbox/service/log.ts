import { systemClock } from '../../host/clock.ts'
import { Secrets } from '../../host/secrets.ts'
import type { DeliveryRecord } from './schemas.ts'
import type { State } from './state.ts'

/** One thing that happened, for observers of the sandbox. */
export type LogEntry = { n: number; at: number } & LogEvent

export type LogEvent =
  /** What went wrong behind the scenes, such as a full disk. */
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

/** What was sent one way: headers by their names in lowercase, and the text of the body; null where it is empty, unread or no text. */
export interface Message {
  headers: Readonly<Record<string, string>>
  body: string | null
}

/** A call, or an attempt to deliver. `response` is what the service answered, before a fault changed it; null where it did not. */
export interface Exchange {
  request: Message
  response: Message | null
}

/** Characters of a body that are logged. */
export const maxLoggedBody = 65_536

/** Headers whose value is a credential, also where it is none of this sandbox; with what is shown instead. */
const credentialHeaders: Readonly<Record<string, string>> = {
  'x-service-api-key': '[API key]',
  authorization: '[credentials]',
  'proxy-authorization': '[credentials]',
  cookie: '[credentials]',
}

/** The record of an attempt to deliver. */
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

/** The latest entries, in order. */
export class Log {
  readonly #size: number
  readonly #known: () => Iterable<readonly [name: string, value: string]>
  readonly #secrets = new Secrets()
  readonly #entries: LogEntry[] = []
  /** Indexed like their entries; made on demand, as most are never looked at. */
  readonly #exchanges: ((() => Exchange) | undefined)[] = []
  readonly #subscribers = new Set<(entry: LogEntry) => void>()
  #count = 0

  /** `known`: what a caller may put into a path and is not logged; it grows as keys are renewed. */
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

  /** Entries from number `from` on, as far as they are still stored; oldest first. */
  entries(from = 0): LogEntry[] {
    const first = Math.max(from, this.#count - this.#size)
    const length = Math.max(0, this.#count - first)
    return Array.from({ length }, (_, index) => this.#entries[(first + index) % this.#size]).filter(
      (entry) => entry !== undefined,
    )
  }

  /** What was sent for an entry, whole: it may hold keys. Undefined where the entry has none or is stored no more. */
  exchange(n: number): Exchange | undefined {
    if (this.#entries[n % this.#size]?.n !== n) return undefined
    return this.#exchanges[n % this.#size]?.()
  }

  /** The same without keys, secrets and tokens of report URLs. */
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

  /** Returns what ends the subscription. */
  subscribe(subscriber: (entry: LogEntry) => void): () => void {
    this.#subscribers.add(subscriber)
    return () => void this.#subscribers.delete(subscriber)
  }
}

/** Keys, secrets and what controls it, also of keys that were revoked. */
export function* secretsIn(
  { keys, organisations }: Pick<State, 'keys' | 'organisations'>,
  reach?: { controlToken: string },
): Generator<readonly [name: string, value: string]> {
  for (const key of keys.keys()) yield ['API key', key]
  for (const { webhook_secret: secret } of organisations.values()) yield ['webhook secret', secret]
  if (reach !== undefined) yield ['control token', reach.controlToken]
}

/** The first entry to come that fits; undefined where none does within `ms` of real time, or `signal` ends the wait. */
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
