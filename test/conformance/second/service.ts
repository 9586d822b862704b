import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import express from 'express'

import { home, keys, packs, secret, users } from './data.ts'
import { Events } from './events.ts'
import { type Asked, type Knobs, lawful, type Reply } from './knobs.ts'
import {
  coursesOf,
  type Fault,
  formFaults,
  informationFaults,
  type Order,
  statusAt,
  turns,
} from './orders.ts'
import { Quota, type Window } from './quota.ts'
import { pdf, requestData, userData, packageData, schemaData } from './views.ts'

export interface SecondOptions {
  knobs?: Partial<Knobs> | undefined
  windows?: readonly Window[] | undefined
  /** Where time goes by itself: how much faster requests go than stated. Otherwise it stands still but for `advance`. */
  speed?: number | undefined
}

/** An answer that ends a call. */
class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const start = Date.parse('2026-05-04T08:00:00.250Z')

/** The second service: everything in memory. */
export class SecondService {
  readonly knobs: Knobs
  readonly events: Events
  readonly orders = new Map<string, Order>()
  readonly users = users()
  readonly packs = packs()
  readonly keys: { key: string; organisation: string }[]
  /** What an organisation's plan lacks. */
  plan = 'good'
  fails = 0
  base = ''
  #now = start
  readonly speed: number | undefined
  readonly #quota: Quota
  #server: ReturnType<ReturnType<typeof express>['listen']> | undefined
  #ticker: ReturnType<typeof setInterval> | undefined

  constructor({ knobs, windows, speed }: SecondOptions = {}) {
    this.knobs = { ...lawful, ...knobs }
    this.speed = speed
    this.keys = Object.entries(keys).map(([organisation, key]) => ({ key, organisation }))
    this.#quota = new Quota(this.knobs, windows ?? [{ calls: 1e6, ms: 3_600_000 }])
    this.events = new Events(this.knobs, secret, () => this.now())
  }

  now(): number {
    return this.speed === undefined ? this.#now : Date.now()
  }

