import { AssertionError } from 'node:assert'

import { UsageError } from '../errors/kinds.ts'
import { systemClock } from '../host/clock.ts'
import { interceptCalls } from '../http/intercept.ts'
import { checkedInjection } from '../sandbox/service/schemas.ts'
import { createSandbox, type Sandbox as Embedded } from '../sandbox/control/embedded.ts'
import { ManualClock } from '../sandbox/control/manual-clock.ts'
import { parseFixture, readRules } from '../sandbox/control/read-inputs.ts'
import { httpDeliver } from '../sandbox/service/delivery.ts'
import type { LogEntry } from '../sandbox/service/log.ts'
import { type Connection, listen, type Listener } from '../server/listen.ts'
import type { CheckRequest } from './types.ts'

export type { CheckRequest } from './types.ts'

export interface SandboxOptions {
  /** Default: a free one. */
  port?: number | undefined
  /** Ids, keys and random draws follow from it. Default: a random one. */
  seed?: string | undefined
  /** `manual`: time passes by `advance` alone. Default `real`. */
  clock?: 'real' | 'manual' | undefined
  /** How many times faster than the clock requests progress; default 1. */
  speed?: number | undefined
  /** Default: 60 calls in 60 seconds, and 1,000 in 3,600; an empty list for no limit. */
  quota?: readonly { calls: number; seconds: number }[] | undefined
  /** Where events are posted. Default: they are captured, see `webhooks`. */
  webhookUrl?: string | undefined
  /** People, packages and keys instead of the built-in ones, in the form of `sandbox start --fixture`. */
  fixture?: object | undefined
  /** Choices among what the API's document leaves open, `name=choice`. */
  rules?: readonly string[] | undefined
}

/** What goes wrong with the calls that come: `sandbox inject --help` shows examples. */
export type SandboxFault =
  | {
      kind: 'status'
      status: number
      /** Whether the call has its effect: an order answered `after` it was created. */
      when: 'before' | 'after'
      body?: 'envelope' | 'html' | 'empty'
      message?: string
      retryAfter?: string
    }
  | { kind: 'cut' | 'hang'; when: 'before' | 'after' }
  /** The answer takes longer, by the sandbox's clock: a manual one has to be advanced. */
  | { kind: 'latency'; ms: number; when: 'before' | 'after' }
  | { kind: 'no-id' }
  | { kind: 'content-type'; value: string }
  | { kind: 'truncated'; keep: number; announced: boolean }
  | { kind: 'body'; body: string; status?: number; contentType?: string }
  | { kind: 'switch'; switch: string }

export type SandboxInjection =
  /** The next requests created go by a scenario, such as `declined`. */
  | { scenario: string; times?: number; after?: number }
  /** `on`: method and route, such as `POST /v1/requests`, `GET /v1/requests/:id`, `GET *`. */
  | { on: string; fault: SandboxFault; times?: number; after?: number }

export interface SandboxDelivery {
  id: string
  request_id: string
  status: string
  /** The exact text that is posted. */
  body: string
  state: 'waiting' | 'delivered' | 'given_up'
  attempts: number
  /** The HTTP status of the last attempt, or why there was none. */
  outcome: string | null
}

/** Headers by their names in lowercase, and the text of the body: the first 64 KiB; null where it is empty or a PDF. */
export interface SandboxMessage {
  headers: Readonly<Record<string, string>>
  body: string | null
}

/** A call as it came, whole: keys are not masked, unlike in `sandbox logs`. */
export interface SandboxCall {
  method: string
  /** Without the query. */
  path: string
  /** What the service answered, before a fault changed it; null where it did not. */
  status: number | null
  request: SandboxMessage
  response: SandboxMessage | null
}

export interface CapturedWebhook {
  headers: Record<string, string>
  /** The exact bytes, as `verify` of refcheck/webhook wants them. */
  body: Uint8Array
  signature: string
}

/** The parts of an order that a test cares about; what is left out may be anything. */
export interface ExpectedOrder {
  package_id?: number | undefined
  recipient?: Partial<Record<'first_name' | 'last_name' | 'email' | 'phone', string>> | undefined
  additional_information?: readonly { code: string; fields: Readonly<Record<string, unknown>> }[] | undefined
}

