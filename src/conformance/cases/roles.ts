import { type Case, unless } from '../case.ts'
import { listed, secondEmail } from '../discoveries.ts'
import { expectStatus } from '../expect.ts'
import { bodyFor, recipient, tryOrder } from '../order.ts'
import type { Identity } from '../target.ts'
import type { Visit } from '../visit.ts'

const section = 'Authentication'
const rule = 'An action not permitted by the role gives 403.'

/** An order that is good in itself, as another user of the organisation, for a package of their own list. */
async function orderAs(visit: Visit, userEmail: string, note: string) {
  const as: Identity = { apiKey: visit.target.apiKey, userEmail }
  const theirs = listed(await visit.probe.get('/v1/packages', { as, note }))
  const pack = theirs.find(({ status }) => status === 'ACTIVE')
  unless(pack !== undefined, `${note} no ACTIVE package is seen`)
  return tryOrder(visit, await bodyFor(visit, pack, recipient), { as, note })
}

export const roleCases: readonly Case[] = [
  {
    id: 'roles.may-not-create',
    section,
    rule,
    kind: 'create',
    async run(visit) {
      const { noCreateEmail } = visit.target
      unless(noCreateEmail !== undefined, 'a user is needed whose role may not create requests')
      return expectStatus(await orderAs(visit, noCreateEmail, 'as a user who may not create requests'), 403)
    },
  },
  {
    id: 'roles.creates-or-is-refused',
    section,
    rule,
    kind: 'create',
    async run(visit) {
      const answer = await orderAs(visit, secondEmail(visit), 'as the second user, for a package they see')
      return expectStatus(answer, 201, 403)
    },
  },
]
