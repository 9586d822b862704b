import { AssertionError } from 'node:assert'

import { isJsonObject } from '../contract/parse-json.ts'
import { UsageError } from '../errors/kinds.ts'
import { systemClock } from '../host/clock.ts'
import { interceptCalls } from '../http/intercept.ts'
import { parseInjection } from '../sandbox/service/schemas.ts'
import { createSandbox, type Sandbox as Embedded } from '../sandbox/control/embedded.ts'
import { ManualClock } from '../sandbox/control/manual-clock.ts'
import { parseFixture, parseRules } from '../sandbox/control/read-inputs.ts'
import { httpDeliver } from '../sandbox/service/delivery.ts'
import type { LogEntry } from '../sandbox/service/log.ts'
import { type Connection, listen, type Listener } from '../server/listen.ts'
import type { CheckRequest } from './types.ts'

export type { CheckRequest } from './types.ts'

export interface SandboxOptions {
  /** Port to listen on; default: a free one. */
  port?: number | undefined
  /** Seed of ids, keys and random values; default: a random one. */
  seed?: string | undefined
  /** `manual`: time passes only by `advance`. Default `real`. */
  clock?: 'real' | 'manual' | undefined
  /** Factor by which requests progress faster than the clock; default 1. */
  speed?: number | undefined
  /** Windows of the quota; an empty list for no limit. Default: 60 calls in 60 seconds, and 1,000 in 3,600. */
  quota?: readonly { calls: number; seconds: number }[] | undefined
  /** URL to which events are posted. By default they are captured, see `webhooks`. */
  webhookUrl?: string | undefined
  /** People, packages and keys that replace the built-in ones, in the form of `sandbox start --fixture`. */
  fixture?: object | undefined
  /** Choices where the API's document leaves a rule open, as `name=choice`. */
  rules?: readonly string[] | undefined
}

/** A fault of the calls that arrive; `sandbox inject --help` shows examples. */
export type SandboxFault =
  | {
      kind: 'status'
      status: number
      /**
       * `after`: the call has its effect first, for example an order is created and then answered with the status.
       */
      when: 'before' | 'after'
      body?: 'envelope' | 'html' | 'empty'
      message?: string
      retryAfter?: string
    }
  | { kind: 'cut' | 'hang'; when: 'before' | 'after' }
  /** Delays the response, by the sandbox's clock: a manual clock must be advanced. */
  | { kind: 'latency'; ms: number; when: 'before' | 'after' }
  /** The response is a 201 without a request_id. */
  | { kind: 'no-id' }
  | { kind: 'content-type'; value: string }
  /**
   * Sends only the share `keep` (0 to 1) of the body. With `announced`, Content-Length states the full length and the
   * connection is closed.
   */
  | { kind: 'truncated'; keep: number; announced: boolean }
  | { kind: 'body'; body: string; status?: number; contentType?: string }
  /** Makes a permanent change before the call, such as `revoke-key`. */
  | { kind: 'switch'; switch: string }

/**
 * `times`: the number of calls or requests that it applies to, default 1. `after`: the number of calls or requests that
 * are skipped first, default 0.
 */
export type SandboxInjection =
  /** The next requests that are created follow a scenario, such as `declined`. */
  | { scenario: string; times?: number; after?: number }
  /** `on` is a method and route, such as `POST /v1/requests`, `GET /v1/requests/:id`, `GET *`. */
  | { on: string; fault: SandboxFault; times?: number; after?: number }

export interface SandboxDelivery {
  id: string
  request_id: string
  status: string
  /** The exact text of the body. */
  body: string
  state: 'waiting' | 'delivered' | 'given_up'
  attempts: number
  /** HTTP status of the last attempt, or why there was no response. */
  outcome: string | null
}

/** Headers by names in lowercase, and the text of the body up to 64 KiB; null if it is empty or a PDF. */
export interface SandboxMessage {
  headers: Readonly<Record<string, string>>
  body: string | null
}

/** A call with its headers and bodies; keys are not masked, unlike in `sandbox logs`. */
export interface SandboxCall {
  method: string
  /** The path without the query. */
  path: string
  /** Status of the service's response before a fault changed it; null if there was none. */
  status: number | null
  request: SandboxMessage
  response: SandboxMessage | null
}

