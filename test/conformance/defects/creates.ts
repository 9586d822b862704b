import { accepting, answerOf, type Defect, onJson } from './defect.ts'

/** What the sandbox refuses with this message is accepted. */
const accepted = (name: string, caughtBy: string, refusal: RegExp): Defect => ({
  name,
  caughtBy,
  around: (sandbox) => accepting(sandbox, refusal),
})

/** An order is accepted whatever the plan of the organisation. */
const unpaid = (name: string, caughtBy: string, refusal: RegExp): Defect => ({
  name,
  caughtBy,
  around: (sandbox) =>
    onJson(sandbox, (reply) => {
      if (!refusal.test(reply.body.message)) return
      reply.status = 201
      const data = { request_id: '44444444-4444-4444-8444-444444444444', status: 'RECEIVED' }
      reply.body = { data, status_message: 'ok', message: '' }
    }),
})

export const createDefects: Defect[] = [
  {
    name: '202 instead of 201',
    caughtBy: 'create.accepted',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 201) reply.status = 202
      }),
  },
  {
    name: '202 is emitted',
    caughtBy: 'answers.never-202',
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (reply.status === 200 && request.url.endsWith('/v1/users')) reply.status = 202
      }),
  },
  {
    name: 'a request is IN_PROGRESS from the start',
    caughtBy: 'create.accepted',
    around: (sandbox) =>
      onJson(sandbox, ({ status, body }) => {
        if (status === 201) Object.assign(body.data ?? {}, { status: 'IN_PROGRESS' })
      }),
  },
  {
    name: 'an idempotency header is honoured',
    caughtBy: 'create.no-idempotency',
    around: (sandbox) => {
      const known = new Map<string, unknown>()
      return onJson(sandbox, ({ status, body }, request) => {
        const key = request.headers.get('Idempotency-Key')
        if (key === null || status !== 201) return
        if (known.has(key)) body.data = known.get(key)
        else known.set(key, body.data)
      })
    },
  },
  {
    name: 'a message without the field path',
    caughtBy: 'create.missing-fields',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 400) reply.body.message = reply.body.message.replace(/^.*?: /, '')
      }),
  },
  {
    name: 'a message that names the last part of the path only',
    caughtBy: 'create.email',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 400) reply.body.message = reply.body.message.replace(/^recipient\./, '')
      }),
  },
  {
    name: 'a 400 for a package nobody has',
    caughtBy: 'create.package-unknown',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.body.message === 'resource not found') reply.status = 400
      }),
  },
  {
    name: 'an empty additional_information is refused',
    caughtBy: 'create.information-optional',
    around: (sandbox) => async (request, connection) => {
      const empty = request.method === 'POST' && (await request.clone().text()).includes('_information":[]')
      return empty
        ? answerOf(400, null, 'additional_information: must not be empty')
        : sandbox.fetch(request, connection)
    },
  },
  {
    name: '15 digits are refused',
    caughtBy: 'create.longest-phone',
    around: (sandbox) => async (request, connection) => {
      const long = request.method === 'POST' && (await request.clone().text()).includes('+491234567890123"')
      return long ? answerOf(400, null, 'recipient.phone: is too long') : sandbox.fetch(request, connection)
    },
  },
  accepted('any text is a phone', 'create.phone', /^recipient\.phone: must be in/),
  accepted('any text is an e-mail', 'create.email', /^recipient\.email: must be a valid/),
  accepted('numbers are texts', 'create.wrong-types', /^recipient\.\w+: must be a string/),
  accepted('a package id may be a text', 'create.wrong-types', /^package_id: must be an integer/),
  accepted('a recipient without a phone', 'create.missing-fields', /^recipient\.phone: is required/),
  accepted('an INACTIVE package is accepted', 'create.package-inactive', /not ACTIVE/),
  {
    name: 'a 400 for a DISABLED package',
    caughtBy: 'create.package-disabled',
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (reply.status === 404 && request.method === 'POST') reply.status = 400
      }),
  },
  accepted('a package that is not available to the user', 'packages.order-by-role', /^resource not found/),
  accepted('a code twice', 'create.duplicate-codes', /appears more than once/),
  accepted('a field the schema does not have', 'create.information-unknown', /is not a known field/),
  accepted('a code the package does not have', 'create.information-form', /is not a check code/),
  accepted(
    'a required field of the schema left out',
    'create.information-required',
    /fields\.\w+: is required$/,
  ),
  accepted('a text for a boolean', 'create.information-types', /must be a boolean/),
  accepted('a fraction for an integer', 'create.information-types', /years_of_history: must be an integer/),
  accepted('any Content-Type', 'create.content-type', /^Content-Type/),
  unpaid('no credits are needed', 'standing.credits', /no credits/),
  unpaid('an expired trial goes on', 'standing.trial', /trial has expired/),
  unpaid('an inactive subscription is enough', 'standing.subscription', /subscription is not active/),
  {
    name: 'a 500 for broken JSON',
    caughtBy: 'create.invalid-json',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (!reply.body.message.startsWith('body: must be valid JSON')) return
        reply.status = 500
        reply.body.status_message = 'server_error'
      }),
  },
  {
    name: 'every request belongs to the owner',
    caughtBy: 'authentication.attributed',
    around: (sandbox) =>
      onJson(sandbox, ({ body }) => {
        if (typeof body.data === 'object' && body.data !== null && 'requester' in body.data) {
          body.data.requester = { email: sandbox.people.owner }
        }
      }),
  },
]
