import { z } from 'zod'

import { createdRequest, recipient, requestBody } from './request.ts'
import { fieldDefinition, fieldTypes, packageSchema } from './package-schema.ts'
import { packageResource, packageStatuses } from './package.ts'
import { ping } from './envelope.ts'
import { user } from './user.ts'
import { bodyExamples, failureExamples } from './openapi-examples.ts'
import { checkStatuses, refereeStatuses, requestStatuses } from './statuses.ts'

type Json = Record<string, unknown>

/** Returns the JSON Schema 2020-12 of a shape of the contract. OpenAPI 3.1 uses that dialect. */
export function schemaOf(shape: z.ZodType): Json {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' })
  return schema
}

/**
 * Returns the JSON Schema of a shape with `documentedValues` added. Its keys are paths of properties, such as
 * `teams.[].id`, and its values are keywords that the API document implies and the contract does not require, because a
 * later server may send other values.
 */
function schemaWithValues(shape: z.ZodType, documentedValues: Readonly<Record<string, Json>>): Json {
  const schema = schemaOf(shape)
  for (const [path, values] of Object.entries(documentedValues)) {
    const steps = path.split('.').flatMap((name) => (name === '[]' ? ['items'] : ['properties', name]))
    const last = steps.pop() ?? ''
    const parentSchema = steps.reduce((parent, step) => parent[step] as Json, schema)
    parentSchema[last] = { ...(parentSchema[last] as Json), ...values }
  }
  return schema
}

const enumOf = (values: readonly string[]): Json => ({ type: 'string', enum: [...values] })
const withFormat = (name: string): Json => ({ format: name })
const nullableText = (schema: Json): Json => ({ ...schema, type: ['string', 'null'] })
const text = { type: 'string' }
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
const listOf = (name: string): Json => ({ type: 'array', items: ref(name) })
const email = { type: 'string', format: 'email' }
const reportUrl = nullableText(withFormat('uri'))

/**
 * A name is not blank and has no control characters. The pattern uses only what every dialect of regular expressions
 * supports.
 */
const controlCharacters = String.raw`\u0000-\u001F\u007F-\u009F`
const namePattern = String.raw`^[^${controlCharacters}]*[^\s${controlCharacters}][^${controlCharacters}]*$`

/** The pattern accepts a dot-atom of RFC 5322, and a domain of at least two labels. */
const atom = "[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+"
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const emailPattern = String.raw`^${atom}(?:\.${atom})*@(?:${label}\.)+${label}$`

/** A union whose schema is chosen by the value of one property, as code generators need it. */
function discriminatedBy(propertyName: string, mapping: Readonly<Record<string, string>>): Json {
  return {
    oneOf: [...new Set(Object.values(mapping))].map(ref),
    discriminator: {
      propertyName,
      mapping: Object.fromEntries(
        Object.entries(mapping).map(([value, name]) => [value, `#/components/schemas/${name}`]),
      ),
    },
  }
}

/** Returns the schemas of the API document: "Resources and their fields", events and errors. */
function schemas(): Json {
  const successFields = { status_message: { type: 'string', const: 'ok' }, message: text }
  const envelopes = dataNames.map((name) => [
    `${name}Envelope`,
    object({ data: ref(name), ...successFields }),
  ])
  return {
    ...Object.fromEntries(envelopes),
    Ping: schemaOf(ping),
    ...packageSchemas(),
    ...requestSchemas(),
    ...eventSchemas(),
    User: schemaWithValues(user, {
      id: withFormat('uuid'),
      email: withFormat('email'),
      'teams.[].id': withFormat('uuid'),
    }),
    UserList: object({ users: listOf('User') }),
    Failure: object({
      data: { type: 'null' },
      status_message: enumOf(['client_error', 'server_error']),
      message: { type: 'string', minLength: 1 },
    }),
  }
}

function packageSchemas(): Json {
  return {
    Package: schemaWithValues(packageResource, { status: enumOf(packageStatuses) }),
    PackageList: object({ packages: listOf('Package') }),
    PackageSchema: schemaWithValues(packageSchema, {
      // The contract checks these names without a zod object, because the service chooses them.
      'fields.additional_information.[].fields': {
        type: 'object',
        additionalProperties: schemaWithValues(fieldDefinition, { type: enumOf(fieldTypes) }),
      },
    }),
  }
}

