import { acceptRefused, createAnswer, createReplyDefect, type Defect, onJson } from './defect.ts'

/** Creates a defect that accepts orders that the sandbox refuses with this message. */
const createAcceptDefect = (name: string, caughtBy: string, refusal: RegExp): Defect => ({
  name,
  caughtBy,
  createHandler: (sandbox) => acceptRefused(sandbox, refusal),
})

/** Creates a defect that answers 201 where the sandbox refuses an order because of the organisation's plan. */
const createPlanDefect = (name: string, caughtBy: string, refusal: RegExp): Defect => ({
  name,
  caughtBy,
  createHandler: (sandbox) =>
    onJson(sandbox, (reply) => {
      if (!refusal.test(reply.body.message)) return
      reply.status = 201
      const data = { request_id: '44444444-4444-4444-8444-444444444444', status: 'RECEIVED' }
      reply.body = { data, status_message: 'ok', message: '' }
    }),
})

export const createDefects: Defect[] = [
  createReplyDefect('202 instead of 201', 'create.accepted', (reply) => {
    if (reply.status === 201) reply.status = 202
  }),
  createReplyDefect('202 is emitted', 'answers.never-202', (reply, request) => {
    if (reply.status === 200 && request.url.endsWith('/v1/users')) reply.status = 202
  }),
  createReplyDefect('a request is IN_PROGRESS from the start', 'create.accepted', ({ status, body }) => {
    if (status === 201) Object.assign(body.data ?? {}, { status: 'IN_PROGRESS' })
  }),
  {
    name: 'a repeated Idempotency-Key returns the first request',
    caughtBy: 'create.no-idempotency',
    createHandler: (sandbox) => {
      const requestByKey = new Map<string, unknown>()
      return onJson(sandbox, ({ status, body }, request) => {
        const key = request.headers.get('Idempotency-Key')
        if (key === null || status !== 201) return
        if (requestByKey.has(key)) body.data = requestByKey.get(key)
        else requestByKey.set(key, body.data)
      })
    },
  },
  createReplyDefect('a 400 whose message does not name the field', 'create.missing-fields', (reply) => {
    if (reply.status === 400) reply.body.message = reply.body.message.replace(/^.*?: /, '')
  }),
  createReplyDefect(
    'a 400 whose message names only the last part of the field path',
    'create.email',
    (reply) => {
      if (reply.status === 400) reply.body.message = reply.body.message.replace(/^recipient\./, '')
    },
  ),
  createReplyDefect('a 400 for a package that does not exist', 'create.package-unknown', (reply) => {
    if (reply.body.message === 'resource not found') reply.status = 400
  }),
  {
    name: 'an empty additional_information is refused',
    caughtBy: 'create.information-optional',
    createHandler: (sandbox) => async (request, connection) => {
      const isEmpty = request.method === 'POST' && (await request.clone().text()).includes('_information":[]')
      return isEmpty
        ? createAnswer(400, null, 'additional_information: must not be empty')
        : sandbox.fetch(request, connection)
    },
  },
  {
    name: 'a phone with 15 digits is refused',
    caughtBy: 'create.longest-phone',
    createHandler: (sandbox) => async (request, connection) => {
      const isLong = request.method === 'POST' && (await request.clone().text()).includes('+491234567890123"')
      return isLong
        ? createAnswer(400, null, 'recipient.phone: is too long')
        : sandbox.fetch(request, connection)
    },
  },
  createAcceptDefect('any text is accepted as a phone', 'create.phone', /^recipient\.phone: must be in/),
  createAcceptDefect(
    'any text is accepted as an e-mail',
    'create.email',
    /^recipient\.email: must be a valid/,
  ),
  createAcceptDefect(
    'a number is accepted as a text',
    'create.wrong-types',
    /^recipient\.\w+: must be a string/,
  ),
  createAcceptDefect(
    'a text is accepted as a package id',
    'create.wrong-types',
    /^package_id: must be an integer/,
  ),
  createAcceptDefect(
    'a recipient without a phone is accepted',
    'create.missing-fields',
    /^recipient\.phone: is required/,
  ),
  createAcceptDefect('an INACTIVE package is accepted', 'create.package-inactive', /not ACTIVE/),
  createReplyDefect('a 400 for a DISABLED package', 'create.package-disabled', (reply, request) => {
    if (reply.status === 404 && request.method === 'POST') reply.status = 400
  }),
  createAcceptDefect(
    'an order of a package that is hidden from the user is accepted',
    'packages.order-by-role',
    /^resource not found/,
  ),
  createAcceptDefect(
    'an order with the same check code twice is accepted',
    'create.duplicate-codes',
    /appears more than once/,
  ),
  createAcceptDefect(
    'a field that the schema does not have is accepted',
    'create.information-unknown',
    /is not a known field/,
  ),
  createAcceptDefect(
    'a check code that the package does not have is accepted',
    'create.information-form',
    /is not a check code/,
  ),
  createAcceptDefect(
    'an order without a required field of the schema is accepted',
    'create.information-required',
    /fields\.\w+: is required$/,
  ),
  createAcceptDefect('a text is accepted as a boolean', 'create.information-types', /must be a boolean/),
  createAcceptDefect(
    'a fraction is accepted as an integer',
    'create.information-types',
    /years_of_history: must be an integer/,
  ),
  createAcceptDefect('any Content-Type is accepted', 'create.content-type', /^Content-Type/),
  createPlanDefect('an order without credits is accepted', 'standing.credits', /no credits/),
  createPlanDefect('an order after the end of the trial is accepted', 'standing.trial', /trial has expired/),
  createPlanDefect(
    'an order with an inactive subscription is accepted',
    'standing.subscription',
    /subscription is not active/,
  ),
  createReplyDefect('a 500 for invalid JSON', 'create.invalid-json', (reply) => {
    if (!reply.body.message.startsWith('body: must be valid JSON')) return
    reply.status = 500
    reply.body.status_message = 'server_error'
  }),
  {
    name: 'the requester of every request is the owner',
    caughtBy: 'authentication.attributed',
    createHandler: (sandbox) =>
      onJson(sandbox, ({ body }) => {
        if (typeof body.data === 'object' && body.data !== null && 'requester' in body.data) {
          body.data.requester = { email: sandbox.people.owner }
        }
      }),
  },
]
