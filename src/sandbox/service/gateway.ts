import { BlockList, isIP } from 'node:net'

import { Hono } from 'hono'

import { isLoopbackHost } from '../../contract/url.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Connection } from '../../server/listen.ts'
import type { Call, CallEnv } from './call.ts'
import { createFailureResponse, readBody, Refusal, findText } from './answer.ts'
import type { Fault, FaultInjection } from './schemas.ts'
import { appliesBeforeService, applyFault, Injections, takeFault } from './faults.ts'
import { addListRoutes } from './lists.ts'
import { type Log, maxLoggedBody, type Message } from './log.ts'
import { addReportRoutes } from './reports.ts'
import { addRequestRoutes } from './requests.ts'
import type { Service } from './service.ts'
import type { PermanentChange } from './rules.ts'

interface GatewayOptions {
  service: Service
  clock: Clock
  log: Log
  /** Called for an injected fault that changes the sandbox permanently, such as `revoke-key`. */
  onPermanentChange: (name: PermanentChange) => void
  /** How other machines reach the sandbox; undefined if it can be reached only from this machine. */
  remoteAccess?: RemoteAccess | undefined
}

/** A call with its request and connection. */
interface CallContext {
  request: Request
  method: string
  path: string
  connection: Connection
  call: Call
}

/** Passes calls to the service, refuses those by plain HTTP, applies injected faults and logs. */
export class Gateway {
  readonly faults = new Injections<FaultInjection>()
  readonly #options: GatewayOptions
  readonly #app = createServiceApp()
  readonly #closeController = new AbortController()

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  fetch(request: Request, connection: Connection): Response | Promise<Response> {
    const { service, clock, onPermanentChange, remoteAccess } = this.#options
    const { method, url } = request
    const call: Call = {
      service,
      now: clock.now(),
      publicUrl: connection.publicUrl ?? remoteAccess?.publicUrl,
    }
    const context: CallContext = { request, method, path: readPath(url), connection, call }
    const refusal = refusePlainHttp(url, connection.remoteAddress, remoteAccess)
    if (refusal !== undefined) return this.#respond(refusal, undefined, context)
    const fault = takeFault(this.faults, method, context.path)
    if (fault?.kind === 'latency') return this.#respondWithDelay(fault, context)
    if (fault !== undefined && appliesBeforeService(fault)) {
      this.#log(undefined, fault, context)
      return applyFault(fault, undefined, connection)
    }
    if (fault?.kind === 'switch') onPermanentChange(fault.switch)
    const responseFault = fault?.kind === 'switch' ? undefined : fault
    const answer = this.#app.fetch(request, call)
    // A read is answered at once. The service sets `scenarioFault` before the promise is resolved.
    return answer instanceof Promise
      ? answer.then((resolved) => this.#respond(resolved, responseFault ?? call.scenarioFault, context))
      : this.#respond(answer, responseFault, context)
  }

  /** Ends the delays of latency faults. */
  close(): void {
    this.#closeController.abort()
  }

  /** Returns the response of a call after a `latency` fault has delayed it by the sandbox's clock. */
  async #respondWithDelay(fault: Fault & { kind: 'latency' }, context: CallContext): Promise<Response> {
    const { clock } = this.#options
    const { request, call } = context
    const wait = (): Promise<void> =>
      clock.sleep(fault.ms, this.#closeController.signal).catch(() => undefined)
    if (fault.when === 'before') {
      await wait()
      call.now = clock.now()
    }
    const answer = await this.#app.fetch(request, call)
    if (fault.when === 'after') await wait()
    return this.#respond(answer, call.scenarioFault ?? fault, context)
  }

  /** Logs a call and returns its response with the fault applied. */
  #respond(answer: Response, fault: Fault | undefined, context: CallContext): Response | Promise<Response> {
    this.#log(answer, fault, context)
    return fault === undefined ? answer : applyFault(fault, answer, context.connection)
  }

