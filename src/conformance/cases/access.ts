import { isLoopbackHost, isLoopbackUrl } from '../../contract/url.ts'
import { type Answer, fieldsOf, toItems, readValue } from '../answer.ts'
import { type Case, requireTestable, requireValue } from '../case.ts'
import {
  findAcceptedId,
  buildBody,
  requireForeignUser,
  parsePackages,
  readPackages,
  orderSimplestPackage,
  requireSecondUser,
  sendOrder,
  emptyOrder,
  unknownEmail,
  unknownId,
  unknownKey,
  listUsers,
} from '../order.ts'
import {
  type ExpectedCall,
  type Expectations,
  expectSame,
  expectStatus,
  collectFindings,
  type Findings,
  type Run,
  createDeploymentControlCases,
  createOrderCases,
  createReadCases,
} from '../table.ts'
import type { CallOptions, CaseContext } from '../case-context.ts'
import { object, text } from '../shape.ts'
import type { Control, Identity, Plan, Target } from '../target.ts'

/**
 * Returns a call of every authenticated endpoint. The POST has an empty body, so that nothing is ordered whatever the
 * deployment does.
 */
export async function createEndpointCalls(
  context: CaseContext,
  { identity, note, on429 }: Omit<CallOptions, 'headers'>,
  expect: number,
): Promise<ExpectedCall[]> {
  const id = (await readPackages(context))[0]?.id ?? 1
  const paths = [
    '/v1/packages',
    `/v1/packages/${id}/schema`,
    `/v1/requests/${unknownId}`,
    `/v1/reports/${unknownId}`,
    `/v1/reports/${unknownId}/referees/1`,
    '/v1/users',
  ]
  return [
    ...paths.map((get) => ({ get, identity, note, on429, expect })),
    { order: emptyOrder, identity, note, on429, expect },
  ]
}

/**
 * Returns a test that calls every endpoint as each of several callers. The names of the callers are their
 * descriptions in findings.
 */
const testEachCaller =
  (expect: number, callers: (target: Target) => Record<string, Partial<Identity>>): Run =>
  async (context) => {
    const calls: ExpectedCall[] = []
    for (const [note, identity] of Object.entries(callers(context.target)))
      calls.push(...(await createEndpointCalls(context, { identity, note }, expect)))
    return calls
  }

const readEmails = ({ fields }: Answer): string[] => toItems(fields.users).map(({ email }) => String(email))

/** Returns a function that expects this requester's e-mail and ignores upper and lower case. */
const expectRequester =
  (expected: string) =>
  ({ fields }: Answer): Findings => {
    const { email } = fieldsOf(fields.requester)
    const actual = typeof email === 'string' ? email.toLowerCase() : email
    return expectSame('requester.email', actual, expected.toLowerCase())
  }

/**
 * Returns the calls with a key of another organisation, which must not reach data of this organisation, and a
 * call with the key of this organisation as a user of the other one.
 */
async function createCallsWithForeignKey(context: CaseContext): Promise<Expectations> {
  const { probe, target } = context
  const foreign = { identity: requireForeignUser(context), note: 'with a key of another organisation' }
  const mixedIdentity = { ...foreign.identity, apiKey: target.apiKey }
  const ownPackages = await readPackages(context)
  const foreignList = await probe.get('/v1/packages', foreign)
  const foreignIds = new Set(parsePackages(foreignList).map(({ id }) => id))
  const ownOnlyPackage = ownPackages.find(({ id }) => !foreignIds.has(id))
  const order = context.canCreate ? await orderSimplestPackage(context) : undefined
  return [
    ...expectStatus(foreignList, 200),
    ownOnlyPackage && { get: `/v1/packages/${ownOnlyPackage.id}/schema`, ...foreign, expect: [403, 404] },
    { get: '/v1/users', identity: mixedIdentity, note: 'as a user of another organisation', expect: 403 },
    {
      get: '/v1/users',
      ...foreign,
      expect: (answer) => [
        readEmails(answer).includes(target.userEmail) &&
          `${answer.label}: a user of our organisation is in the list`,
      ],
    },
    order && { get: `/v1/requests/${order.requestId}`, ...foreign, expect: 404 },
    order && !foreignIds.has(order.pack.id) && { order: order.body, ...foreign, expect: 404 },
  ]
}

/**
 * Returns the call that orders, as another user of the organisation, an ACTIVE package that this user sees.
 */
async function createOrderCallAs(
  context: CaseContext,
  identity: Identity,
  note: string,
  expect: number[],
): Promise<Expectations> {
  const visiblePackages = parsePackages(await context.probe.get('/v1/packages', { identity, note }))
  const activePackage = visiblePackages.find(({ status }) => status === 'ACTIVE')
  const pack = requireValue(activePackage, `${note} no ACTIVE package is seen`)
  return [{ order: await buildBody(context, pack), identity, note, expect }]
}

