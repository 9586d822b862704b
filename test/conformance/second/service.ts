import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import express from 'express'

import { homeOrganisation, keys, createPackages, secret, createUsers } from './data.ts'
import { Events } from './events.ts'
import { type Call, type Behaviour, documentedBehaviour, type Reply } from './behaviour.ts'
import {
  createCheckCourses,
  type Fault,
  findFormFaults,
  findInformationFaults,
  type Order,
  requestStatusAt,
  listChangeAges,
} from './orders.ts'
import { Quota, type Window } from './quota.ts'
import { createPdf, requestData, userData, packageData, schemaData } from './views.ts'

export interface SecondOptions {
  /** Deviations from the documented behaviour. */
  behaviour?: Partial<Behaviour> | undefined
  /** The windows of the quota. */
  windows?: readonly Window[] | undefined
  /** Factor by which requests progress faster than the machine's clock. If undefined, only `advance` moves the clock. */
  speed?: number | undefined
}

/** Thrown to end a call with this status and message. */
class CallRefusedError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const start = Date.parse('2026-05-04T08:00:00.250Z')

/**
 * A service that implements the API document without the code of the sandbox, and stores everything in memory. The
 * conformance suite is tested on it.
 */
export class SecondService {
  readonly behaviour: Behaviour
  readonly events: Events
  readonly orders = new Map<string, Order>()
  readonly users = createUsers()
  readonly packages = createPackages()
  readonly keys: { key: string; organisation: string }[]
  /** The plan of the organisation: `good`, or the problem that orders are refused for, such as `no credits`. */
  plan = 'good'
  /** The number of reads of users that will fail. */
  failingReads = 0
  baseUrl = ''
  #now = start
  readonly speed: number | undefined
  readonly #quota: Quota
  #server: ReturnType<ReturnType<typeof express>['listen']> | undefined
  #ticker: ReturnType<typeof setInterval> | undefined

  constructor({ behaviour, windows, speed }: SecondOptions = {}) {
    this.behaviour = { ...documentedBehaviour, ...behaviour }
    this.speed = speed
    this.keys = Object.entries(keys).map(([organisation, key]) => ({ key, organisation }))
    this.#quota = new Quota(this.behaviour, windows ?? [{ calls: 1e6, ms: 3_600_000 }])
    this.events = new Events(this.behaviour, secret, () => this.now())
  }

  now(): number {
    return this.speed === undefined ? this.#now : Date.now()
  }

  /** Returns the age of a request in milliseconds, multiplied by the speed. */
  age(order: Order): number {
    return (this.now() - order.createdAt) * (this.speed ?? 1)
  }

