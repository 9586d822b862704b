import type { Package } from '../../../src/contract/package.ts'
import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import type { RequestResource } from '../../../src/contract/request.ts'
import type { User } from '../../../src/contract/user.ts'
import type { Deliver } from '../../../src/sandbox/service/delivery.ts'
import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { Handler } from '../../../src/server/listen.ts'

/** An error of a service, simulated in front of the sandbox, and the conformance case that must fail because of it. */
export interface Defect {
  name: string
  caughtBy: string
  /** Creates the handler that answers instead of the sandbox. */
  createHandler?: ((sandbox: Sandbox) => Handler) | undefined
  /** Creates the function that delivers events instead of the sandbox; `send` delivers an event by HTTP. */
  createDeliver?: ((send: Deliver, secret: () => string) => Deliver) | undefined
  /** Whether the run gets recipients whose requests end with CANCELLED or ERROR. */
  needsEndings?: boolean | undefined
  /** The id of another case that has to run so that the case `caughtBy` meets the defect. */
  alsoRuns?: string | undefined
}

/** A JSON answer in the envelope of the API. A defect changes its properties. */
export interface Reply {
  status: number
  headers: Headers
  body: { data: unknown; status_message: string; message: string } & Record<string, unknown>
}

/** Returns a handler that lets `change` change each JSON answer of the sandbox. */
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

/** Returns a handler that lets `change` change the data of each answer with status 200 on a path. */
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

type RequestChange = (url: URL, headers: Headers, method: string) => void

/** Returns a handler that lets `change` change each request before it is forwarded to the sandbox. */
export function onRequest(sandbox: Sandbox, change: RequestChange): Handler {
  return async (request, connection) => {
    const url = new URL(request.url)
    const headers = new Headers(request.headers)
    change(url, headers, request.method)
    const body = request.method === 'POST' ? await request.arrayBuffer() : null
    headers.delete('Content-Length')
    return sandbox.fetch(new Request(url, { method: request.method, headers, body }), connection)
  }
}

/** Returns a function that creates defects by a change of what passes a handler. */
const createDefectBuilder =
  <T>(createHandler: (sandbox: Sandbox, change: T) => Handler) =>
  (name: string, caughtBy: string, change: T): Defect => ({
    name,
    caughtBy,
    createHandler: (sandbox) => createHandler(sandbox, change),
  })

export const createReplyDefect = createDefectBuilder(onJson)
export const createUsersDefect = createDefectBuilder(onUsers)
export const createPackagesDefect = createDefectBuilder(onPackages)
export const createSchemaDefect = createDefectBuilder(onSchemas)
export const createReadDefect = createDefectBuilder(onReads)
export const createCallDefect = createDefectBuilder(onRequest)

/**
 * Returns a handler that accepts orders that the sandbox refuses with this message. It sends the last accepted order
 * again instead, and returns the answer to it.
 */
export function acceptRefused(sandbox: Sandbox, refusal: RegExp): Handler {
  let lastAccepted = ''
  const sendOrder = (request: Request, body: string): Response | Promise<Response> => {
    const headers = new Headers(request.headers)
    headers.delete('Content-Length')
    headers.set('Content-Type', 'application/json')
    return sandbox.fetch(new Request(request.url, { method: 'POST', headers, body }))
  }
  return async (request, connection) => {
    if (request.method !== 'POST') return sandbox.fetch(request, connection)
    const order = await request.text()
    const headers = new Headers(request.headers)
    headers.delete('Content-Length')
    const answer = await sandbox.fetch(new Request(request.url, { method: 'POST', headers, body: order }))
    const { message } = (await answer.clone().json()) as Reply['body']
    if (answer.status === 201) lastAccepted = order
    return refusal.test(message) ? sendOrder(request, lastAccepted) : answer
  }
}

export const pathOf = (request: Request): string => new URL(request.url).pathname

export const requestPath = /^\/v1\/requests\/./
export const schemaPath = /^\/v1\/packages\/\d+\/schema$/

/** Returns an answer in the envelope of the API, without a call to the sandbox. */
export function createAnswer(status: number, data: unknown, message = ''): Response {
  const statusMessage = status < 300 ? 'ok' : status < 500 ? 'client_error' : 'server_error'
  return Response.json(
    { data, status_message: statusMessage, message },
    { status, headers: { 'Cache-Control': 'no-store', Pragma: 'no-cache', Expires: '0' } },
  )
}