function requestSchemas(): Json {
  const name = { pattern: namePattern }
  const address = { format: 'email', pattern: emailPattern }
  const body = schemaWithValues(requestBody, {
    'recipient.first_name': name,
    'recipient.last_name': name,
    'recipient.email': address,
  })
  const check = { id: nullableText(uuid), type: text, status: enumOf(checkStatuses) }
  return {
    RequestBody: withoutUnknownFields(body),
    CreatedRequest: schemaWithValues(createdRequest, { status: { const: 'RECEIVED' } }),
    Request: object({
      request_id: uuid,
      package_id: integer,
      status: ref('RequestStatus'),
      created_at: { type: 'string', format: 'date-time' },
      requester: object({ email }),
      recipient: schemaOf(recipient),
      checks: listOf('Check'),
    }),
    RequestStatus: enumOf(requestStatuses),
    Check: discriminatedBy('type', { reference: 'ReferenceCheck', background: 'BackgroundCheck' }),
    ReferenceCheck: object({
      ...check,
      type: { type: 'string', const: 'reference' },
      references: listOf('Referee'),
    }),
    BackgroundCheck: object({
      ...check,
      type: { type: 'string', const: 'background' },
      partner_name: nullableText({}),
      check_name: nullableText({}),
      report_pdf_url: reportUrl,
    }),
    Referee: object({
      referee_id: text,
      referee_name: nullableText({}),
      referee_email: nullableText({}),
      status: enumOf(refereeStatuses),
      report_pdf_url: reportUrl,
    }),
  }
}

/** Only events with the status ERROR may have `error_reason` ("Events"). */
function eventSchemas(): Json {
  const event = { event: { type: 'string', const: 'request.updated' }, request_id: uuid }
  const otherStatuses = requestStatuses.filter((status) => status !== 'ERROR')
  return {
    WebhookEvent: discriminatedBy('status', {
      ERROR: 'ErrorEvent',
      ...Object.fromEntries(otherStatuses.map((status) => [status, 'StatusEvent'])),
    }),
    StatusEvent: {
      ...object({ ...event, status: enumOf(otherStatuses) }),
      not: { required: ['error_reason'], properties: { error_reason: text } },
    },
    ErrorEvent: {
      type: 'object',
      properties: { ...event, status: { type: 'string', const: 'ERROR' }, error_reason: text },
      required: ['event', 'request_id', 'status'],
    },
  }
}

/** Forbids unknown properties in an object and in the objects within it: "400 for an unknown … field". */
function withoutUnknownFields(schema: Json): Json {
  const { properties, items } = schema as { properties?: Record<string, Json>; items?: Json }
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, withoutUnknownFields(each)]),
      ),
      additionalProperties: false,
    }),
    ...(items !== undefined && { items: withoutUnknownFields(items) }),
  }
}

const uuid = { type: 'string', format: 'uuid' }

/** The range in which a JSON number represents every integer exactly. */
const integer = {
  type: 'integer',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}

/** An object whose properties are all required. */
function object(properties: Json): Json {
  return { type: 'object', properties, required: Object.keys(properties) }
}

