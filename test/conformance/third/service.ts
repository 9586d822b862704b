import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import {
  keys,
  type Order,
  type Organisation,
  type Package,
  packages,
  secret,
  listChangeTimes,
  requestStatusAt,
  type User,
  createUsers,
} from './data.ts'
import { findFault } from './faults.ts'
import { packageView, pdf, requestView, schemaView, userView } from './views.ts'

/** An answer. A report has `pdf` instead of `data`. */
export interface Reply {
  status: number
  data?: unknown
  message?: string
  pdf?: string
  headers?: Record<string, string>
}

export interface Call {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  text: string
}

/** A defect changes the call before it is read, the reply before it is written, or a decision of the service. */
export interface Defect {
  name: string
  /** Id of the conformance case that has to fail. */
  caughtBy: string
  beforeCall?: (call: Call) => void
  changeReply?: (reply: Reply, call: Call, service: ThirdService) => void
  /** Returns the event to send in place of the given one; undefined if none is sent. */
  changeEvent?: (event: Record<string, unknown>) => Record<string, unknown> | undefined
  /** Returns the signature of the body of an event. */
  signEvent?: (body: string) => string
  /** The faults of an order that are ignored. */
  ignoredFaults?: RegExp
  /** For how long the token of a report URL is valid. */
  tokenLifetimeMs?: number
  isOverQuota?: (used: number, limit: number) => boolean
}

interface Delivery {
  body: string
  dueAt: number
  attempts: number
  state: 'due' | 'sending' | 'finished'
}

const start = Date.UTC(2026, 4, 4, 8)
const hour = 3_600_000

/**
 * A third implementation of the API document, written without the code of the sandbox, so that the conformance tests are
 * tried on a service that they were not written with.
 */
export class ThirdService {
  readonly orders = new Map<string, Order>()
  readonly users: User[] = createUsers()
  readonly defect: Defect | undefined
  readonly limits: readonly { calls: number; seconds: number }[]
  now = start
  /** The plan of the organisation: `good`, or the problem that orders are refused for, such as `no credits`. */
  plan = 'good'
  webhookUrl: string | undefined
  /** Number of the next reads of users that fail. */
  failingReads = 0
  isKeyRevoked = false
  baseUrl = ''
  readonly #server: Server
  readonly #callCounts = new Map<string, number>()
  readonly #lastEventStatus = new Map<string, string>()
  #deliveries: Delivery[] = []