export const accessCases: readonly Case[] = [
  ...createReadCases('GET /v1/ping', {
    'ping.answer': [
      'Response 200: data = `{status: string}`, status_message "ok", message "".',
      [
        {
          get: '/v1/ping',
          expect: (answer) => [
            ...expectStatus(answer, 200),
            ...object({ status: text })(answer.data, 'data'),
            ...expectSame('status_message', readValue(answer.json, 'status_message'), 'ok'),
            ...expectSame('message', answer.message, ''),
          ],
        },
      ],
    ],
    'ping.no-authentication': [
      'Authentication: none. No headers, no body. Exempt from throttling.',
      [
        { get: '/v1/ping', identity: {}, note: 'without headers', expect: 200 },
        {
          get: '/v1/ping',
          identity: { apiKey: unknownKey, userEmail: unknownEmail },
          note: 'with an unknown key',
          expect: 200,
        },
      ],
    ],
  }),
  ...createReadCases('Versioning', {
    'versioning.prefix': [
      'The version is carried in the URL path prefix: /v1/ for this version, later versions use /v2/ and so on.',
      async ({ probe }) => {
        const answer = await probe.get('/ping', { identity: {}, note: 'without the version prefix' })
        const isAnswered = answer.status === 200 && readValue(answer.json, 'status_message') === 'ok'
        return [isAnswered && `${answer.label}: the service answers where no version is named`]
      },
    ],
  }),
  ...createReadCases('What the service does', {
    'versioning.transport': [
      'Transport | HTTPS only; plain HTTP requests are rejected',
      async ({ target, probe }) => {
        const { protocol, hostname } = new URL(target.baseUrl)
        requireTestable(protocol === 'https:', '--base-url is http: it takes a deployment on https')
        requireTestable(
          isLoopbackHost(hostname),
          'plain HTTP is only tried on a --base-url of this machine: it is never sent over a network',
        )
        // If no answer arrives, that counts as a refusal too.
        const status = (await probe.pingByPlainHttp()) ?? 400
        return [status < 300 && `GET /v1/ping over plain HTTP: expected a refusal, got ${status}`]
      },
    ],
  }),
  ...createReadCases('Authentication', {
    'authentication.required': [
      'Both headers are required on every /v1/* endpoint except: GET /v1/ping (no authentication), and GET /v1/reports/* when a valid signed `t` query token is supplied.',
      testEachCaller(401, ({ apiKey, userEmail }) => ({
        'without headers': {},
        'without the user e-mail': { apiKey },
        'without the key': { userEmail },
      })),
    ],
    'authentication.invalid-key': [
      'Missing header, invalid API key or revoked API key: 401 client_error.',
      async (context) => {
        const { apiKey, userEmail } = context.target
        const testCallers = testEachCaller(401, () => ({
          'with an unknown key': { apiKey: unknownKey, userEmail },
          'with a key that lacks its last character': { apiKey: apiKey.slice(0, -1), userEmail },
          'with a key that has a character too many': { apiKey: `${apiKey}0`, userEmail },
        }))
        const identity = { apiKey: unknownKey, userEmail: unknownEmail }
        const note = 'with an unknown key, as an unknown user'
        return [...(await testCallers(context)), { get: '/v1/users', identity, note, expect: 401 }]
      },
    ],
    'authentication.opaque-key': [
      'API keys are 32-character opaque values. They are generated by an organisation Owner in the organisation settings, shown only once; generating a new key revokes the previous one.',
      ({ target: { apiKey, userEmail } }) => {
        const swappedKey = apiKey.replaceAll(/[a-z]/gi, (letter) =>
          letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
        )
        const identity = { apiKey: swappedKey, userEmail }
        const note = 'with upper and lower case of the key swapped'
        return [
          apiKey.length !== 32 && `the key is ${apiKey.length} characters long`,
          swappedKey !== apiKey && { get: '/v1/users', identity, note, expect: 401 },
        ]
      },
    ],
    'authentication.key-in-url': [
      'Keys must be used server-side only, never in URLs, query strings or browser code. HTTPS only.',
      ({ target: { apiKey, userEmail, baseUrl } }) => {
        requireTestable(
          isLoopbackUrl(baseUrl),
          'the key is put into a URL only where --base-url is on this machine',
        )
        return ['X-Service-API-Key', 'api_key', 'key'].map((name) => ({
          get: `/v1/users?${name}=${encodeURIComponent(apiKey)}`,
          identity: { userEmail },
          note: `with the key in the query as ${name}`,
          expect: 401,
        }))
      },
    ],
    'authentication.unknown-user': [
      "User email not matching an active user of the key's organisation: 403 client_error.",
      testEachCaller(403, ({ apiKey }) => ({
        'as an unknown user': { apiKey, userEmail: unknownEmail },
      })),
    ],
    'authentication.caller': [
      'X-Service-User-Email | Yes | Email of an active user of that organisation on whose behalf the call is made.',
      async (context) => {
        const answer = await listUsers(context)
        const emails = readEmails(answer).map((email) => email.toLowerCase())
        const isListed = emails.includes(context.target.userEmail.toLowerCase())
        return [!isListed && `${answer.label}: the user the call is made for is not in the list`]
      },
    ],
    'authentication.other-organisation': [
      "The key decides which packages, requests and webhooks are accessible. The request is attributed to the user in audit logs; the user's role decides which packages are available and which actions are allowed. An action not permitted by the role gives 403.",
      createCallsWithForeignKey,
    ],
  }),
  ...createOrderCases('Request', {
    'authentication.attributed': [
      'requester.email | string | Email of the service user the request is attributed to.',
      async (context) => {
        const { userEmail, secondEmail } = context.target
        const { requestId, pack } = await orderSimplestPackage(context)
        const readOwn = { get: `/v1/requests/${requestId}`, expect: expectRequester(userEmail) }
        if (secondEmail === undefined) return [readOwn]
        const identity = requireSecondUser(context)
        const body = await buildBody(context, pack)
        const id = findAcceptedId(await sendOrder(context, body, { identity, note: 'as the second user' }))
        return [
          readOwn,
          id !== undefined && { get: `/v1/requests/${id}`, expect: expectRequester(secondEmail) },
        ]
      },
    ],
  }),
  ...createReadCases('GET /v1/users', {
    'authentication.second-user': [
      'Purpose: identify emails usable as the user email header.',
      (context) => [
        { get: '/v1/users', identity: requireSecondUser(context), note: 'as the second user', expect: 200 },
      ],
    ],
  }),
]