  #log(answer: Response | undefined, fault: Fault | undefined, context: CallContext): void {
    const { request, method, path, call } = context
    const { headers } = request
    if (call.body === undefined && method !== 'GET' && !request.bodyUsed) void readBodyForLog(request, call)
    // The part is copied, because a slice keeps the whole body in memory: a thousand bodies of 1 MiB would need a
    // gigabyte.
    const { body } = call
    if (body && body.length > maxLoggedBody) call.body = Buffer.from(body.slice(0, maxLoggedBody)).toString()
    this.#options.log.add(
      call.now,
      { kind: 'call', method, path, status: answer?.status ?? null, fault: fault?.kind ?? null },
      () => ({
        request: toMessage(headers, call.body),
        response: answer === undefined ? null : toMessage(answer.headers, findText(answer)),
      }),
    )
  }
}

/**
 * Reads a small body that the service did not read, such as the body of a call without a key, for the log. The
 * response does not wait for it.
 */
async function readBodyForLog(request: Request, call: Call): Promise<void> {
  call.body = await readBody(request, '64 KiB').catch(() => null)
}

function toMessage(headers: Headers, body: string | null | undefined): Message {
  return { headers: Object.fromEntries(headers), body: body ? body.slice(0, maxLoggedBody) : null }
}

/** The connection of a call that comes from this process. Cutting it throws a TypeError. */
export const noConnection: Connection = {
  remoteAddress: '127.0.0.1',
  cut() {
    throw new TypeError('the connection was cut')
  },
  sendPartAndClose() {
    throw new TypeError('the connection was cut')
  },
}

/** Returns the path of an absolute URL without its query; faster than parsing the URL. */
export function readPath(url: string): string {
  const pathStart = url.indexOf('/', 'https://'.length)
  const queryStart = url.indexOf('?', pathStart)
  return queryStart === -1 ? url.slice(pathStart) : url.slice(pathStart, queryStart)
}

/**
 * Creates the application with the endpoints of the document; for any other path the response is a 404 in the
 * envelope.
 */
function createServiceApp(): Hono<CallEnv> {
  const app = new Hono<CallEnv>()
  addListRoutes(app)
  addRequestRoutes(app)
  addReportRoutes(app)
  app.notFound(() => createFailureResponse(404, 'resource not found'))
  app.onError((error) =>
    error instanceof Refusal
      ? createFailureResponse(error.status, error.message, error.headers)
      : createFailureResponse(500, 'internal server error'),
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
export function parseNetworks(texts: readonly string[], source: string): Networks {
  const list = new BlockList()
  list.addSubnet('127.0.0.0', 8, 'ipv4')
  list.addAddress('::1', 'ipv6')
  let hasV6 = false
  for (const text of texts) {
    const [address = '', prefixText, ...surplusParts] = text.split('/')
    const version = isIP(address)
    const maxBits = version === 6 ? 128 : 32
    const prefixLength =
      prefixText === undefined ? maxBits : /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : -1
    if (version === 0 || surplusParts.length > 0 || prefixLength < 0 || prefixLength > maxBits) {
      throw new UsageError(`${source}: "${text.slice(0, 60)}" is not a network`, {
        hint: 'Give an address and the length of its prefix, such as 172.16.0.0/12.',
      })
    }
    list.addSubnet(address, prefixLength, version === 6 ? 'ipv6' : 'ipv4')
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

/** The settings of a sandbox that other machines can reach. */
export interface RemoteAccess {
  /** Networks from which plain http is accepted, and to which events may be sent by it. */
  networks: Networks
  /** Base URL of a proxy in front of the sandbox, without a slash at the end; report URLs begin with it. */
  publicUrl: string | undefined
  /** Token for the control API. */
  controlToken: string
}

/**
 * Returns the refusal of plain HTTP ("HTTPS only; plain HTTP requests are rejected"), unless the call comes from this
 * machine or from a network in `remoteAccess`.
 */
export function refusePlainHttp(
  url: string,
  remoteAddress: string,
  remoteAccess: RemoteAccess | undefined,
): Response | undefined {
  if (!url.startsWith('http:')) return undefined
  if (remoteAccess === undefined) {
    // Parsing the URL takes longer than this comparison, which is enough for most clients.
    if (/^http:\/\/(?:127\.0\.0\.1|localhost):/.test(url)) return undefined
    if (isLoopbackHost(new URL(url).hostname)) return undefined
  } else if (remoteAccess.networks.has(remoteAddress)) return undefined
  return createFailureResponse(400, 'plain HTTP requests are rejected; use HTTPS')
}
