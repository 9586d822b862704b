/*
 * How another process controls a running sandbox. Plain JSON, `{error: {code, message, hint}}` on
 * failure, for this machine only, outside the service and its quotas.
 */
import { type Context, Hono } from 'hono'
import { z } from 'zod'

import { isLoopbackHost } from '../../contract/loopback.ts'
import { controlPath } from './control-path.ts'
import { RefcheckError } from '../../errors/base.ts'
import { issueInWords } from '../../contract/issue-words.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { checkedInjection } from './injection.ts'
import { serveAsset, servePage } from './page/serve.ts'
import type { Sandbox } from './sandbox.ts'
import type { Connection } from '../../server/listen.ts'
import { scenarioTable } from '../service/scenarios.ts'
import { switchNames } from '../service/switch-names.ts'
import { checkedSnapshot } from './snapshot.ts'

interface ControlEnv {
  Bindings: { sandbox: Sandbox }
}

const noControl = { code: 'not_found', message: 'unknown control' }

const app = new Hono<ControlEnv>().basePath(controlPath.slice(0, -1))

app.get('/page.css', ({ req }) => serveAsset(req.path) ?? failed(404, noControl))
app.get('/page.js', ({ req }) => serveAsset(req.path) ?? failed(404, noControl))
app.get('/state', ({ env }) => json(env.sandbox.overview()))
app.get('/rules', ({ env }) => json(env.sandbox.rules()))
app.get('/scenarios', () => json(scenarioTable))
app.get('/requests', ({ env }) => json(env.sandbox.requests()))
app.get('/deliveries', ({ env }) => json(env.sandbox.deliveries()))
app.get('/snapshot', ({ env }) => json(env.sandbox.snapshot()))
app.get('/log', ({ env, req }) => json(env.sandbox.log.entries(Number(req.query('from') ?? 0) || 0)))

app.post('/advance', async (context) => {
  const { ms } = await body(context, z.object({ ms: z.number().nonnegative() }))
  await context.env.sandbox.advance(ms)
  return json(context.env.sandbox.overview())
})
app.post('/inject', async (context) => {
  context.env.sandbox.inject(checkedInjection(await body(context, z.unknown())))
  return json({})
})
app.post('/clear-faults', async (context) => {
  await body(context, z.object({}))
  context.env.sandbox.clearFaults()
  return json({})
})
app.post('/rules', async (context) => {
  const chosen = await body(context, z.record(z.string(), z.string()))
  for (const [name, choice] of Object.entries(chosen)) context.env.sandbox.setRule(name, choice)
  return json(context.env.sandbox.rules())
})
app.post('/switch', async (context) => {
  const { switch: name } = await body(context, z.object({ switch: z.enum(switchNames) }))
  context.env.sandbox.flipSwitch(name)
  return json({})
})
app.post('/renew-key', async (context) => {
  await body(context, z.object({}))
  return json({ api_key: context.env.sandbox.renewKey() })
})
app.post('/user', async (context) => {
  const { email, active } = await body(context, z.object({ email: z.string(), active: z.boolean() }))
  context.env.sandbox.setUserActive(email, active)
  return json({})
})
app.post('/credits', async (context) => {
  const { credits } = await body(context, z.object({ credits: z.int().nonnegative().nullable() }))
  context.env.sandbox.setCredits(credits)
  return json({})
})
app.post('/webhook', async (context) => {
  const { url } = await body(context, z.object({ url: z.string().nullable() }))
  context.env.sandbox.setWebhook(url)
  return json({})
})
app.post('/replace-package', async (context) => {
  const { id, new_field } = await body(context, z.object({ id: z.int(), new_field: z.boolean().optional() }))
  return json({ id: context.env.sandbox.replacePackage(id, { newField: new_field }) })
})
app.post('/hasten', async (context) => {
  const given = await body(context, z.object({ request_id: z.string(), check_id: z.string().optional() }))
  context.env.sandbox.advanceRequest(given.request_id, given.check_id)
  return json({})
})
app.post('/redeliver', async (context) => {
  const { delivery_id } = await body(context, z.object({ delivery_id: z.string() }))
  context.env.sandbox.redeliver(delivery_id)
  return json({})
})
app.post('/reset', async (context) => {
  await body(context, z.object({}))
  context.env.sandbox.reset()
  return json(context.env.sandbox.overview())
})
app.post('/restore', async (context) => {
  context.env.sandbox.restore(checkedSnapshot(await body(context, z.unknown())))
  return json(context.env.sandbox.overview())
})

app.notFound(() => failed(404, noControl))
app.onError((error) => {
  if (!(error instanceof RefcheckError)) throw error
  return failed(400, { code: error.code, message: error.message, hint: error.hint })
})

/** Answers the page at `/`, and calls below `controlPath`, if it comes from this machine and not from a foreign page. */
export function control(
  sandbox: Sandbox,
  request: Request,
  connection: Connection,
): Response | Promise<Response> {
  const url = new URL(request.url)
  const origin = request.headers.get('Origin')
  const local =
    isLoopbackHost(connection.remoteAddress.replace(/^::ffff:/, '')) && isLoopbackHost(url.hostname)
  if (!local || (origin !== null && origin !== url.origin)) {
    return failed(403, { code: 'forbidden', message: 'a sandbox is controlled from its own machine only' })
  }
  return url.pathname === '/' ? servePage(sandbox) : app.fetch(request, { sandbox })
}

/** JSON only, which no page of another origin can send without asking first. */
async function body<T>({ req }: Context<ControlEnv>, schema: z.ZodType<T>): Promise<T> {
  if (req.header('Content-Type')?.split(';')[0]?.trim() !== 'application/json') {
    throw new InvalidInputError('Content-Type: must be application/json')
  }
  const given: unknown = await req.json().catch(() => {
    throw new InvalidInputError('the body is not valid JSON')
  })
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new InvalidInputError(`${path === '' ? 'body' : path}: ${issueInWords(issue)}`)
}

function json(value: unknown): Response {
  return Response.json(value, { headers: { 'Cache-Control': 'no-store' } })
}

function failed(
  status: number,
  error: { code: string; message: string; hint?: string | undefined },
): Response {
  return Response.json({ error }, { status, headers: { 'Cache-Control': 'no-store' } })
}
