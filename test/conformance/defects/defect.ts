import type { Package } from '../../../src/contract/package.ts'
import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import type { RequestResource } from '../../../src/contract/request.ts'
import type { User } from '../../../src/contract/user.ts'
import type { Deliver } from '../../../src/sandbox/service/delivery.ts'
import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { Handler } from '../../../src/server/listen.ts'

/** Something wrong with a service, planted into the sandbox, and the case that must notice. */
export interface Defect {
  name: string
  caughtBy: string
  /** What answers in the sandbox's place. */
  around?: ((sandbox: Sandbox) => Handler) | undefined
  /** What delivers events in its place; `send` is how they really travel. */
  deliver?: ((send: Deliver, secret: () => string) => Deliver) | undefined
  /** Whether recipients are known that lead to CANCELLED and ERROR. */
  endings?: boolean | undefined
  /** Another topic whose cases have to run for it to show. */
  also?: string | undefined
  /** Whether the windows of the quota are small, and named. */
  tight?: boolean | undefined
}

/** An answer in the envelope, to be changed in place. */
export interface Reply {
  status: number
  headers: Headers
  body: { data: unknown; status_message: string; message: string } & Record<string, unknown>
}

/** Answers as the sandbox does, but for what `change` does to its JSON. */
export function onJson(sandbox: Sandbox, change: (reply: Reply, request: Request) => void): Handler {
  return async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    if (answer.headers.get('Content-Type') !== 'application/json') return answer
    const body = (await answer.json()) as Reply['body']
    const reply: Reply = { status: answer.status, headers: new Headers(answer.headers), body }
    change(reply, request)
    return new Response(JSON.stringify(reply.body), { status: reply.status, headers: reply.headers })
  }
}

type Change<T> = (data: T, request: Request) => void

/** The same for the data of successful reads of one kind. */
function onData(sandbox: Sandbox, path: RegExp, change: Change<unknown>): Handler {
  return onJson(sandbox, ({ status, body }, request) => {
    if (status === 200 && path.test(pathOf(request))) change(body.data, request)
  })
}

export const onUsers = (sandbox: Sandbox, change: Change<User[]>): Handler =>
  onData(sandbox, /^\/v1\/users$/, (data, request) => change((data as { users: User[] }).users, request))

export const onPackages = (sandbox: Sandbox, change: Change<Package[]>): Handler =>
  onData(sandbox, /^\/v1\/packages$/, (data, request) =>
    change((data as { packages: Package[] }).packages, request),
  )

export const onSchemas = (sandbox: Sandbox, change: Change<PackageSchema>): Handler =>
  onData(sandbox, schemaPath, (data, request) => change(data as PackageSchema, request))

export const onReads = (sandbox: Sandbox, change: Change<RequestResource>): Handler =>
  onData(sandbox, requestPath, (data, request) => change(data as RequestResource, request))

/** Answers as the sandbox does to a request that `change` makes of the one that came. */
export function onRequest(
  sandbox: Sandbox,
  change: (url: URL, headers: Headers, method: string) => void,
): Handler {
  return async (request, connection) => {
    const url = new URL(request.url)
    const headers = new Headers(request.headers)
    change(url, headers, request.method)
    const body = request.method === 'POST' ? await request.arrayBuffer() : null
    headers.delete('Content-Length')
    return sandbox.fetch(new Request(url, { method: request.method, headers, body }), connection)
  }
}

/** Accepts an order that the sandbox refuses with this message, as if it had been the last good one. */
export function accepting(sandbox: Sandbox, refusal: RegExp): Handler {
  let good = ''
  const send = (request: Request, body: string): Response | Promise<Response> => {
    const headers = new Headers(request.headers)
    headers.delete('Content-Length')
    headers.set('Content-Type', 'application/json')
    return sandbox.fetch(new Request(request.url, { method: 'POST', headers, body }))
  }
  return async (request, connection) => {
    if (request.method !== 'POST') return sandbox.fetch(request, connection)
    const sent = await request.text()
    const headers = new Headers(request.headers)
    headers.delete('Content-Length')
    const answer = await sandbox.fetch(new Request(request.url, { method: 'POST', headers, body: sent }))
    const { message } = (await answer.clone().json()) as Reply['body']
    if (answer.status === 201) good = sent
    return refusal.test(message) ? send(request, good) : answer
  }
}

export const pathOf = (request: Request): string => new URL(request.url).pathname

export const requestPath = /^\/v1\/requests\/./
export const schemaPath = /^\/v1\/packages\/\d+\/schema$/

/** An answer in the envelope, of no service. */
export function answerOf(status: number, data: unknown, message = ''): Response {
  const statusMessage = status < 300 ? 'ok' : status < 500 ? 'client_error' : 'server_error'
  return Response.json(
    { data, status_message: statusMessage, message },
    { status, headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache', Expires: '0' } },
  )
}
