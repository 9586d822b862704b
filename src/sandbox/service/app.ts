import { Hono } from 'hono'

import { failure } from './answer.ts'
import { type CallEnv, isRefusal } from './call.ts'
import { addPackageRoutes } from './routes/packages.ts'
import { addPingRoute } from './routes/ping.ts'
import { addReportRoutes } from './routes/reports.ts'
import { addRequestRoutes } from './routes/requests.ts'
import { addUserRoute } from './routes/users.ts'

/** The endpoints of the document; whatever else is called is a 404 in the envelope. */
export function serviceApp(): Hono<CallEnv> {
  const app = new Hono<CallEnv>()
  addPingRoute(app)
  addPackageRoutes(app)
  addRequestRoutes(app)
  addReportRoutes(app)
  addUserRoute(app)
  app.notFound(() => failure(404, 'resource not found'))
  app.onError((error) =>
    isRefusal(error)
      ? failure(error.status, error.message, error.headers)
      : failure(500, 'internal server error'),
  )
  return app
}