export const roleCases = createOrderCases('Authentication', {
  'roles.may-not-create': [
    'An action not permitted by the role gives 403.',
    (context) => {
      const { noCreateEmail, apiKey } = context.target
      const reason = 'a user whose role may not create requests is needed: --no-create-user EMAIL'
      const userEmail = requireValue(noCreateEmail, reason)
      return createOrderCallAs(context, { apiKey, userEmail }, 'as a user who may not create requests', [403])
    },
  ],
  'roles.creates-or-is-refused': [
    'An action not permitted by the role gives 403.',
    (context) =>
      createOrderCallAs(
        context,
        requireSecondUser(context),
        'as the second user, for a package they see',
        [201, 403],
      ),
  ],
})

/**
 * Returns a function of the target's control. Throws a NotTestableError if the target does not have this function,
 * because only sandboxes have a control. `limitation`: the start of the message.
 */
function requireControl<K extends keyof Control>(
  { control }: CaseContext,
  functionName: K,
  limitation: string,
): NonNullable<Control[K]> {
  const value = control[functionName]
  requireTestable(value !== undefined && value !== null, `${limitation} on a sandbox, with --control`)
  return value
}

const expectRefusedPlan =
  (plan: Plan): Run =>
  async (context) => {
    const setPlan = requireControl(context, 'setPlan', 'the plan of the organisation can only be changed')
    const { body } = await orderSimplestPackage(context)
    await setPlan(plan)
    try {
      return await collectFindings(context, [{ order: body, note: `with ${plan}`, expect: 403 }])
    } finally {
      await setPlan('good')
    }
  }

const planRule =
  '403 | User not an active member of the organisation; or the organisation has insufficient credits, an expired trial, or an inactive subscription.'

/**
 * Cases that change the organisation's plan, its users or its key. They run last, because some of the changes
 * cannot be undone.
 */
export const userStatusCases: readonly Case[] = [
  ...createDeploymentControlCases('POST /v1/requests', {
    'standing.credits': [planRule, expectRefusedPlan('no credits')],
    'standing.trial': [planRule, expectRefusedPlan('trial expired')],
    'standing.subscription': [planRule, expectRefusedPlan('subscription inactive')],
  }),
  ...createDeploymentControlCases('Errors', {
    'standing.internal-error': [
      '5xx | server_error | Internal error | Retry with backoff; outcome of POST /v1/requests is unknown',
      async (context) => {
        await requireControl(context, 'failNextUserList', 'an internal error can only be caused')()
        const answer = await context.probe.get('/v1/users', { note: 'during an internal error' })
        if (answer.status < 500) return [`${answer.label}: expected 5xx, ${answer.summary}`]
        const isNamed = readValue(answer.json, 'status_message') === 'server_error'
        return [!isNamed && `${answer.label}: expected the status_message server_error`]
      },
    ],
  }),
  ...createDeploymentControlCases('GET /v1/users', {
    'standing.inactive-user': [
      'Inactive users and inactive teams are excluded.',
      async (context) => {
        const deactivateUser = requireControl(context, 'deactivateUser', 'a user can only be deactivated')
        const identity = requireSecondUser(context)
        await deactivateUser(identity.userEmail)
        const answer = await context.probe.get('/v1/users', { note: 'after a user was deactivated' })
        return [
          readEmails(answer).includes(identity.userEmail) && `${answer.label}: the user is still listed`,
          ...(await createEndpointCalls(context, { identity, note: 'as a user who was deactivated' }, 403)),
        ]
      },
    ],
  }),
  ...createDeploymentControlCases('Authentication', {
    'standing.revoked-key': [
      'Missing header, invalid API key or revoked API key: 401 client_error.',
      async (context) => {
        await requireControl(context, 'revokeKey', 'the key can only be revoked')()
        return createEndpointCalls(context, { note: 'with a key that was revoked' }, 401)
      },
    ],
  }),
]
