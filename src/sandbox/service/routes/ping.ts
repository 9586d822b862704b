import type { Hono } from 'hono'

import { ok } from '../answer.ts'
import type { CallEnv } from '../call.ts'

/** GET /v1/ping: "Authentication: none. No headers, no body. Exempt from throttling." */
export function addPingRoute(app: Hono<CallEnv>): void {
  app.get('/v1/ping', () => ok({ status: 'ok' }))
}
