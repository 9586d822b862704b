import { hash, timingSafeEqual } from 'node:crypto'

import { type Context, Hono } from 'hono'
import { z } from 'zod'

import { formatIssues } from '../../contract/issue-words.ts'
import { isLoopbackHost } from '../../contract/url.ts'
import { RefcheckError, InvalidInputError } from '../../errors/kinds.ts'
import type { Connection } from '../../server/listen.ts'
import { refusePlainHttp, type RemoteAccess } from '../service/gateway.ts'
import { controlPath } from './client.ts'
import { postControls, getControls } from './controls.ts'
import type { Sandbox } from './sandbox.ts'

/*
 * The control API, by which another process controls a running sandbox. It is not part of the service and uses no
 * quota. Bodies are JSON; failures are `{error: {code, message, hint}}`. `findRefusal` decides who may call it.
 */

interface ControlEnv {
  Bindings: { sandbox: Sandbox }
}

const unknownControl = { code: 'not_found', message: 'unknown control' }

const app = new Hono<ControlEnv>().basePath(controlPath.slice(0, -1))

app.on(
  'GET',
  ['/page.css', '/page.js'],
  async ({ req }) => (await loadPage()).serveAsset(req.path) ?? createFailureResponse(404, unknownControl),
)
for (const { name, read } of getControls) {
  app.get(`/${name}`, async ({ env, req }) =>
    jsonResponse(await read(env.sandbox, (query) => Number(req.query(query) ?? 0) || 0, req.raw.signal)),
  )
}
for (const { name, bodySchema, isCheckedByRun, run } of postControls) {
  app.post(`/${name}`, async (context) => {
    const body = await readBody(context, isCheckedByRun ? z.unknown() : bodySchema)
    const result = await run(context.env.sandbox, body)
    return jsonResponse(result ?? {})
  })
}

app.notFound(() => createFailureResponse(404, unknownControl))
app.onError((error) => {
  if (!(error instanceof RefcheckError)) throw error
  return createFailureResponse(400, { code: error.code, message: error.message, hint: error.hint })
})

/** Responds with the page for `/`, and to authorised calls below `controlPath`. */
export function handleControl(
  sandbox: Sandbox,
  request: Request,
  connection: Connection,
): Response | Promise<Response> {
  const refusal = findRefusal(request, connection, sandbox.remoteAccess)
  if (refusal !== undefined) return createFailureResponse(refusal.status, refusal.error)
  return new URL(request.url).pathname === '/'
    ? loadPage().then(({ servePage }) => servePage(sandbox))
    : app.fetch(request, { sandbox })
}

/**
 * Loads the module of the page, which contains its stylesheet and script. It is only loaded when the page is
 * requested.
 */
const loadPage = () => import('./page.ts')

/**
 * Reads the body of a call. Only JSON is accepted, because a page of another origin cannot send it without a
 * preflight request.
 */
async function readBody<T>({ req }: Context<ControlEnv>, schema: z.ZodType<T>): Promise<T> {
  if (req.header('Content-Type')?.split(';')[0]?.trim() !== 'application/json') {
    throw new InvalidInputError('Content-Type: must be application/json')
  }
  const json: unknown = await req.json().catch(() => {
    throw new InvalidInputError('the body is not valid JSON')
  })
  const result = schema.safeParse(json, formatIssues)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new InvalidInputError(`${path === '' ? 'body' : path}: ${issue?.message ?? ''}`)
}

function jsonResponse(value: unknown): Response {
  return Response.json(value, { headers: { 'Cache-Control': 'no-store' } })
}

function createFailureResponse(
  status: number,
  error: { code: string; message: string; hint?: string | undefined },
): Response {
  // With this header, a browser asks the user for the token as for a password.
  const authenticateHeader =
    status === 401 ? { 'WWW-Authenticate': 'Basic realm="refcheck sandbox", charset="UTF-8"' } : {}
  return Response.json({ error }, { status, headers: { 'Cache-Control': 'no-store', ...authenticateHeader } })
}

/** Reason why a caller may not control the sandbox: a status and the `error` of the response. */
interface ControlRefusal {
  status: 400 | 401 | 403
  error: { code: string; message: string; hint?: string }
}

const foreignCaller: ControlRefusal = {
  status: 403,
  error: { code: 'forbidden', message: 'a sandbox is controlled from its own machine only' },
}

/**
 * Returns the reason why a call may not control the sandbox; undefined if it may. A call is allowed from the
 * sandbox's own machine, unless a page of another origin sends it. If other machines can reach the sandbox, a call
 * needs the token, which programs send as a bearer token and browsers as a password.
 */
function findRefusal(
  request: Request,
  { remoteAddress }: Connection,
  remoteAccess: RemoteAccess | undefined,
): ControlRefusal | undefined {
  const url = new URL(request.url)
  const origin = request.headers.get('Origin')
  if (remoteAccess === undefined) {
    const isLocal = isLoopbackHost(remoteAddress.replace(/^::ffff:/, '')) && isLoopbackHost(url.hostname)
    return !isLocal || (origin !== null && origin !== url.origin) ? foreignCaller : undefined
  }
  const ownOrigins = [
    url.origin,
    remoteAccess.publicUrl === undefined ? url.origin : new URL(remoteAccess.publicUrl).origin,
  ]
  if (origin !== null && !ownOrigins.includes(origin)) return foreignCaller
  if (refusePlainHttp(request.url, remoteAddress, remoteAccess) !== undefined) {
    return { status: 400, error: { code: 'usage', message: 'plain HTTP requests are rejected; use HTTPS' } }
  }
  if (isToken(readToken(request.headers.get('Authorization')), remoteAccess.controlToken)) return undefined
  return {
    status: 401,
    error: {
      code: 'unauthenticated',
      message: 'the control token of the sandbox is missing or wrong',
      hint: 'Set REFCHECK_SANDBOX_TOKEN to the control_token that "sandbox start" printed.',
    },
  }
}

function readToken(authorization: string | null): string {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? []
  if (scheme.toLowerCase() !== 'basic') return credentials
  return Buffer.from(credentials, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '')
}

function isToken(candidate: string, token: string): boolean {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(candidate), digest(token))
}
