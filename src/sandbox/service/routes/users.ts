import type { Hono } from 'hono'

import type { User } from '../../../contract/user.ts'
import { ok } from '../answer.ts'
import { authenticate, type CallEnv } from '../call.ts'
import { products, type UserRecord } from '../records.ts'
import type { State } from '../state.ts'

/** "Permission levels"; level 1 (integration user) "is never returned". */
const levels = new Map([
  [0, 'none'],
  [2, 'administrator'],
  [3, 'requestor'],
  [4, 'contributor'],
  [5, 'analyst'],
])

/** GET /v1/users: "Inactive users and inactive teams are excluded." */
export function addUserRoute(app: Hono<CallEnv>): void {
  app.get('/v1/users', (context) => {
    const { service } = context.env
    const { organisation } = authenticate(context.req.raw.headers, context.env)
    const all = [...(service.state.users.get(organisation.id)?.values() ?? [])]
    return ok({ users: all.filter((user) => user.active).map((user) => userView(user, service.state)) })
  })
}

function userView(user: UserRecord, state: State): User {
  return {
    id: user.id,
    first_name: user.first_name,
    last_name: user.last_name,
    email: user.email,
    role: user.role,
    ...(user.role === 'member' && { permissions: permissions(user) }),
    teams: user.team_ids
      .map((id) => state.teams.get(id))
      .filter((team) => team?.active === true)
      .map((team) => ({ id: team?.id ?? '', name: team?.name ?? '' })),
    job_title: user.job_title,
  }
}

/** "Permissions are returned in alphabetical order", as `<product>.<level>`. */
function permissions(user: UserRecord): string[] {
  return products.flatMap((product) => {
    const level = levels.get(user.permissions[product] ?? 0)
    return level === undefined ? [] : [`${product}.${level}`]
  })
}