/** "Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response" ("What the service does"). */
const cacheHeaders = Object.fromEntries(
  ['Cache-Control', 'Pragma', 'Expires'].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const failures = {
  '400': 'BadRequest',
  '401': 'Unauthenticated',
  '403': 'Forbidden',
  '404': 'NotFound',
  '429': 'Throttled',
  '4XX': 'Unavailable',
  '5XX': 'ServerError',
} as const
type FailureStatus = keyof typeof failures

/** Names of the schemas of `data` in successful responses. */
const dataNames = ['Ping', 'PackageList', 'PackageSchema', 'CreatedRequest', 'Request', 'UserList'] as const

/** A JSON body: the schema with this name, and an example. */
const jsonContent = (name: string, example: unknown): Json => ({
  'application/json': { schema: ref(name), example },
})

const bodyOf = (name: 'RequestBody' | 'WebhookEvent'): Json => ({
  required: true,
  content: jsonContent(name, bodyExamples[name]),
})

function pathParameter(name: string, schema: Json, example: unknown): Json {
  return { name, in: 'path', required: true, schema, example }
}

/** An endpoint of the API document. The keys are in the order of the published file. */
interface Endpoint {
  operationId: string
  summary: string
  security?: Json[]
  parameters?: Json[]
  requestBody?: Json
  /** The name of the schema of `data`. An endpoint without it responds with a PDF. */
  data?: (typeof dataNames)[number]
  failures: readonly FailureStatus[]
}

const commonFailures: readonly FailureStatus[] = ['401', '403', '429', '5XX']
const resourceFailures: readonly FailureStatus[] = ['401', '403', '404', '429', '5XX']

const [referenceCheck, backgroundCheck] = bodyExamples.Request.checks

function reportEndpoint(operationId: string, summary: string, parameters: Json[]): Endpoint {
  return {
    operationId,
    summary,
    // `t` is a parameter and no security scheme, because clients might send the API key as the value of a security
    // scheme.
    security: [{ apiKey: [], userEmail: [] }, {}],
    parameters: [
      ...parameters,
      {
        name: 't',
        in: 'query',
        description: 'Signed token of `report_pdf_url`: valid 1 hour; replaces the authentication headers.',
        schema: text,
      },
    ],
    failures: resourceFailures,
  }
}

const endpoints: readonly [path: string, endpoint: Endpoint, method?: 'post'][] = [
  [
    '/v1/ping',
    { operationId: 'ping', summary: 'Is the API up?', security: [], data: 'Ping', failures: ['4XX', '5XX'] },
  ],
  [
    '/v1/packages',
    {
      operationId: 'listPackages',
      summary: 'Packages available to the organisation and the user.',
      parameters: [
        { name: 'status', in: 'query', schema: enumOf(['active', 'inactive', 'disabled']) },
        { name: 'id', in: 'query', schema: integer },
      ],
      data: 'PackageList',
      failures: ['400', ...commonFailures],
    },
  ],
  [
    '/v1/packages/{id}/schema',
    {
      operationId: 'packageSchema',
      summary: 'The input schema of a package.',
      parameters: [pathParameter('id', integer, bodyExamples.PackageSchema.id)],
      data: 'PackageSchema',
      failures: resourceFailures,
    },
  ],
  [
    '/v1/requests',
    {
      operationId: 'createRequest',
      summary: 'Create a request. Not idempotent: a retry can create a second one.',
      requestBody: bodyOf('RequestBody'),
      data: 'CreatedRequest',
      failures: ['400', ...resourceFailures],
    },
    'post',
  ],
  [
    '/v1/requests/{request_id}',
    {
      operationId: 'getRequest',
      summary: 'A request with its checks and referees; each read makes fresh report URLs.',
      parameters: [pathParameter('request_id', uuid, bodyExamples.Request.request_id)],
      data: 'Request',
      failures: resourceFailures,
    },
  ],
  [
    '/v1/reports/{check_id}',
    reportEndpoint('downloadReport', 'The PDF of a completed background check.', [
      pathParameter('check_id', uuid, backgroundCheck.id),
    ]),
  ],
  [
    '/v1/reports/{check_id}/referees/{referee_id}',
    reportEndpoint('downloadRefereeReport', 'The PDF of one referee.', [
      pathParameter('check_id', uuid, referenceCheck.id),
      pathParameter('referee_id', text, referenceCheck.references[0].referee_id),
    ]),
  ],
  [
    '/v1/users',
    {
      operationId: 'listUsers',
      summary: 'The active users of the organisation.',
      data: 'UserList',
      failures: commonFailures,
    },
  ],
]

/**
 * An operation with its success, which is JSON in the envelope or a PDF, and the failures that the API document lists
 * for it.
 */
function operation({ data, failures: statuses, ...endpoint }: Endpoint): Json {
  const success =
    data === undefined
      ? {
          description: 'The PDF.',
          headers: cacheHeaders,
          content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } },
        }
      : {
          description: 'Done.',
          headers: cacheHeaders,
          content: jsonContent(`${data}Envelope`, {
            data: bodyExamples[data],
            status_message: 'ok',
            message: '',
          }),
        }
  const failureResponses = statuses.map((status) => [
    status,
    { $ref: `#/components/responses/${failures[status]}` },
  ])
  return {
    ...endpoint,
    responses: {
      [data === 'CreatedRequest' ? '201' : '200']: success,
      ...Object.fromEntries(failureResponses),
    },
    tags: ['service'],
    description: endpoint.summary,
  }
}

/**
 * Returns the OpenAPI 3.1 document of the service, made from the contract that checks responses. `baseUrl` is the URL
 * of the server.
 */
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
    paths: Object.fromEntries(
      endpoints.map(([path, endpoint, method = 'get']) => [path, { [method]: operation(endpoint) }]),
    ),
    webhooks: { 'request.updated': { post: webhook } },
    components: { securitySchemes, headers, responses: responses(), schemas: schemas() },
  }
}

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Service-API-Key' },
  userEmail: { type: 'apiKey', in: 'header', name: 'X-Service-User-Email' },
}