  constructor(limits: ThirdService['limits'], defect?: Defect) {
    this.limits = limits
    this.defect = defect
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  signToken(path: string, until = this.now + (this.defect?.tokenLifetimeMs ?? hour)): string {
    const mac = createHmac('sha256', 'tokens').update(`${path} ${until}`).digest('base64url')
    return `${until}.${mac}`
  }

  // Calls

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url ?? '/', this.baseUrl)
    const call: Call = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: { ...request.headers },
      text: Buffer.concat(chunks).toString(),
    }
    this.defect?.beforeCall?.(call)
    const reply = this.#createReply(call)
    this.defect?.changeReply?.(reply, call, this)
    write(response, reply)
  }

  #createReply(call: Call): Reply {
    const { path, query } = call
    if (path === '/v1/ping') return { status: 200, data: { status: 'fine', region: 'nowhere' } }
    const report = /^\/v1\/reports\/([^/]+)(?:\/referees\/([^/]+))?$/.exec(path)
    const token = query.get('t')
    if (report !== null && token !== null) {
      const until = Number(token.split('.')[0])
      const isValid = token === this.signToken(path, until) && until > this.now
      return isValid ? this.#findReport(path, 'home') : refuse(401, 'this link is not valid (any more)')
    }
    if (!/^\/v1\/(packages|requests|reports|users)(\/|$)/.test(path)) return refuse(404, 'nothing is here')
    const caller = this.#authenticate(call)
    if ('status' in caller) return caller
    if (report !== null) return this.#findReport(path, caller.organisation)
    if (path === '/v1/users') return this.#listUsers(caller)
    if (path.startsWith('/v1/packages')) return this.#answerPackages(call, caller)
    if (call.method === 'POST') return this.#createRequest(call, caller)
    const order = this.orders.get(path.slice('/v1/requests/'.length).toLowerCase())
    if (order === undefined || order.package.organisation !== caller.organisation)
      return refuse(404, 'there is no such request')
    return { status: 200, data: requestView(order, this) }
  }

  #authenticate({ headers }: Call): User | Reply {
    const key = headers['x-service-api-key']
    const email = String(headers['x-service-user-email'] ?? '').toLowerCase()
    const organisation: Organisation | undefined =
      key === keys.home && !this.isKeyRevoked ? 'home' : key === keys.far ? 'far' : undefined
    if (organisation === undefined || email === '') return refuse(401, 'who is calling?')
    const user = this.users.find(
      (each) => each.organisation === organisation && each.email === email && each.active,
    )
    if (user === undefined) return refuse(403, 'that user is none of yours')
    const waits = this.limits.flatMap(({ calls, seconds }) => {
      const window = `${organisation} ${seconds} ${Math.floor(this.now / 1000 / seconds)}`
      const used = (this.#callCounts.get(window) ?? 0) + 1
      this.#callCounts.set(window, used)
      const isOver = this.defect?.isOverQuota?.(used, calls) ?? used > calls
      return isOver ? [seconds - ((this.now / 1000) % seconds)] : []
    })
    if (waits.length === 0) return user
    return { ...refuse(429, 'not so fast'), headers: { 'RETRY-AFTER': `${Math.ceil(Math.max(...waits))}` } }
  }

  #listUsers(caller: User): Reply {
    if (this.failingReads > 0) {
      this.failingReads -= 1
      return refuse(503, 'we are sorry')
    }
    const activeUsers = this.users.filter(
      ({ organisation, active }) => organisation === caller.organisation && active,
    )
    return {
      status: 200,
      data: { total: activeUsers.length, users: activeUsers.map((user) => userView(user, this.users)) },
    }
  }

  #answerPackages({ path, query }: Call, caller: User): Reply {
    const visible = packages.filter((pack) => canSee(caller, pack))
    const id = /^\/v1\/packages\/([^/]+)\/schema$/.exec(path)?.[1]
    if (id !== undefined) {
      const pack = visible.find((each) => String(each.id) === id)
      if (pack !== undefined) return { status: 200, data: schemaView(pack) }
      return packages.some((each) => each.organisation === caller.organisation && String(each.id) === id)
        ? refuse(403, 'that package is not for you')
        : refuse(404, 'there is no such package')
    }
    const [status, idFilter] = [query.get('status'), query.get('id')]
    if (status !== null && !['active', 'inactive', 'disabled'].includes(status)) {
      return refuse(400, 'query.status: try active, inactive or disabled')
    }
    const found = visible
      .filter((pack) => status === null || pack.status.toLowerCase() === status)
      .filter((pack) => idFilter === null || String(pack.id) === idFilter)
    return { status: 200, data: { packages: found.map(packageView) } }
  }

  #createRequest(call: Call, caller: User): Reply {
    if (!/^application\/json\b/i.test(call.headers['content-type'] ?? '')) {
      return refuse(400, 'Content-Type: only application/json is read')
    }
    if (!caller.mayCreate) return refuse(403, 'you may only look')
    if (this.plan !== 'good') return refuse(403, `the account: ${this.plan}`)
    const body = parseJson(call.text)
    const id = (body as { package_id?: unknown } | null)?.package_id
    const pack = packages.find((each) => each.id === id && canSee(caller, each))
    const fault = findFault(body, pack, this.defect?.ignoredFaults)
    if (fault !== undefined) return refuse(400, fault)
    if (pack === undefined || pack.status === 'DISABLED') return refuse(404, 'there is no such package')
    const { recipient } = body as { recipient: Record<string, string> }
    const order: Order = {
      id: randomUUID(),
      package: pack,
      requester: caller.email,
      recipient,
      orderedAt: this.now,
    }
    this.orders.set(order.id, order)
    this.#lastEventStatus.set(order.id, 'RECEIVED')
    return { status: 201, data: { status: 'RECEIVED', request_id: order.id.toUpperCase(), queue: 'slow' } }
  }

  #findReport(path: string, organisation: Organisation): Reply {
    for (const order of this.orders.values()) {
      if (
        order.package.organisation === organisation &&
        JSON.stringify(requestView(order, this)).includes(`${path}?t=`)
      ) {
        return { status: 200, pdf }
      }
    }
    return refuse(404, 'there is no such report')
  }

  // Time and events

  async advance(ms: number): Promise<void> {
    const until = this.now + ms
    for (;;) {
      await this.#deliver()
      const next = Math.min(
        ...[...this.orders.values()].flatMap(listChangeTimes).filter((time) => time > this.now),
        ...this.#deliveries.filter(({ state }) => state === 'due').map(({ dueAt }) => dueAt),
      )
      if (next > until) break
      this.now = Math.max(this.now, next)
    }
    this.now = until
  }

  /**
   * Sends an event two minutes after each change. A delivery is repeated after an error status, and not after a redirect
   * or without an answer.
   */
  async #deliver(): Promise<void> {
    for (const order of this.orders.values()) {
      const status = requestStatusAt(order, this.now)
      if (this.#lastEventStatus.get(order.id) === status) continue
      this.#lastEventStatus.set(order.id, status)
      const fields = { sent: 'by the third', status, request_id: order.id, event: 'request.updated' }
      const reason = status === 'ERROR' ? { error_reason: 'no partner took it' } : {}
      const event =
        this.defect?.changeEvent === undefined
          ? { ...fields, ...reason }
          : this.defect.changeEvent({ ...fields, ...reason })
      if (event !== undefined) {
        const body = `\n${JSON.stringify(event, null, 4)}\n`
        this.#deliveries.push({ body, dueAt: this.now + 120_000, attempts: 0, state: 'due' })
      }
    }
    const due = this.#deliveries.filter((each) => each.state === 'due' && each.dueAt <= this.now)
    await Promise.race([Promise.all(due.map((each) => this.#send(each))), sleep(due.length > 0 ? 300 : 0)])
    this.#deliveries = this.#deliveries.filter(({ state }) => state !== 'finished')
  }

  async #send(delivery: Delivery): Promise<void> {
    delivery.state = 'sending'
    delivery.attempts += 1
    const sign =
      this.defect?.signEvent ?? ((body: string) => createHmac('sha256', secret).update(body).digest('hex'))
    const headers = {
      'content-type': 'Application/JSON;charset=utf-8',
      'x-service-signature': sign(delivery.body),
    }
    const status =
      this.webhookUrl === undefined
        ? 200
        : await fetch(this.webhookUrl, {
            method: 'POST',
            body: delivery.body,
            headers,
            redirect: 'manual',
          }).then(
            (answer) => answer.status,
            () => 200,
          )
    const shouldRetry = status >= 400 && delivery.attempts < 6
    Object.assign(delivery, shouldRetry ? { state: 'due', dueAt: this.now + 45_000 } : { state: 'finished' })
  }
}

export function refuse(status: number, message: string): Reply {
  return { status, data: null, message }
}

const canSee = (user: User, pack: Package): boolean =>
  user.organisation === pack.organisation && (!pack.ownersOnly || user.role === 'Owner')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Writes an answer in pieces, with white space, an unusual order of fields and unusual capitals of headers. */
function write(
  response: ServerResponse,
  { status, data = null, message = '', pdf: report, headers }: Reply,
): void {
  const statusMessage = status < 400 ? 'ok' : status < 500 ? 'client_error' : 'server_error'
  const text = JSON.stringify({ trace: 'x-3', message, status_message: statusMessage, data }, null, '\t')
  const body = Buffer.from(report ?? `\r\n ${text}\n\n`)
  response.writeHead(status, {
    'CACHE-CONTROL': 'no-store, max-age=0',
    pRaGmA: 'No-Cache',
    expires: '0',
    'cOnTeNt-TyPe': report === undefined ? 'application/json;  Charset="utf-8"' : 'Application/PDF',
    'X-Powered-By': 'third',
    ...headers,
  })
  response.write(body.subarray(0, 7))
  response.write(body.subarray(7, 40))
  response.end(body.subarray(40))
}
