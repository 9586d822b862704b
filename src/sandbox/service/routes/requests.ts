import type { Context, Hono } from 'hono'

import { failure, ok, okWith, refusals } from '../answer.ts'
import { authenticate, type CallEnv } from '../call.ts'
import { createRequest } from '../create.ts'
import { Renderings } from '../request-view.ts'

export function addRequestRoutes(app: Hono<CallEnv>): void {
  app.post('/v1/requests', async (context) => {
    const created = await createRequest(context.req.raw, context.env)
    return created === undefined
      ? failure(500, 'internal server error')
      : ok({ request_id: created.request_id, status: 'RECEIVED' }, 201)
  })
  const renderings = new Renderings()
  app.get('/v1/requests/:id', (context) => read(context, renderings))
}

/** GET /v1/requests/{request_id} */
function read(context: Context<CallEnv>, renderings: Renderings): Response {
  const { service, now, publicUrl } = context.env
  const { organisation } = authenticate(context.req.raw.headers, context.env)
  const request = service.state.requests.get(service.idOf(context.req.param('id') ?? ''))
  if (request === undefined || request.organisation_id !== organisation.id) throw refusals.notFound()
  service.bringUpToDate(request, now)
  const url = context.req.url
  const origin = publicUrl ?? url.slice(0, url.indexOf('/', 8))
  return okWith(renderings.text(request, service, now, origin))
}