const headers = {
  'Cache-Control': { schema: { type: 'string', const: 'no-store' } },
  Pragma: { schema: { type: 'string', const: 'no-cache' } },
  Expires: { schema: { type: 'string', const: '0' } },
  'Retry-After': {
    description: 'Seconds left in the window that was breached.',
    schema: { type: 'integer', minimum: 0 },
  },
}

const descriptions: Record<keyof typeof failureExamples, string> = {
  Unavailable: 'A non-200 response may mean the API is unavailable.',
  BadRequest:
    'A missing or invalid field, bad JSON, or an unsupported query value; `<field path>: <reason>`.',
  Unauthenticated: 'Missing or invalid authentication headers, or an invalid or expired `t`.',
  Forbidden: 'Not a permitted member; or credits, trial or subscription; or the role does not permit it.',
  NotFound: 'Not found, or not visible to the caller.',
  Throttled: 'The throttle of the API key is exceeded.',
  ServerError: 'An internal error. The outcome of a create is unknown.',
}

const retryAfter = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }

function responses(): Json {
  const all = Object.entries(failureExamples).map(([name, message]) => {
    const status_message = name === 'ServerError' ? 'server_error' : 'client_error'
    const response = {
      description: descriptions[name as keyof typeof failureExamples],
      headers: { ...cacheHeaders, ...(name === 'Throttled' && retryAfter) },
      content: jsonContent('Failure', { data: null, status_message, message }),
    }
    return [name, response]
  })
  return Object.fromEntries(all) as Json
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
  requestBody: bodyOf('WebhookEvent'),
  responses: { '2XX': { description: 'Received, within 10 seconds; anything else is a delivery failure.' } },
}

/**
 * Converts an OpenAPI 3.1 document to 3.0.4, for generators that do not support 3.1. Webhooks become the extension
 * `x-webhooks`, and their schemas remain. Only those features of 3.1 are converted that `openApi` uses: null, const,
 * numeric exclusive limits, `propertyNames`, and the identifier of a licence.
 */
export function toOpenApi30(document: Json): Json {
  const { webhooks, info, ...rest } = document
  const { license, ...about } = info as { license: { name: string } }
  return convertTo30({
    ...rest,
    openapi: '3.0.4',
    info: { ...about, license: { name: license.name } },
    'x-webhooks': webhooks,
  }) as Json
}

function convertTo30(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convertTo30)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    // Examples are data, and names of properties are not keywords: neither is converted.
    key === 'example' ? each : key === 'properties' ? convertProperties(each as Json) : convertTo30(each),
  ])
  return keywordConversions.reduce((schema, convert) => convert(schema), Object.fromEntries(entries) as Json)
}

const convertProperties = (each: Json): Json =>
  Object.fromEntries(Object.entries(each).map(([name, schema]) => [name, convertTo30(schema)]))

/** Whether a schema that is converted already allows null and nothing else. */
const isNull = (schema: unknown): boolean => {
  const { nullable, enum: values } = schema as { nullable?: boolean; enum?: unknown[] }
  return nullable === true && values?.length === 1 && values[0] === null
}

/** Each function converts one keyword, and returns a schema without that keyword unchanged. */
const keywordConversions: ((schema: Json) => Json)[] = [
  ({ type, ...rest }) => {
    if (type === 'null') return { ...rest, type: 'object', nullable: true, enum: [null] }
    if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest }
    return { type: type.find((name) => name !== 'null') as unknown, nullable: true, ...rest }
  },
  ({ anyOf, ...rest }) => {
    if (!Array.isArray(anyOf)) return rest
    const [only, ...others] = anyOf.filter((each) => !isNull(each)) as Json[]
    if (only === undefined || others.length > 0 || anyOf.length === 1) return { anyOf, ...rest }
    return { ...('$ref' in only ? { allOf: [only] } : only), ...rest, nullable: true }
  },
  (schema) => {
    const { const: only, ...rest } = schema
    return 'const' in schema ? { type: typeof only, ...rest, enum: [only] } : schema
  },
  (schema) => {
    const { exclusiveMinimum, ...rest } = schema
    return typeof exclusiveMinimum === 'number'
      ? { ...rest, minimum: exclusiveMinimum, exclusiveMinimum: true }
      : schema
  },
  (schema) => Object.fromEntries(Object.entries(schema).filter(([key]) => key !== 'propertyNames')),
]
