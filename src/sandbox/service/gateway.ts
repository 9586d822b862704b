import { failure } from './answer.ts'
import { serviceApp } from './app.ts'
import type { Call } from './call.ts'
import { isLoopbackHost } from '../../contract/loopback.ts'
import { type Fault, Faults } from './faults.ts'
import type { Clock } from '../../host/clock.ts'
import type { Log } from './log.ts'
import type { Connection } from '../../server/listen.ts'
import type { Service } from './service.ts'
import { applyFault, appliesBeforeService } from './apply-fault.ts'
import type { Switch } from './switch-names.ts'

export interface GatewayOptions {
  service: Service
  clock: Clock
  log: Log
  /** Throws a switch that an injected fault stands for. */
  onSwitch: (name: Switch) => void
}

/** One call, as it is handled. */
interface Passage {
  method: string
  path: string
  connection: Connection
  call: Call
}

/** What stands between the network and the service: clear text is refused, faults strike, calls are logged. */
export class Gateway {
  readonly faults = new Faults()
  readonly #options: GatewayOptions
  readonly #app = serviceApp()

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  fetch(request: Request, connection: Connection): Response | Promise<Response> {
    const { service, clock, onSwitch } = this.#options
    const { method, url } = request
    const call: Call = { service, now: clock.now() }
    const passage: Passage = { method, path: pathOf(url), connection, call }
    const refused = clearTextRefusal(url)
    if (refused !== undefined) return this.#logged(refused, passage)
    const fault = this.faults.take(method, passage.path)
    if (fault?.kind === 'switch') {
      onSwitch(fault.switch)
      return this.#settle(this.#app.fetch(request, call), undefined, passage)
    }
    if (fault !== undefined && appliesBeforeService(fault)) return this.#struck(fault, undefined, passage)
    const answer = this.#app.fetch(request, call)
    if (answer instanceof Promise || fault !== undefined) return this.#settle(answer, fault, passage)
    return this.#logged(answer, passage)
  }

  async #settle(
    coming: Response | Promise<Response>,
    fault: Fault | undefined,
    passage: Passage,
  ): Promise<Response> {
    const answer = await coming
    const striking = fault ?? passage.call.fault
    return striking === undefined ? this.#logged(answer, passage) : this.#struck(striking, answer, passage)
  }

  #struck(fault: Fault, answer: Response | undefined, passage: Passage): Response | Promise<Response> {
    const { method, path, connection, call } = passage
    const status = answer?.status ?? null
    this.#options.log.add(call.now, { kind: 'call', method, path, status, fault: fault.kind })
    return applyFault(fault, answer, connection)
  }

  #logged(answer: Response, { method, path, call }: Passage): Response {
    const { status } = answer
    this.#options.log.add(call.now, { kind: 'call', method, path, status, fault: null })
    return answer
  }
}

/** For calls made without a socket: what would cut it is thrown. */
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

/** "HTTPS only; plain HTTP requests are rejected", but for this machine's own address. */
function clearTextRefusal(url: string): Response | undefined {
  if (!url.startsWith('http:') || url.startsWith('http://127.0.0.1:')) return undefined
  const { hostname } = new URL(url)
  return isLoopbackHost(hostname) ? undefined : failure(400, 'plain HTTP requests are rejected; use HTTPS')
}
