import { BlockList, isIP } from 'node:net'

import { Hono } from 'hono'

import { isLoopbackHost } from '../../contract/url.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Connection } from '../../server/listen.ts'
import type { Call, CallEnv } from './call.ts'
import { failure, readBody, Refusal, textOf } from './answer.ts'
import type { Fault } from './schemas.ts'
import { appliesBeforeService, applyFault, Faults } from './faults.ts'
import { addPackageRoutes, addPingRoute, addUserRoute } from './lists.ts'
import { type Log, maxLoggedBody, type Message } from './log.ts'
import { addReportRoutes } from './reports.ts'
import { addRequestRoutes } from './requests.ts'
import type { Service } from './service.ts'
import type { Switch } from './rules.ts'

interface GatewayOptions {
  service: Service
  clock: Clock
  log: Log
  /** Called for an injected fault of the kind `switch`. */
  onSwitch: (name: Switch) => void
  /** How other machines reach the sandbox; undefined if only this machine does. */
  reach?: Reach | undefined
}

/** A call in progress. */
interface Passage {
  request: Request
  method: string
  path: string
  connection: Connection
  call: Call
}

/** Handles all calls around the service: refuses plain HTTP, applies faults and logs. */
export class Gateway {
  readonly faults = new Faults()
  readonly #options: GatewayOptions
  readonly #app = serviceApp()
  readonly #closed = new AbortController()

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  fetch(request: Request, connection: Connection): Response | Promise<Response> {
    const { service, clock, onSwitch, reach } = this.#options
    const { method, url } = request
    const call: Call = { service, now: clock.now(), publicUrl: connection.publicUrl ?? reach?.publicUrl }
    const passage: Passage = { request, method, path: pathOf(url), connection, call }
    const refused = clearTextRefusal(url, connection.remoteAddress, reach)
    if (refused !== undefined) return this.#logged(refused, passage)
    const fault = this.faults.faultFor(method, passage.path)
    if (fault?.kind === 'switch') {
      onSwitch(fault.switch)
      return this.#answerWith(this.#app.fetch(request, call), undefined, passage)
    }
    if (fault?.kind === 'latency') return this.#late(fault, request, passage)
    if (fault !== undefined && appliesBeforeService(fault)) return this.#struck(fault, undefined, passage)
    const answer = this.#app.fetch(request, call)
    if (answer instanceof Promise || fault !== undefined) return this.#answerWith(answer, fault, passage)
    return this.#logged(answer, passage)
  }

  /** Ends the delays of latency faults. */
  close(): void {
    this.#closed.abort()
  }

  /** Answers a call with a delay, by the sandbox's clock. */
  async #late(fault: Fault & { kind: 'latency' }, request: Request, passage: Passage): Promise<Response> {
    const { clock } = this.#options
    const wait = (): Promise<void> => clock.sleep(fault.ms, this.#closed.signal).catch(() => undefined)
    if (fault.when === 'before') {
      await wait()
      passage.call.now = clock.now()
    }
    const answer = await this.#app.fetch(request, passage.call)
    if (fault.when === 'after') await wait()
    return this.#answerWith(answer, passage.call.fault ?? fault, passage)
  }

  async #answerWith(
    coming: Response | Promise<Response>,
    fault: Fault | undefined,
    passage: Passage,
  ): Promise<Response> {
    const answer = await coming
    const striking = fault ?? passage.call.fault
    return striking === undefined ? this.#logged(answer, passage) : this.#struck(striking, answer, passage)
  }

  #struck(fault: Fault, answer: Response | undefined, passage: Passage): Response | Promise<Response> {
    this.#log(answer, fault, passage)
    return applyFault(fault, answer, passage.connection)
  }

  #logged(answer: Response, passage: Passage): Response {
    this.#log(answer, undefined, passage)
    return answer
  }

  #log(answer: Response | undefined, fault: Fault | undefined, passage: Passage): void {
    const { request, method, path, call } = passage
    const { headers } = request
    if (call.body === undefined && method !== 'GET' && !request.bodyUsed) void readUnused(request, call)
    // Copied, because a slice keeps the whole body in memory: a thousand of 1 MiB each would be a gigabyte.
    const { body } = call
    if (body && body.length > maxLoggedBody) call.body = Buffer.from(body.slice(0, maxLoggedBody)).toString()
    this.#options.log.add(
      call.now,
      { kind: 'call', method, path, status: answer?.status ?? null, fault: fault?.kind ?? null },
      () => ({
        request: message(headers, call.body),
        response: answer === undefined ? null : message(answer.headers, textOf(answer)),
      }),
    )
  }
}

