import { cacheHeaders, type Json, openApiPaths } from './openapi-paths.ts'
import { schemas } from './openapi-schemas.ts'

/** The service as OpenAPI 3.1, made of the same contract that the program reads it by; `baseUrl` is where it is served. */
export function openApi(baseUrl: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Background and Reference Check Service API',
      version: '1.0.0',
      description:
        'Order reference and background checks, follow them, download the reports, receive webhook events.',
      contact: { name: 'The provider of the API' },
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

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Service-API-Key' },
  userEmail: { type: 'apiKey', in: 'header', name: 'X-Service-User-Email' },
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
  Unavailable: failed('A non-200 response may mean the API is unavailable.'),
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