  async listen(port = 0): Promise<void> {
    const app = express()
    app.disable('x-powered-by')
    app.use(express.raw({ type: () => true }))
    app.use((request, response) => {
      const url = new URL(request.originalUrl, 'http://second')
      const body = request.body instanceof Uint8Array ? Buffer.from(request.body).toString() : ''
      const headers = request.headers as Call['headers']
      const reply = this.#answer({
        method: request.method,
        path: url.pathname,
        query: url.searchParams,
        headers,
        body,
      })
      response.status(reply.status).set(reply.headers)
      response.send(Buffer.isBuffer(reply.body) ? reply.body : JSON.stringify(reply.body))
    })
    const server = app.listen(port, '127.0.0.1')
    this.#server = server
    await once(server, 'listening')
    const { port: actualPort } = server.address() as AddressInfo
    this.baseUrl = `http://127.0.0.1:${actualPort}`
    if (this.speed !== undefined) this.#ticker = setInterval(() => this.#sendDueEvents(), 20)
  }

  async close(): Promise<void> {
    clearInterval(this.#ticker)
    this.events.close()
    this.#server?.closeAllConnections()
    await new Promise((resolve) => this.#server?.close(resolve))
  }

  /** Moves the clock of the service forward, and sends the events that become due. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      this.#sendDueEvents()
      await this.events.waitForAnswers()
      const next = Math.min(this.#findNextChange(), this.events.findNextTime())
      if (next > until) break
      this.#now = Math.max(this.#now, next)
    }
    this.#now = until
  }

  #findNextChange(): number {
    const changeTimes = [...this.orders.values()].flatMap((order) =>
      listChangeAges(order).map((age) => order.createdAt + age),
    )
    return Math.min(...changeTimes.filter((time) => time > this.#now))
  }

  #sendDueEvents(): void {
    for (const order of this.orders.values()) {
      const age = this.age(order)
      const changeAges = [0, ...listChangeAges(order)].filter((each) => each <= age)
      const statuses = changeAges.map((each) => requestStatusAt(order, each, this.behaviour))
      const changes = statuses.filter((status, index) => status !== statuses[index - 1])
      for (const status of changes.slice(order.announcedCount)) {
        this.events.send(order.id, status, status === 'ERROR' ? 'partner said no' : undefined)
      }
      order.announcedCount = changes.length
    }
    this.events.sendDue()
  }

  #answer(call: Call): Reply {
    this.behaviour.beforeCall?.(call)
    const reply: Reply = {
      status: 200,
      headers: {
        'Cache-Control': 'no-store',
        Pragma: 'no-cache',
        Expires: '0',
        'Content-Type': 'application/json; charset=utf-8',
      },
      body: {
        message: '',
        status_message: 'ok',
        data: null,
        ...(this.behaviour.hasExtraFields && { trace: 'abc' }),
      },
    }
    try {
      this.#route(call, reply)
    } catch (error) {
      if (!(error instanceof CallRefusedError)) throw error
      reply.status = error.status
      const status_message = error.status < 500 ? 'client_error' : 'server_error'
      reply.body = { data: null, status_message, message: error.message }
    }
    this.behaviour.changeReply?.(reply, call)
    return reply
  }

  #route(call: Call, reply: Reply): void {
    const { method, path, query } = call
    const parts = path.split('/').slice(1)
    if (parts[0] !== 'v1') throw new CallRefusedError(404, 'nothing is here')
    const matches = (verb: string, ...pattern: string[]): boolean =>
      method === verb &&
      pattern.length === parts.length &&
      pattern.every((part, index) => part === '*' || part === parts[index])
    if (matches('GET', 'v1', 'ping')) {
      if (this.behaviour.isCounted(call)) this.#quota.count(call, this.now())
      return setData(reply, { status: 'up' })
    }
    const isReport =
      matches('GET', 'v1', 'reports', '*') || matches('GET', 'v1', 'reports', '*', 'referees', '*')
    if (isReport && query.has('t'))
      return this.#sendReport(reply, path, this.#verifyToken(path, query.get('t') ?? ''))
    const { user, organisation } = this.#authenticate(call, reply)
    if (isReport) return this.#sendReport(reply, path, organisation)
    if (matches('GET', 'v1', 'users')) {
      if (this.failingReads > 0) {
        this.failingReads -= 1
        throw new CallRefusedError(500, 'something broke')
      }
      const activeUsers = this.users.filter((each) => each.organisation === organisation && each.active)
      return setData(reply, { users: activeUsers.reverse().map((each) => userData(each, this.behaviour)) })
    }
    if (matches('GET', 'v1', 'packages')) return this.#listPackages(reply, query, organisation, user.role)
    if (matches('GET', 'v1', 'packages', '*', 'schema')) {
      const pack = this.#findPackage(Number(parts[2]), organisation, user.role)
      if (pack === undefined || pack.status === 'DISABLED') throw new CallRefusedError(404, 'no such package')
      return setData(reply, schemaData(pack))
    }
    if (matches('POST', 'v1', 'requests')) return this.#create(call, reply, organisation, user)
    if (matches('GET', 'v1', 'requests', '*')) {
      const order = this.orders.get((parts[2] ?? '').toLowerCase())
      if (order?.organisation !== organisation) throw new CallRefusedError(404, 'no such request')
      return setData(reply, requestData(order, this))
    }
    throw new CallRefusedError(404, 'nothing is here')
  }

  /** Returns the organisation that a token belongs to. Throws if the token is not valid for the path. */
  #verifyToken(path: string, token: string): string {
    const [text = '', mac = ''] = token.split('~')
    const [hex = '', until = '0'] = text.split('.')
    const isValid = this.sign(text) === mac && Number(until) * 1000 > this.now()
    if (!isValid || !this.behaviour.isTokenValidFor(path, Buffer.from(hex, 'hex').toString())) {
      throw new CallRefusedError(401, 'the link is not valid')
    }
    return homeOrganisation
  }

  sign(text: string): string {
    return createHmac('sha256', 'of tokens').update(text).digest('hex')
  }

  #authenticate(call: Call, reply: Reply) {
    const key = call.headers['x-service-api-key']
    const email = call.headers['x-service-user-email']
    if (key === undefined || email === undefined) throw new CallRefusedError(401, 'headers are missing')
    const organisation = this.keys.find((each) => each.key === key)?.organisation
    if (organisation === undefined) throw new CallRefusedError(401, 'this key is not valid')
    const waitMs = this.#quota.count(call, this.now())
    if (waitMs !== undefined) {
      const seconds = this.behaviour.retryAfter(waitMs)
      if (seconds !== undefined) reply.headers['Retry-After'] = seconds
      throw new CallRefusedError(429, 'too many calls')
    }
    const user = this.users.find((each) => each.email === email.toLowerCase())
    if (user?.organisation !== organisation || !user.active) throw new CallRefusedError(403, 'not a member')
    return { user, organisation }
  }

  #findPackage(id: number, organisation: string, role: string) {
    return this.packages.find(
      (each) => each.id === id && each.organisation === organisation && each.roles.includes(role),
    )
  }

  #listPackages(reply: Reply, query: URLSearchParams, organisation: string, role: string): void {
    const status = query.get('status')
    if (status !== null && !['active', 'inactive', 'disabled'].includes(status)) {
      throw new CallRefusedError(400, 'status: must be active, inactive or disabled')
    }
    const id = query.get('id')
    const found = this.packages
      .filter((each) => each.organisation === organisation && each.roles.includes(role))
      .filter((each) => status === null || each.status.toLowerCase() === status)
      .filter((each) => id === null || !/^\d+$/.test(id) || each.id === Number(id))
    this.packages.push(...this.packages.splice(0, 1))
    setData(reply, { packages: found.map((each) => packageData(each, this.behaviour)) })
  }

  #create(call: Call, reply: Reply, organisation: string, user: { role: string; email: string }): void {
    if (!(call.headers['content-type'] ?? '').startsWith('application/json')) {
      throw new CallRefusedError(400, 'Content-Type: must be application/json')
    }
    let body: Record<string, unknown>
    try {
      body = JSON.parse(call.body) as Record<string, unknown>
    } catch {
      throw new CallRefusedError(400, 'body: cannot be read as JSON')
    }
    if (user.role === 'support' && this.behaviour.refusedCreateStatus !== 201) {
      throw new CallRefusedError(this.behaviour.refusedCreateStatus, 'your role does not permit this')
    }
    this.#throwFault(findFormFaults(body, this.behaviour))
    const pack = this.#findPackage(Number(body['package_id']), organisation, user.role)
    if (pack === undefined || pack.status === 'DISABLED') throw new CallRefusedError(404, 'no such package')
    if (pack.status === 'INACTIVE') this.#throwFault([{ path: ['package_id'], reason: 'is not active' }])
    this.#throwFault(findInformationFaults(body, pack, this.behaviour))
    if (this.plan !== 'good') throw new CallRefusedError(403, this.plan)
    const recipient = body['recipient'] as Record<string, string>
    const count = pack.checks.length + (pack.survey === null ? 0 : 1)
    const order: Order = {
      id: randomUUID(),
      organisation,
      package: pack,
      createdAt: this.now(),
      requester: user.email,
      recipient,
      checkIds: Array.from({ length: count }, () => randomUUID()),
      ...createCheckCourses(recipient['email'] ?? '', count),
      announcedCount: 0,
    }
    this.orders.set(order.id, order)
    reply.status = 201
    setData(reply, { status: 'RECEIVED', request_id: order.id })
  }

  #throwFault(faults: Fault[]): void {
    const remaining = faults.filter(({ path, reason }) => {
      const text = `${path.join('.')} ${reason}`
      return this.behaviour.ignoredFaults?.test(text) !== true
    })
    const fault = this.behaviour.reportedFault === 'first' ? remaining[0] : remaining.at(-1)
    if (fault !== undefined)
      throw new CallRefusedError(400, `${this.behaviour.writePath(fault.path)}: ${fault.reason}`)
  }

  #sendReport(reply: Reply, path: string, organisation: string): void {
    const [, , , checkId, , refereeId] = path.split('/')
    for (const order of this.orders.values()) {
      if (order.organisation !== organisation) continue
      const { checks } = requestData(order, this)
      const check = checks.find(({ id }) => id === checkId)
      if (check === undefined) continue
      const reportOwner =
        refereeId === undefined ? check : check.references?.find(({ referee_id }) => referee_id === refereeId)
      if (typeof reportOwner?.report_pdf_url !== 'string') break
      reply.headers['Content-Type'] = 'application/pdf'
      reply.body = createPdf(path)
      return
    }
    throw new CallRefusedError(404, 'no such report')
  }
}

function setData(reply: Reply, value: unknown): void {
  if (!Buffer.isBuffer(reply.body)) reply.body.data = value
}
