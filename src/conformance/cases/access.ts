import { isLoopbackHost, isLoopbackUrl } from '../../contract/url.ts'
import { type Answer, entries, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import {
  acceptedId,
  bodyFor,
  foreignUser,
  listed,
  packages,
  plainOrder,
  recipient,
  secondUser,
  tryOrder,
  unknownEmail,
  unknownId,
  userList,
} from '../order.ts'
import {
  type Ask,
  type Expectations,
  expectSame,
  expectStatus,
  judge,
  type Run,
  under,
  when,
} from '../table.ts'
import type { CallOptions, Visit } from '../visit.ts'
import { object, text } from '../shape.ts'
import type { Control, Identity, Plan } from '../target.ts'

const unknownKey = 'x'.repeat(32)

/**
 * Calls every authenticated endpoint once and expects the status. The POST has an empty body, so that nothing is
 * ordered whatever the deployment does.
 */
export async function everyEndpoint(visit: Visit, options: CallOptions, status: number): Promise<string[]> {
  const id = (await packages(visit))[0]?.id ?? 1
  const paths = [
    '/v1/packages',
    `/v1/packages/${id}/schema`,
    `/v1/requests/${unknownId}`,
    `/v1/reports/${unknownId}`,
    `/v1/reports/${unknownId}/referees/1`,
    '/v1/users',
  ]
  const answers: Answer[] = []
  for (const path of paths) answers.push(await visit.probe.get(path, options))
  answers.push(await visit.probe.post({}, options))
  return answers.flatMap((answer) => expectStatus(answer, status))
}

/** Calls every endpoint as several callers, by their descriptions for findings. */
const everyCaller =
  (status: number, callers: (visit: Visit) => Record<string, Partial<Identity>>): Run =>
  async (visit) => {
    const findings: string[] = []
    for (const [note, as] of Object.entries(callers(visit))) {
      findings.push(...(await everyEndpoint(visit, { as, note }, status)))
    }
    return findings
  }

const emailsOf = ({ data }: Answer): string[] =>
  entries(field(data, 'users')).map((user) => String(field(user, 'email')))

/** Expects the requester's e-mail without regard to upper and lower case. */
const requestedBy =
  (email: string) =>
  ({ data }: Answer): string[] => {
    const got = field(data, 'requester', 'email')
    const lower = typeof got === 'string' ? got.toLowerCase() : got
    return expectSame('requester.email', lower, email.toLowerCase())
  }

/**
 * Returns the calls with a key of another organisation, which must reach nothing of this one, and as that
 * organisation's user with this key.
 */
async function foreignKey(visit: Visit): Promise<Expectations> {
  const { probe, target } = visit
  const as = foreignUser(visit)
  const note = 'with a key of another organisation'
  const ours = await packages(visit)
  const theirs = await probe.get('/v1/packages', { as, note })
  const own = new Set(listed(theirs).map(({ id }) => id))
  const foreign = ours.filter(({ id }) => !own.has(id)).slice(0, 1)
  const mixed = { as: { ...as, apiKey: target.apiKey }, note: 'as a user of another organisation' }
  const listsUs = (answer: Answer): string[] =>
    when(
      emailsOf(answer).includes(target.userEmail),
      `${answer.label}: a user of our organisation is in the list`,
    )
  const requests: Expectations = [
    ...expectStatus(theirs, 200),
    ...foreign.map(({ id }): Ask => ({ get: `/v1/packages/${id}/schema`, as, note, expect: [403, 404] })),
    { get: '/v1/users', ...mixed, expect: 403 },
    { get: '/v1/users', as, note, expect: listsUs },
  ]
  if (!visit.mayCreate) return requests
  const { requestId, body } = await plainOrder(visit)
  const read: Ask = { get: `/v1/requests/${requestId}`, as, note, expect: 404 }
  return [...requests, read, ...when<Ask>(!own.has(body.package_id), { order: body, as, note, expect: 404 })]
}

/** Returns a valid order as another user of the organisation, for a package that this user sees. */
async function orderAs(visit: Visit, as: Identity, note: string, expect: number[]): Promise<Expectations> {
  const theirs = listed(await visit.probe.get('/v1/packages', { as, note }))
  const pack = theirs.find(({ status }) => status === 'ACTIVE')
  unless(pack !== undefined, `${note} no ACTIVE package is seen`)
  return [{ order: await bodyFor(visit, pack, recipient), as, note, expect }]
}

export const accessCases: readonly Case[] = [
  ...under('GET /v1/ping', 'read', {
    'ping.answer': [
      'Response 200: data = `{status: string}`, status_message "ok", message "".',
      [
        {
          get: '/v1/ping',
          expect: (answer) => [
            ...expectStatus(answer, 200),
            ...object({ status: text })(answer.data, 'data'),
            ...expectSame('status_message', field(answer.json, 'status_message'), 'ok'),
            ...expectSame('message', answer.message, ''),
          ],
        },
      ],
    ],
    'ping.no-authentication': [
      'Authentication: none. No headers, no body. Exempt from throttling.',
      [
        { get: '/v1/ping', as: {}, note: 'without headers', expect: 200 },
        {
          get: '/v1/ping',
          as: { apiKey: unknownKey, userEmail: unknownEmail },
          note: 'with an unknown key',
          expect: 200,
        },
      ],
    ],
  }),
  ...under('Versioning', 'read', {
    'versioning.prefix': [
      'The version is carried in the URL path prefix: /v1/ for this version, later versions use /v2/ and so on.',
      async ({ probe }) => {
        const bare = await probe.get('/ping', { as: {}, note: 'without the version prefix' })
        const answers = bare.status === 200 && field(bare.json, 'status_message') === 'ok'
        return when(answers, `${bare.label}: the service answers where no version is named`)
      },
    ],
  }),
  ...under('What the service does', 'read', {
    'versioning.transport': [
      'Transport | HTTPS only; plain HTTP requests are rejected',
      async ({ target, probe }) => {
        const { protocol, hostname } = new URL(target.baseUrl)
        unless(protocol === 'https:', '--base-url is http: it takes a deployment on https')
        unless(
          isLoopbackHost(hostname),
          'plain HTTP is only tried on a --base-url of this machine: it is never sent over a network',
        )
        const status = (await probe.plainHttp()) ?? 400
        return when(status < 300, `GET /v1/ping over plain HTTP: expected a refusal, got ${status}`)
      },
    ],
  }),
  ...under('Authentication', 'read', {
    'authentication.required': [
      'Both headers are required on every /v1/* endpoint except: GET /v1/ping (no authentication), and GET /v1/reports/* when a valid signed `t` query token is supplied.',
      everyCaller(401, ({ target: { apiKey, userEmail } }) => ({
        'without headers': {},
        'without the user e-mail': { apiKey },
        'without the key': { userEmail },
      })),
    ],
    'authentication.invalid-key': [
      'Missing header, invalid API key or revoked API key: 401 client_error.',
      async (visit) => {
        const { apiKey, userEmail } = visit.target
        const callers = everyCaller(401, () => ({
          'with an unknown key': { apiKey: unknownKey, userEmail },
          'with a key that lacks its last character': { apiKey: apiKey.slice(0, -1), userEmail },
          'with a key that has a character too many': { apiKey: `${apiKey}0`, userEmail },
        }))
        const as = { apiKey: unknownKey, userEmail: unknownEmail }
        const note = 'with an unknown key, as an unknown user'
        return [...(await callers(visit)), { get: '/v1/users', as, note, expect: 401 }]
      },
    ],
    'authentication.opaque-key': [
      'API keys are 32-character opaque values. They are generated by an organisation Owner in the organisation settings, shown only once; generating a new key revokes the previous one.',
      ({ target: { apiKey, userEmail } }) => {
        const swapped = apiKey.replaceAll(/[a-z]/gi, (letter) =>
          letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
        )
        const as = { apiKey: swapped, userEmail }
        const note = 'with upper and lower case of the key swapped'
        return [
          ...when(apiKey.length !== 32, `the key is ${apiKey.length} characters long`),
          ...when<Ask>(swapped !== apiKey, { get: '/v1/users', as, note, expect: 401 }),
        ]
      },
    ],
    'authentication.key-in-url': [
      'Keys must be used server-side only, never in URLs, query strings or browser code. HTTPS only.',
      ({ target: { apiKey, userEmail, baseUrl } }) => {
        unless(isLoopbackUrl(baseUrl), 'the key is put into a URL only where --base-url is on this machine')
        return ['X-Service-API-Key', 'api_key', 'key'].map((name) => ({
          get: `/v1/users?${name}=${encodeURIComponent(apiKey)}`,
          as: { userEmail },
          note: `with the key in the query as ${name}`,
          expect: 401,
        }))
      },
    ],
    'authentication.unknown-user': [
      "User email not matching an active user of the key's organisation: 403 client_error.",
      everyCaller(403, ({ target: { apiKey } }) => ({
        'as an unknown user': { apiKey, userEmail: unknownEmail },
      })),
    ],
    'authentication.caller': [
      'X-Service-User-Email | Yes | Email of an active user of that organisation on whose behalf the call is made.',
      async (visit) => {
        const answer = await userList(visit)
        const emails = emailsOf(answer).map((email) => email.toLowerCase())
        const isListed = emails.includes(visit.target.userEmail.toLowerCase())
        return when(!isListed, `${answer.label}: the user the call is made for is not in the list`)
      },
    ],
    'authentication.other-organisation': [
      "The key decides which packages, requests and webhooks are accessible. The request is attributed to the user in audit logs; the user's role decides which packages are available and which actions are allowed. An action not permitted by the role gives 403.",
      foreignKey,
    ],
  }),
  ...under('Request', 'create', {
    'authentication.attributed': [
      'requester.email | string | Email of the service user the request is attributed to.',
      async (visit) => {
        const { target } = visit
        const mine = await plainOrder(visit)
        const read: Ask = { get: `/v1/requests/${mine.requestId}`, expect: requestedBy(target.userEmail) }
        if (target.secondEmail === undefined) return [read]
        const as = secondUser(visit)
        const body = await bodyFor(visit, mine.pack, recipient)
        const id = acceptedId(await tryOrder(visit, body, { as, note: 'as the second user' }))
        const theirs: Ask = { get: `/v1/requests/${id}`, expect: requestedBy(as.userEmail) }
        return [read, ...when(id !== undefined, theirs)]
      },
    ],
  }),
  ...under('GET /v1/users', 'read', {
    'authentication.second-user': [
      'Purpose: identify emails usable as the user email header.',
      (visit) => [{ get: '/v1/users', as: secondUser(visit), note: 'as the second user', expect: 200 }],
    ],
  }),
]

export const roleCases = under('Authentication', 'create', {
  'roles.may-not-create': [
    'An action not permitted by the role gives 403.',
    (visit) => {
      const { noCreateEmail: userEmail, apiKey } = visit.target
      unless(
        userEmail !== undefined,
        'a user whose role may not create requests is needed: --no-create-user EMAIL',
      )
      return orderAs(visit, { apiKey, userEmail }, 'as a user who may not create requests', [403])
    },
  ],
  'roles.creates-or-is-refused': [
    'An action not permitted by the role gives 403.',
    (visit) => orderAs(visit, secondUser(visit), 'as the second user, for a package they see', [201, 403]),
  ],
})

/** Returns a part of the control API, which only sandboxes have; otherwise the case is not testable. */
function controlOf<K extends keyof Control>(
  { control }: Visit,
  part: K,
  what: string,
): NonNullable<Control[K]> {
  const found = control[part]
  unless(found !== undefined && found !== null, `${what} on a sandbox, with --control`)
  return found
}

const refusedPlan =
  (plan: Plan): Run =>
  async (visit) => {
    const setPlan = controlOf(visit, 'setPlan', 'the plan of the organisation can only be changed')
    const { body } = await plainOrder(visit)
    await setPlan(plan)
    try {
      return await judge(visit, [{ order: body, note: `with ${plan}`, expect: 403 }])
    } finally {
      await setPlan('good')
    }
  }

const plans =
  '403 | User not an active member of the organisation; or the organisation has insufficient credits, an expired trial, or an inactive subscription.'

/**
 * Cases that change the organisation's plan, its users or its key. They run last, because some changes cannot be
 * undone.
 */
export const userStatusCases: readonly Case[] = [
  ...under('POST /v1/requests', 'control', {
    'standing.credits': [plans, refusedPlan('no credits')],
    'standing.trial': [plans, refusedPlan('trial expired')],
    'standing.subscription': [plans, refusedPlan('subscription inactive')],
  }),
  ...under('Errors', 'control', {
    'standing.internal-error': [
      '5xx | server_error | Internal error | Retry with backoff; outcome of POST /v1/requests is unknown',
      async (visit) => {
        await controlOf(visit, 'failNextUsers', 'an internal error can only be caused')()
        const answer = await visit.probe.get('/v1/users', { note: 'during an internal error' })
        if (answer.status < 500) return [`${answer.label}: expected 5xx, ${answer.summary}`]
        const isNamed = field(answer.json, 'status_message') === 'server_error'
        return when(!isNamed, `${answer.label}: expected the status_message server_error`)
      },
    ],
  }),
  ...under('GET /v1/users', 'control', {
    'standing.inactive-user': [
      'Inactive users and inactive teams are excluded.',
      async (visit) => {
        const deactivateUser = controlOf(visit, 'deactivateUser', 'a user can only be deactivated')
        const as = secondUser(visit)
        await deactivateUser(as.userEmail)
        const answer = await visit.probe.get('/v1/users', { note: 'after a user was deactivated' })
        return [
          ...when(emailsOf(answer).includes(as.userEmail), `${answer.label}: the user is still listed`),
          ...(await everyEndpoint(visit, { as, note: 'as a user who was deactivated' }, 403)),
        ]
      },
    ],
  }),
  ...under('Authentication', 'control', {
    'standing.revoked-key': [
      'Missing header, invalid API key or revoked API key: 401 client_error.',
      async (visit) => {
        await controlOf(visit, 'revokeKey', 'the key can only be revoked')()
        return everyEndpoint(visit, { note: 'with a key that was revoked' }, 401)
      },
    ],
  }),
]