/**
 * Reads a small body that the service did not read, as that of a call without a key, for the log. The response does
 * not wait for it.
 */
async function readUnused(request: Request, call: Call): Promise<void> {
  call.body = await readBody(request, '64 KiB').catch(() => null)
}

function message(headers: Headers, body: string | null | undefined): Message {
  const text = body === undefined || body === null || body === '' ? null : body.slice(0, maxLoggedBody)
  return { headers: Object.fromEntries(headers), body: text }
}

/** Connection of calls without a socket; cutting it throws. */
export const detached: Connection = {
  remoteAddress: '127.0.0.1',
  cut() {
    throw new TypeError('the connection was cut')
  },
  cutShort() {
    throw new TypeError('the connection was cut')
  },
}

export function pathOf(url: string): string {
  const start = url.indexOf('/', 'https://'.length)
  const query = url.indexOf('?', start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}

/** Returns the endpoints of the document; for any other path the response is a 404 in the envelope. */
function serviceApp(): Hono<CallEnv> {
  const app = new Hono<CallEnv>()
  addPingRoute(app)
  addPackageRoutes(app)
  addRequestRoutes(app)
  addReportRoutes(app)
  addUserRoute(app)
  app.notFound(() => failure(404, 'resource not found'))
  app.onError((error) =>
    error instanceof Refusal
      ? failure(error.status, error.message, error.headers)
      : failure(500, 'internal server error'),
  )
  return app
}

/** A set of networks, such as those of the containers of a host. */
export interface Networks {
  /** Whether one of the networks is IPv6. */
  readonly hasV6: boolean
  /** Whether an address is in one of the networks or is a loopback address. */
  has(address: string): boolean
}

/**
 * Parses networks such as `172.16.0.0/12` or `fd00::/8`, or single addresses. Throws a UsageError for any other text.
 */
export function networksOf(texts: readonly string[], source: string): Networks {
  const list = new BlockList()
  list.addSubnet('127.0.0.0', 8, 'ipv4')
  list.addAddress('::1', 'ipv6')
  let hasV6 = false
  for (const text of texts) {
    const [address = '', length, ...rest] = text.split('/')
    const version = isIP(address)
    const maxBits = version === 6 ? 128 : 32
    const bits = length === undefined ? maxBits : /^\d{1,3}$/.test(length) ? Number(length) : -1
    if (version === 0 || rest.length > 0 || bits < 0 || bits > maxBits) {
      throw new UsageError(`${source}: "${text.slice(0, 60)}" is not a network`, {
        hint: 'Give an address and the length of its prefix, such as 172.16.0.0/12.',
      })
    }
    list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4')
    hasV6 ||= version === 6
  }
  return {
    hasV6,
    has(address) {
      const version = isIP(address)
      return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4')
    },
  }
}

/** How other machines reach a sandbox. */
export interface Reach {
  /** Networks from which plain http is accepted, and to which events may be sent by it. */
  networks: Networks
  /** Base URL of a proxy in front of the sandbox, without a slash at the end; report URLs begin with it. */
  publicUrl: string | undefined
  /** Token for the control API. */
  controlToken: string
}

/**
 * Returns the refusal of plain HTTP ("HTTPS only; plain HTTP requests are rejected"), unless the call comes from this
 * machine or from a network in `reach`.
 */
export function clearTextRefusal(
  url: string,
  remoteAddress: string,
  reach: Reach | undefined,
): Response | undefined {
  if (!url.startsWith('http:')) return undefined
  if (reach === undefined) {
    if (url.startsWith('http://127.0.0.1:') || isLoopbackHost(new URL(url).hostname)) return undefined
  } else if (reach.networks.has(remoteAddress)) return undefined
  return failure(400, 'plain HTTP requests are rejected; use HTTPS')
}
