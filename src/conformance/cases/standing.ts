import { entries, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { secondEmail } from '../discoveries.ts'
import { expectStatus } from '../expect.ts'
import { plainOrder, tryOrder } from '../order.ts'
import type { Plan } from '../target.ts'
import type { Visit } from '../visit.ts'
import { everyEndpoint } from './endpoints.ts'

/*
 * What changes when somebody changes the standing of the organisation, its users or its key. These
 * run last: some of it cannot be taken back.
 */

const kind = 'control'
const refused =
  '403 | User not an active member of the organisation; or the organisation has insufficient credits, an expired trial, or an inactive subscription.'

const refusedPlan = (plan: Plan): Case['run'] =>
  async function (visit: Visit) {
    const { setPlan } = visit.control
    unless(setPlan !== undefined, 'the plan of the organisation cannot be changed from here')
    const { body } = await plainOrder(visit)
    await setPlan(plan)
    try {
      const answer = await tryOrder(visit, body, { note: `with ${plan}` })
      return expectStatus(answer, 403)
    } finally {
      await setPlan('good')
    }
  }

export const standingCases: readonly Case[] = [
  {
    id: 'standing.credits',
    section: 'POST /v1/requests',
    rule: refused,
    kind,
    run: refusedPlan('no credits'),
  },
  {
    id: 'standing.trial',
    section: 'POST /v1/requests',
    rule: refused,
    kind,
    run: refusedPlan('trial expired'),
  },
  {
    id: 'standing.subscription',
    section: 'POST /v1/requests',
    rule: refused,
    kind,
    run: refusedPlan('subscription inactive'),
  },
  {
    id: 'standing.internal-error',
    section: 'Errors',
    rule: '5xx | server_error | Internal error | Retry with backoff; outcome of POST /v1/requests is unknown',
    kind,
    async run({ control, probe }) {
      unless(control.failNextUsers !== undefined, 'an internal error cannot be caused from here')
      await control.failNextUsers()
      const answer = await probe.get('/v1/users', { note: 'during an internal error' })
      if (answer.status < 500) return [`${answer.label}: expected 5xx, ${answer.summary}`]
      return field(answer.json, 'status_message') === 'server_error'
        ? []
        : [`${answer.label}: expected the status_message server_error`]
    },
  },
  {
    id: 'standing.inactive-user',
    section: 'GET /v1/users',
    rule: 'Inactive users and inactive teams are excluded.',
    kind,
    async run(visit) {
      const { deactivateUser } = visit.control
      unless(deactivateUser !== undefined, 'no user can be deactivated from here')
      const email = secondEmail(visit)
      await deactivateUser(email)
      const answer = await visit.probe.get('/v1/users', { note: 'after a user was deactivated' })
      const listed = entries(field(answer.data, 'users')).map((user) => field(user, 'email'))
      const as = { apiKey: visit.target.apiKey, userEmail: email }
      const answers = await everyEndpoint(visit, { as, note: 'as a user who was deactivated' })
      return [
        ...(listed.includes(email) ? [`${answer.label}: the user is still listed`] : []),
        ...answers.flatMap((each) => expectStatus(each, 403)),
      ]
    },
  },
  {
    id: 'standing.revoked-key',
    section: 'Authentication',
    rule: 'Missing header, invalid API key or revoked API key: 401 client_error.',
    kind,
    async run(visit) {
      const { revokeKey } = visit.control
      unless(revokeKey !== undefined, 'the key cannot be revoked from here')
      await revokeKey()
      const answers = await everyEndpoint(visit, { note: 'with a key that was revoked' })
      return answers.flatMap((answer) => expectStatus(answer, 401))
    },
  },
]