/** The whole service on a port of this machine, for a test. Several run side by side. */
export interface Sandbox {
  /** No slash at the end. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly userEmail: string
  readonly webhookSecret: string
  /** Back to the beginning: no request, no fault, a fresh quota, nothing captured. */
  reset(): void
  /** Moves a manual clock, and everything with it. Throws UsageError under the real one. */
  advance(ms: number): Promise<void>
  /** Makes calls, or the requests they create, go wrong; returns what takes it back. */
  inject(injection: SandboxInjection): () => void
  clearFaults(): void
  /** Every request there is, oldest first, as a client would read it now. */
  requests(): CheckRequest[]
  /** The last thousand calls that came, oldest first. */
  calls(): SandboxCall[]
  /**
   * Throws an AssertionError of Node, with a line for each difference, unless exactly these orders were placed, in this
   * order. An empty list: nothing was ordered.
   */
  expectOrdered(expected: readonly ExpectedOrder[]): void
  /**
   * Serves a base URL, such as `https://api.example.com`, from this sandbox: calls of this process to it by `fetch`, by
   * undici's global dispatcher and by clients of refcheck/client come here, and report URLs lead there. Other calls are
   * unchanged, and so are those of node:http and of a dispatcher that is not the global one. It ends with the function
   * that it returns, or with `close`. Throws UsageError where `url` is not an http or https URL.
   */
  intercept(url: string): () => void
  /** Every delivery that waits, and the last thousand that are over. */
  deliveries(): SandboxDelivery[]
  /** What was captured where no webhookUrl is set, as it would have been posted. */
  webhooks(): CapturedWebhook[]
  /** Where events are posted from now on; null captures them. */
  setWebhook(url: string | null): void
  setCredits(credits: number | null): void
  setUserActive(email: string, active: boolean): void
  /** Revokes the key; the new one, which `apiKey` is from now on. */
  renewKey(): string
  /** Makes the next turn of a request, or of one of its checks, happen now. */
  advanceRequest(requestId: string, checkId?: string): void
  /** Delivers an event once more. */
  redeliver(deliveryId: string): void
  close(): Promise<void>
}

/** Never called: what is addressed to it is captured. */
const captureUrl = 'https://captured.invalid/'

/** Starts a sandbox. Throws InvalidInputError for a fixture or rule that is none, IoError for a port that is taken. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, clock: kind = 'real', fixture, rules, webhookUrl, ...rest } = options
  const clock = kind === 'manual' ? new ManualClock(systemClock.now()) : systemClock
  const captured: CapturedWebhook[] = []
  const post = httpDeliver(clock)
  const sandbox = createSandbox({
    ...rest,
    clock,
    fixture: fixture === undefined ? undefined : parseFixture(JSON.stringify(fixture)),
    rules: readRules(rules ?? []),
    webhookUrl: webhookUrl ?? captureUrl,
    async deliver(url, headers, body, signal) {
      if (url !== captureUrl) return post(url, headers, body, signal)
      const signature = headers['X-Service-Signature'] ?? ''
      captured.push({ headers: { ...headers }, body: Uint8Array.from(body), signature })
      return 200
    },
  })
  const listener = await listen((request, connection) => answer(sandbox, request, connection), {
    port,
    onError: (error) => sandbox.refuse(error),
  }).catch((error: unknown) => {
    sandbox.close()
    throw error
  })
  return handleOf(sandbox, listener, captured)
}

/** A running sandbox as a test holds it. */
function handleOf(sandbox: Embedded, listener: Listener, captured: CapturedWebhook[]): Sandbox {
  let since = 0
  const restores: (() => void)[] = []
  return {
    baseUrl: listener.url,
    get apiKey() {
      return sandbox.credentials.apiKey
    },
    get userEmail() {
      return sandbox.credentials.userEmail
    },
    get webhookSecret() {
      return sandbox.credentials.webhookSecret
    },
    reset() {
      sandbox.reset()
      captured.length = 0
      since = (sandbox.log.entries().at(-1)?.n ?? -1) + 1
    },
    advance: (ms) => sandbox.advance(ms),
    inject: (injection) => sandbox.inject(checkedInjection(injection)),
    clearFaults: () => sandbox.clearFaults(),
    requests: () => sandbox.requests(),
    calls: () =>
      sandbox.log.entries(since).flatMap((entry) => (entry.kind === 'call' ? [callOf(sandbox, entry)] : [])),
    expectOrdered: (expected) => expectOrders(sandbox.snapshot().requests, expected),
    intercept(url) {
      const restore = interceptBase(baseUrlOf(url), listener.url)
      restores.unshift(restore)
      return restore
    },
    deliveries: () =>
      sandbox.deliveries().map(({ id, request_id, status, body, state, attempts, outcome }) => ({
        id,
        request_id,
        status,
        body,
        state,
        attempts,
        outcome,
      })),
    webhooks: () => [...captured],
    setWebhook: (url) => sandbox.setWebhook(url ?? captureUrl),
    setCredits: (credits) => sandbox.setCredits(credits),
    setUserActive: (email, active) => sandbox.setUserActive(email, active),
    renewKey: () => sandbox.renewKey(),
    advanceRequest: (requestId, checkId) => sandbox.advanceRequest(requestId, checkId),
    redeliver: (deliveryId) => sandbox.redeliver(deliveryId),
    async close() {
      for (const restore of restores) restore()
      await listener.close()
      sandbox.close()
    },
  }
}

