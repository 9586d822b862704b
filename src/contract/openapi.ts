import { z } from 'zod'

import { ping } from './envelope.ts'
import { webhookEvent } from './event.ts'
import { cacheHeaders, type Json, object, openApiPaths, uuid } from './openapi-paths.ts'
import { fieldDefinition, fieldTypes, packageSchema } from './package-schema.ts'
import { packageList, packageStatuses } from './package.ts'
import { requestBody } from './request-body.ts'
import { createdRequest, requestResource } from './request.ts'
import { checkStatuses, refereeStatuses, requestStatuses } from './statuses.ts'
import { userList } from './user.ts'

/** The service as OpenAPI 3.1, made of the same contract that the program reads it by; `baseUrl` is where it is served. */
export function openApi(baseUrl: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Background and Reference Check Service API',
      version: '1.0.0',
      description:
        'Order reference and background checks, follow them, download the reports, receive webhook events.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: baseUrl }],
    tags: [{ name: 'service', description: 'The API of the document.' }],
    security: [{ apiKey: [], userEmail: [] }],
    paths: openApiPaths(),
    webhooks: { 'request.updated': { post: webhook } },
    components: { securitySchemes, headers, responses, schemas: schemas() },
  }
}

/** A contract shape as JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
function schemaOf(shape: z.ZodType): Json {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' })
  return schema
}

/**
 * The same with what the contract leaves open, because a later server may send more: the values that the
 * document lists, by the path of the property that has them.
 */
function documented(shape: z.ZodType, open: Readonly<Record<string, Json>>): Json {
  const schema = schemaOf(shape)
  for (const [path, values] of Object.entries(open)) {
    const steps = path.split('.').flatMap((name) => (name === '[]' ? ['items'] : ['properties', name]))
    const last = steps.pop() ?? ''
    const holder = steps.reduce((at, step) => at[step] as Json, schema)
    holder[last] = { ...(holder[last] as Json), ...values }
  }
  return schema
}

const one = (values: readonly string[]): Json => ({ enum: [...values] })
const format = (name: string): Json => ({ format: name })

function schemas(): Json {
  const request = {
    status: one(requestStatuses),
    'checks.[].type': one(['reference', 'background']),
    'checks.[].status': one(checkStatuses),
    'checks.[].references.[].status': one(refereeStatuses),
    'checks.[].id': format('uuid'),
    'checks.[].report_pdf_url': format('uri'),
    'checks.[].references.[].report_pdf_url': format('uri'),
    created_at: format('date-time'),
    'requester.email': format('email'),
  }
  return {
    Ping: schemaOf(ping),
    PackageList: documented(packageList, { 'packages.[].status': one(packageStatuses) }),
    PackageSchema: documented(packageSchema, {
      // The contract reads these names by hand, since the service chooses them.
      'fields.additional_information.[].fields': {
        type: 'object',
        additionalProperties: documented(fieldDefinition, { type: one(fieldTypes) }),
      },
    }),
    RequestBody: documented(requestBody, { 'recipient.email': format('email') }),
    CreatedRequest: documented(createdRequest, { status: { const: 'RECEIVED' } }),
    Request: documented(requestResource, request),
    UserList: documented(userList, {
      'users.[].id': format('uuid'),
      'users.[].email': format('email'),
      'users.[].teams.[].id': format('uuid'),
    }),
    WebhookEvent: documented(webhookEvent, {
      event: { const: 'request.updated' },
      request_id: uuid,
      status: one(requestStatuses),
    }),
    Failure: object({
      data: { type: 'null' },
      status_message: { enum: ['client_error', 'server_error'] },
      message: { type: 'string', minLength: 1 },
    }),
  }
}

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Service-API-Key' },
  userEmail: { type: 'apiKey', in: 'header', name: 'X-Service-User-Email' },
  reportToken: {
    type: 'apiKey',
    in: 'query',
    name: 't',
    description: 'Signed, valid 1 hour; report downloads only.',
  },
}

const headers = {
  'Cache-Control': { schema: { const: 'no-store' } },
  Pragma: { schema: { const: 'no-cache' } },
  Expires: { schema: { const: '0' } },
  'Retry-After': {
    description: 'Seconds left in the window that was breached.',
    schema: { type: 'integer', minimum: 0 },
  },
}

const failed = (description: string, more: Json = {}): Json => ({
  description,
  headers: { ...cacheHeaders, ...more },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
})

const responses = {
  BadRequest: failed(
    'A missing or invalid field, bad JSON, or an unsupported query value; `<field path>: <reason>`.',
  ),
  Unauthenticated: failed('Missing or invalid authentication headers, or an invalid or expired `t`.'),
  Forbidden: failed(
    'Not a permitted member; or credits, trial or subscription; or the role does not permit it.',
  ),
  NotFound: failed('Not found, or not visible to the caller.'),
  Throttled: failed('The throttle of the API key is exceeded.', {
    'Retry-After': { $ref: '#/components/headers/Retry-After' },
  }),
  ServerError: failed('An internal error. The outcome of a create is unknown.'),
}

const webhook = {
  operationId: 'requestUpdated',
  summary: 'Sent when the overall status of a request changes; at least once.',
  security: [],
  parameters: [
    {
      name: 'X-Service-Signature',
      in: 'header',
      required: true,
      description: 'Lowercase hex HMAC-SHA256 of the raw body, keyed with the webhook secret.',
      schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    },
  ],
  requestBody: {
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/WebhookEvent' } } },
  },
  responses: { '2XX': { description: 'Received, within 10 seconds; anything else is a delivery failure.' } },
}