export interface CapturedWebhook {
  headers: Record<string, string>
  /** The exact bytes, as `verify` of refcheck/webhook needs them. */
  body: Uint8Array
  signature: string
}

/** The parts of an order that a test checks; omitted parts may have any value. */
export interface ExpectedOrder {
  package_id?: number | undefined
  recipient?: Partial<Record<'first_name' | 'last_name' | 'email' | 'phone', string>> | undefined
  additional_information?: readonly { code: string; fields: Readonly<Record<string, unknown>> }[] | undefined
}

/** The whole service on a port of this machine, for a test. Several sandboxes can run at once. */
export interface Sandbox {
  /** URL of the sandbox without a slash at the end. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly userEmail: string
  readonly webhookSecret: string
  /** Resets to the initial state: no requests, no faults, an unused quota, nothing captured. */
  reset(): void
  /** Advances a manual clock; everything that becomes due happens. Throws a UsageError with the real clock. */
  advance(ms: number): Promise<void>
  /** Makes calls, or the requests that they create, fail; returns a function that undoes the injection. */
  inject(injection: SandboxInjection): () => void
  clearFaults(): void
  /** All requests, oldest first, as a client would read them now. */
  requests(): CheckRequest[]
  /** The last thousand calls, oldest first. */
  calls(): SandboxCall[]
  /**
   * Throws Node's AssertionError, with a line per difference, unless exactly these orders were placed in this
   * sequence. With an empty list, nothing may have been ordered.
   */
  expectOrdered(expected: readonly ExpectedOrder[]): void
  /**
   * Serves a base URL, such as `https://api.example.com`, from this sandbox. Calls of this process to it by `fetch`,
   * by undici's global dispatcher and by clients of refcheck/client go to the sandbox, and its report URLs begin with
   * the base URL. Other calls are unchanged, including those of node:http and of other dispatchers. Calling the
   * returned function or `close` ends it. Throws a UsageError if `url` is not an http or https URL.
   */
  intercept(url: string): () => void
  /** All waiting deliveries and the last thousand completed ones. */
  deliveries(): SandboxDelivery[]
  /** The deliveries captured without a webhookUrl, as they would have been posted. */
  webhooks(): CapturedWebhook[]
  /** Sets the URL to which events are posted; null captures them. */
  setWebhook(url: string | null): void
  setCredits(credits: number | null): void
  setUserActive(email: string, active: boolean): void
  /** Revokes the API key and returns the new one, which `apiKey` has from then on. */
  renewKey(): string
  /** Performs the next transition of a request, or of one of its checks, now. */
  advanceRequest(requestId: string, checkId?: string): void
  /** Delivers an event again. */
  redeliver(deliveryId: string): void
  close(): Promise<void>
}

/** URL that is never called: deliveries to it are captured. */
const captureUrl = 'https://captured.invalid/'

/**
 * Starts a sandbox. Throws an InvalidInputError for an invalid fixture or rule, and an IoError for a port that is in
 * use.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, clock: clockKind = 'real', fixture, rules, webhookUrl, ...rest } = options
  const clock = clockKind === 'manual' ? new ManualClock(systemClock.now()) : systemClock
  const captured: CapturedWebhook[] = []
  const postEvent = httpDeliver(clock)
  const sandbox = createSandbox({
    ...rest,
    clock,
    fixture: fixture === undefined ? undefined : parseFixture(JSON.stringify(fixture)),
    rules: parseRules(rules ?? []),
    webhookUrl: webhookUrl ?? captureUrl,
    async deliver(url, headers, body, signal) {
      if (url !== captureUrl) return postEvent(url, headers, body, signal)
      const signature = headers['X-Service-Signature'] ?? ''
      captured.push({ headers: { ...headers }, body: Uint8Array.from(body), signature })
      return 200
    },
  })
  const listener = await listen((request, connection) => answerCall(sandbox, request, connection), {
    port,
    onError: (error) => sandbox.respondToFailure(error),
  }).catch((error: unknown) => {
    sandbox.close()
    throw error
  })
  return createHandle(sandbox, listener, captured)
}

/** Returns the interface of a running sandbox for tests. */
function createHandle(sandbox: Embedded, listener: Listener, captured: CapturedWebhook[]): Sandbox {
  let firstEntryNumber = 0
  const endInterceptions: (() => void)[] = []
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
      firstEntryNumber = (sandbox.log.entries().at(-1)?.n ?? -1) + 1
    },
    advance: (ms) => sandbox.advance(ms),
    inject: (injection) => sandbox.inject(parseInjection(injection)),
    clearFaults: () => sandbox.clearFaults(),
    requests: () => sandbox.requests(),
    calls: () =>
      sandbox.log
        .entries(firstEntryNumber)
        .flatMap((entry) => (entry.kind === 'call' ? [toSandboxCall(sandbox, entry)] : [])),
    expectOrdered: (expected) => expectOrders(sandbox.snapshot().requests, expected),
    intercept(url) {
      const restore = interceptBase(parseInterceptedUrl(url), listener.url)
      endInterceptions.unshift(restore)
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
      for (const restore of endInterceptions) restore()
      await listener.close()
      sandbox.close()
    },
  }
}

