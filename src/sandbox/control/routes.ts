import { hash, timingSafeEqual } from 'node:crypto'

import { type Context, Hono } from 'hono'
import { z } from 'zod'

import { formatIssues } from '../../contract/issue-words.ts'
import { isLoopbackHost } from '../../contract/url.ts'
import { RefcheckError, InvalidInputError } from '../../errors/kinds.ts'
import type { Connection } from '../../server/listen.ts'
import { clearTextRefusal, type Reach } from '../service/gateway.ts'
import { controlPath } from './client.ts'
import { orderControls, readControls } from './controls.ts'
import type { Sandbox } from './sandbox.ts'

/*
 * The control API, by which another process controls a running sandbox. It is outside the service and its quotas.
 * Bodies are JSON; failures are `{error: {code, message, hint}}`. `controlRefusal` decides who may call it.
 */

interface ControlEnv {
  Bindings: { sandbox: Sandbox }
}

const noControl = { code: 'not_found', message: 'unknown control' }

const app = new Hono<ControlEnv>().basePath(controlPath.slice(0, -1))

app.on(
  'GET',
  ['/page.css', '/page.js'],
  async ({ req }) => (await pages()).serveAsset(req.path) ?? failed(404, noControl),
)
for (const { name, read } of readControls) {
  app.get(`/${name}`, async ({ env, req }) =>
    json(await read(env.sandbox, (query) => Number(req.query(query) ?? 0) || 0, req.raw.signal)),
  )
}
for (const { name, bodySchema, isCheckedByRun, run } of orderControls) {
  app.post(`/${name}`, async (context) => {
    const order = await body(context, isCheckedByRun ? z.unknown() : bodySchema)
    const done = await run(context.env.sandbox, order)
    return json(done ?? {})
  })
}

app.notFound(() => failed(404, noControl))
app.onError((error) => {
  if (!(error instanceof RefcheckError)) throw error
  return failed(400, { code: error.code, message: error.message, hint: error.hint })
})

/** Responds with the page for `/`, and to authorised calls below `controlPath`. */
export function control(
  sandbox: Sandbox,
  request: Request,
  connection: Connection,
  reach?: Reach,
): Response | Promise<Response> {
  const refused = controlRefusal(request, connection, reach)
  if (refused !== undefined) return failed(refused.status, refused.error)
  return new URL(request.url).pathname === '/'
    ? pages().then(({ servePage }) => servePage(sandbox))
    : app.fetch(request, { sandbox })
}

/** The page's module, with its stylesheet and script, is loaded at the first visit. */
const pages = () => import('./page.ts')

/**
 * Reads the body of a call. Only JSON is accepted, because a page of another origin cannot send it without a
 * preflight request.
 */
async function body<T>({ req }: Context<ControlEnv>, schema: z.ZodType<T>): Promise<T> {
  if (req.header('Content-Type')?.split(';')[0]?.trim() !== 'application/json') {
    throw new InvalidInputError('Content-Type: must be application/json')
  }
  const given: unknown = await req.json().catch(() => {
    throw new InvalidInputError('the body is not valid JSON')
  })
  const parsed = schema.safeParse(given, formatIssues)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new InvalidInputError(`${path === '' ? 'body' : path}: ${issue?.message ?? ''}`)
}

function json(value: unknown): Response {
  return Response.json(value, { headers: { 'Cache-Control': 'no-store' } })
}

function failed(
  status: number,
  error: { code: string; message: string; hint?: string | undefined },
): Response {
  // With this header, a browser asks the user for the token as for a password.
  const asks = status === 401 ? { 'WWW-Authenticate': 'Basic realm="refcheck sandbox", charset="UTF-8"' } : {}
  return Response.json({ error }, { status, headers: { 'Cache-Control': 'no-store', ...asks } })
}

/** Why a caller may not control a sandbox: a status and the `error` of the response. */
interface ControlRefusal {
  status: 400 | 401 | 403
  error: { code: string; message: string; hint?: string }
}

const foreign: ControlRefusal = {
  status: 403,
  error: { code: 'forbidden', message: 'a sandbox is controlled from its own machine only' },
}

/**
 * Returns why a call may not control the sandbox; undefined if it may. A call is allowed from the sandbox's own
 * machine, unless a page of another origin sends it. If other machines can reach the sandbox, a call needs the token,
 * which programs send as a bearer token and browsers as a password.
 */
function controlRefusal(
  request: Request,
  { remoteAddress }: Connection,
  reach: Reach | undefined,
): ControlRefusal | undefined {
  const url = new URL(request.url)
  const origin = request.headers.get('Origin')
  if (reach === undefined) {
    const local = isLoopbackHost(remoteAddress.replace(/^::ffff:/, '')) && isLoopbackHost(url.hostname)
    return !local || (origin !== null && origin !== url.origin) ? foreign : undefined
  }
  const own = [url.origin, reach.publicUrl === undefined ? url.origin : new URL(reach.publicUrl).origin]
  if (origin !== null && !own.includes(origin)) return foreign
  if (clearTextRefusal(request.url, remoteAddress, reach) !== undefined) {
    return { status: 400, error: { code: 'usage', message: 'plain HTTP requests are rejected; use HTTPS' } }
  }
  if (isToken(shown(request.headers.get('Authorization')), reach.controlToken)) return undefined
  return {
    status: 401,
    error: {
      code: 'unauthenticated',
      message: 'the control token of the sandbox is missing or wrong',
      hint: 'Set REFCHECK_SANDBOX_TOKEN to the control_token that "sandbox start" printed.',
    },
  }
}

function shown(authorization: string | null): string {
  const [, scheme = '', credentials = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? []
  if (scheme.toLowerCase() !== 'basic') return credentials
  return Buffer.from(credentials, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '')
}

function isToken(given: string, token: string): boolean {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(given), digest(token))
}