function callOf({ log }: Embedded, entry: LogEntry & { kind: 'call' }): SandboxCall {
  const { n, method, path, status } = entry
  const nothing = { headers: {}, body: null }
  const { request, response } = log.exchange(n) ?? { request: nothing, response: null }
  return { method, path, status, request, response }
}

/** What precedes the path of a call that was intercepted: with it comes the base URL that was called. */
const interceptedPath = '/_intercepted/'

function interceptBase(base: URL, listenerUrl: string): () => void {
  const prefix = `${listenerUrl}${interceptedPath}${encodeURIComponent(base.href.replace(/\/$/, ''))}`
  return interceptCalls(base, (path) => new URL(`${prefix}${path}`))
}

/** An intercepted call is answered as one to its own URL, as the service at that URL would. */
function answer(sandbox: Embedded, request: Request, connection: Connection): Response | Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (!pathname.startsWith(interceptedPath)) return sandbox.fetch(request, connection)
  const [, , base = '', ...path] = pathname.split('/')
  const publicUrl = decodeURIComponent(base)
  const { origin, host } = new URL(publicUrl)
  const headers = new Headers(request.headers)
  headers.set('Host', host)
  const { method, body } = request
  const init: RequestInit & { duplex: 'half' } = { method, headers, body, duplex: 'half' }
  return sandbox.fetch(new Request(`${origin}/${path.join('/')}${search}`, init), {
    remoteAddress: connection.remoteAddress,
    publicUrl,
    cut: () => connection.cut(),
    cutShort: (status, answered, part) => connection.cutShort(status, answered, part),
  })
}

function baseUrlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url
  throw new UsageError('intercept: not the base URL of a service', {
    hint: 'Give a URL such as https://api.example.com',
  })
}

/**
 * Throws an AssertionError unless exactly these orders were placed, in this order. What an expected order leaves out
 * may be anything. The message has a line for each difference; `actual` and `expected` are there for test frameworks.
 */
function expectOrders(orders: readonly ExpectedOrder[], expected: readonly ExpectedOrder[]): void {
  const actual = orders.map(({ package_id, recipient, additional_information }) => ({
    package_id,
    recipient,
    additional_information,
  }))
  const lines = Array.from({ length: Math.max(actual.length, expected.length) }, (_, index) =>
    compare(index + 1, actual[index], expected[index]),
  ).flat()
  if (lines.length === 0) return
  const message = [
    `expected ${counted(expected.length)}, the sandbox has ${counted(actual.length)}:`,
    ...lines.map((line) => `  ${line}`),
  ].join('\n')
  throw new AssertionError({ message, actual, expected, operator: 'expectOrdered' })
}

const counted = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)

function compare(
  number: number,
  actual: ExpectedOrder | undefined,
  expected: ExpectedOrder | undefined,
): string[] {
  if (expected === undefined) return [`order ${number}: not expected: ${JSON.stringify(actual)}`]
  if (actual === undefined) return [`order ${number}: missing: ${JSON.stringify(expected)}`]
  return differences(`order ${number}`, actual, expected)
}

/** Lists are compared whole, objects by the keys that are expected. */
function differences(path: string, actual: unknown, expected: unknown): string[] {
  if (expected === undefined) return []
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((each, index) => differences(`${path}[${index}]`, actual[index], each))
  }
  if (isObject(expected) && isObject(actual)) {
    return Object.entries(expected).flatMap(([key, value]) =>
      differences(`${path}.${key}`.replace(/^(order \d+)\./, '$1: '), actual[key], value),
    )
  }
  if (Object.is(actual, expected)) return []
  return [`${path}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(actual) ?? 'missing'}`]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