function toSandboxCall({ log }: Embedded, entry: LogEntry & { kind: 'call' }): SandboxCall {
  const { n, method, path, status } = entry
  const emptyMessage = { headers: {}, body: null }
  const { request, response } = log.exchange(n) ?? { request: emptyMessage, response: null }
  return { method, path, status, request, response }
}

/** Start of the path of an intercepted call; the base URL that was called follows it. */
const interceptedPath = '/_intercepted/'

function interceptBase(base: URL, listenerUrl: string): () => void {
  const prefix = `${listenerUrl}${interceptedPath}${encodeURIComponent(base.href.replace(/\/$/, ''))}`
  return interceptCalls(base, (path) => new URL(`${prefix}${path}`))
}

/** Answers a call; an intercepted one as if it had been sent to its own URL. */
function answerCall(
  sandbox: Embedded,
  request: Request,
  connection: Connection,
): Response | Promise<Response> {
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
    sendPartAndClose: (status, responseHeaders, part) =>
      connection.sendPartAndClose(status, responseHeaders, part),
  })
}

function parseInterceptedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url
  throw new UsageError('intercept: not the base URL of a service', {
    hint: 'Give a URL such as https://api.example.com',
  })
}

/**
 * Throws an AssertionError unless exactly these orders were placed in this sequence; parts that an expected order
 * omits may have any value. The message has a line per difference; `actual` and `expected` are for test frameworks.
 */
function expectOrders(orders: readonly ExpectedOrder[], expected: readonly ExpectedOrder[]): void {
  const actual = orders.map(({ package_id, recipient, additional_information }) => ({
    package_id,
    recipient,
    additional_information,
  }))
  const lines = Array.from({ length: Math.max(actual.length, expected.length) }, (_, index) =>
    compareOrder(index + 1, actual[index], expected[index]),
  ).flat()
  if (lines.length === 0) return
  const message = [
    `expected ${formatOrderCount(expected.length)}, the sandbox has ${formatOrderCount(actual.length)}:`,
    ...lines.map((line) => `  ${line}`),
  ].join('\n')
  throw new AssertionError({ message, actual, expected, operator: 'expectOrdered' })
}

const formatOrderCount = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)

function compareOrder(
  number: number,
  actual: ExpectedOrder | undefined,
  expected: ExpectedOrder | undefined,
): string[] {
  if (expected === undefined) return [`order ${number}: not expected: ${JSON.stringify(actual)}`]
  if (actual === undefined) return [`order ${number}: missing: ${JSON.stringify(expected)}`]
  return listDifferences(`order ${number}`, actual, expected)
}

/** Compares lists by all entries, and objects by the expected keys only. */
function listDifferences(path: string, actual: unknown, expected: unknown): string[] {
  if (expected === undefined) return []
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((each, index) => listDifferences(`${path}[${index}]`, actual[index], each))
  }
  if (isJsonObject(expected) && isJsonObject(actual)) {
    return Object.entries(expected).flatMap(([key, value]) =>
      listDifferences(`${path}.${key}`.replace(/^(order \d+)\./, '$1: '), actual[key], value),
    )
  }
  if (Object.is(actual, expected)) return []
  return [`${path}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(actual) ?? 'missing'}`]
}