  /** Milliseconds a request has been going for. */
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
      const headers = request.headers as Asked['headers']
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
    const { port: own } = server.address() as AddressInfo
    this.base = `http://127.0.0.1:${own}`
    if (this.speed !== undefined) this.#ticker = setInterval(() => this.#tick(), 20)
  }

  async close(): Promise<void> {
    clearInterval(this.#ticker)
    this.events.close()
    this.#server?.closeAllConnections()
    await new Promise((resolve) => this.#server?.close(resolve))
  }

  /** Lets time go by, where it stands still. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      this.#tick()
      await this.events.waitForAnswers()
      const next = Math.min(this.#nextTurn(), this.events.next())
      if (next > until) break
      this.#now = Math.max(this.#now, next)
    }
    this.#now = until
  }

  #nextTurn(): number {
    const all = [...this.orders.values()].flatMap((order) => turns(order).map((age) => order.createdAt + age))
    return Math.min(...all.filter((at) => at > this.#now))
  }

  #tick(): void {
    for (const order of this.orders.values()) {
      const age = this.age(order)
      const passed = [0, ...turns(order)].filter((each) => each <= age)
      const statuses = passed.map((each) => statusAt(order, each, this.knobs))
      const changes = statuses.filter((status, at) => status !== statuses[at - 1])
      for (const status of changes.slice(order.announcedCount)) {
        this.events.send(order.id, status, status === 'ERROR' ? 'partner said no' : undefined)
      }
      order.announcedCount = changes.length
    }
    this.events.tick()
  }

  #answer(asked: Asked): Reply {
    this.knobs.before?.(asked)
    const reply: Reply = {
      status: 200,
      headers: {
        'Cache-Control': 'no-store',
        Pragma: 'no-cache',
        Expires: '0',
        'Content-Type': 'application/json; charset=utf-8',
      },
      body: { message: '', status_message: 'ok', data: null, ...(this.knobs.extras && { trace: 'abc' }) },
    }
    try {
      this.#route(asked, reply)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      reply.status = error.status
      const status_message = error.status < 500 ? 'client_error' : 'server_error'
      reply.body = { data: null, status_message, message: error.message }
    }
    this.knobs.answer?.(reply, asked)
    return reply
  }

  #route(asked: Asked, reply: Reply): void {
    const { method, path, query } = asked
    const parts = path.split('/').slice(1)
    if (parts[0] !== 'v1') throw new Refused(404, 'nothing is here')
    const is = (verb: string, ...form: string[]): boolean =>
      method === verb &&
      form.length === parts.length &&
      form.every((part, at) => part === '*' || part === parts[at])
    if (is('GET', 'v1', 'ping')) {
      if (this.knobs.counts(asked)) this.#quota.count(asked, this.now())
      return data(reply, { status: 'up' })
    }
    const report = is('GET', 'v1', 'reports', '*') || is('GET', 'v1', 'reports', '*', 'referees', '*')
    if (report && query.has('t')) return this.#report(reply, path, this.#issuer(path, query.get('t') ?? ''))
    const { user, organisation } = this.#caller(asked, reply)
    if (report) return this.#report(reply, path, organisation)
    if (is('GET', 'v1', 'users')) {
      if (this.fails > 0) {
        this.fails -= 1
        throw new Refused(500, 'something broke')
      }
      const all = this.users.filter((each) => each.organisation === organisation && each.active)
      return data(reply, { users: all.reverse().map((each) => userData(each, this.knobs)) })
    }
    if (is('GET', 'v1', 'packages')) return this.#packages(reply, query, organisation, user.role)
    if (is('GET', 'v1', 'packages', '*', 'schema')) {
      const pack = this.#pack(Number(parts[2]), organisation, user.role)
      if (pack === undefined || pack.status === 'DISABLED') throw new Refused(404, 'no such package')
      return data(reply, schemaData(pack))
    }
    if (is('POST', 'v1', 'requests')) return this.#create(asked, reply, organisation, user)
    if (is('GET', 'v1', 'requests', '*')) {
      const order = this.orders.get((parts[2] ?? '').toLowerCase())
      if (order?.organisation !== organisation) throw new Refused(404, 'no such request')
      return data(reply, requestData(order, this))
    }
    throw new Refused(404, 'nothing is here')
  }

  /** The organisation a token was issued by; it must be for this path. */
  #issuer(path: string, token: string): string {
    const [text = '', mac = ''] = token.split('~')
    const [hex = '', until = '0'] = text.split('.')
    const valid = this.sign(text) === mac && Number(until) * 1000 > this.now()
    if (!valid || !this.knobs.opens(path, Buffer.from(hex, 'hex').toString())) {
      throw new Refused(401, 'the link is not valid')
    }
    return home
  }

  sign(text: string): string {
    return createHmac('sha256', 'of tokens').update(text).digest('hex')
  }

  #caller(asked: Asked, reply: Reply) {
    const key = asked.headers['x-service-api-key']
    const email = asked.headers['x-service-user-email']
    if (key === undefined || email === undefined) throw new Refused(401, 'headers are missing')
    const organisation = this.keys.find((each) => each.key === key)?.organisation
    if (organisation === undefined) throw new Refused(401, 'this key is not valid')
    const left = this.#quota.count(asked, this.now())
    if (left !== undefined) {
      const seconds = this.knobs.retryAfter(left)
      if (seconds !== undefined) reply.headers['Retry-After'] = seconds
      throw new Refused(429, 'too many calls')
    }
    const user = this.users.find((each) => each.email === email.toLowerCase())
    if (user?.organisation !== organisation || !user.active) throw new Refused(403, 'not a member')
    return { user, organisation }
  }

  #pack(id: number, organisation: string, role: string) {
    return this.packs.find(
      (each) => each.id === id && each.organisation === organisation && each.roles.includes(role),
    )
  }

  #packages(reply: Reply, query: URLSearchParams, organisation: string, role: string): void {
    const status = query.get('status')
    if (status !== null && !['active', 'inactive', 'disabled'].includes(status)) {
      throw new Refused(400, 'status: must be active, inactive or disabled')
    }
    const id = query.get('id')
    const found = this.packs
      .filter((each) => each.organisation === organisation && each.roles.includes(role))
      .filter((each) => status === null || each.status.toLowerCase() === status)
      .filter((each) => id === null || !/^\d+$/.test(id) || each.id === Number(id))
    this.packs.push(...this.packs.splice(0, 1))
    data(reply, { packages: found.map((each) => packageData(each, this.knobs)) })
  }

  #create(asked: Asked, reply: Reply, organisation: string, user: { role: string; email: string }): void {
    if (!(asked.headers['content-type'] ?? '').startsWith('application/json')) {
      throw new Refused(400, 'Content-Type: must be application/json')
    }
    let body: Record<string, unknown>
    try {
      body = JSON.parse(asked.body) as Record<string, unknown>
    } catch {
      throw new Refused(400, 'body: cannot be read as JSON')
    }
    if (user.role === 'support' && this.knobs.noCreate !== 201) {
      throw new Refused(this.knobs.noCreate, 'your role does not permit this')
    }
    this.#refuse(formFaults(body, this.knobs))
    const pack = this.#pack(Number(body['package_id']), organisation, user.role)
    if (pack === undefined || pack.status === 'DISABLED') throw new Refused(404, 'no such package')
    if (pack.status === 'INACTIVE') this.#refuse([{ path: ['package_id'], reason: 'is not active' }])
    this.#refuse(informationFaults(body, pack, this.knobs))
    if (this.plan !== 'good') throw new Refused(403, this.plan)
    const recipient = body['recipient'] as Record<string, string>
    const count = pack.checks.length + (pack.survey === null ? 0 : 1)
    const order: Order = {
      id: randomUUID(),
      organisation,
      pack,
      createdAt: this.now(),
      requester: user.email,
      recipient,
      checkIds: Array.from({ length: count }, () => randomUUID()),
      ...coursesOf(recipient['email'] ?? '', count),
      announcedCount: 0,
    }
    this.orders.set(order.id, order)
    reply.status = 201
    data(reply, { status: 'RECEIVED', request_id: order.id })
  }

  #refuse(faults: Fault[]): void {
    const left = faults.filter(({ path, reason }) => {
      const text = `${path.join('.')} ${reason}`
      return this.knobs.forgive?.test(text) !== true
    })
    const fault = this.knobs.reportedFault === 'first' ? left[0] : left.at(-1)
    if (fault !== undefined) throw new Refused(400, `${this.knobs.writePath(fault.path)}: ${fault.reason}`)
  }

  #report(reply: Reply, path: string, organisation: string): void {
    const [, , , checkId, , refereeId] = path.split('/')
    for (const order of this.orders.values()) {
      if (order.organisation !== organisation) continue
      const { checks } = requestData(order, this)
      const check = checks.find(({ id }) => id === checkId)
      if (check === undefined) continue
      const holder =
        refereeId === undefined ? check : check.references?.find(({ referee_id }) => referee_id === refereeId)
      if (typeof holder?.report_pdf_url !== 'string') break
      reply.headers['Content-Type'] = 'application/pdf'
      reply.body = pdf(path)
      return
    }
    throw new Refused(404, 'no such report')
  }
}

function data(reply: Reply, value: unknown): void {
  if (!Buffer.isBuffer(reply.body)) reply.body.data = value
}
