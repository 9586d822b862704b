import { z } from 'zod'

import { createdRequest, recipient, requestBody } from './request.ts'
import { fieldDefinition, fieldTypes, packageSchema } from './package-schema.ts'
import { packageResource, packageStatuses } from './package.ts'
import { ping } from './envelope.ts'
import { user } from './user.ts'
import { bodyExamples, failureExamples } from './openapi-examples.ts'
import { checkStatuses, refereeStatuses, requestStatuses } from './statuses.ts'

type Json = Record<string, unknown>

/** A contract shape as JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export function schemaOf(shape: z.ZodType): Json {
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

const one = (values: readonly string[]): Json => ({ type: 'string', enum: [...values] })
const format = (name: string): Json => ({ format: name })
const orNull = (schema: Json): Json => ({ ...schema, type: ['string', 'null'] })
const text = { type: 'string' }
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
const listOf = (name: string): Json => ({ type: 'array', items: ref(name) })
const email = { type: 'string', format: 'email' }
const reportUrl = orNull(format('uri'))

/** Not blank, and without control characters; as every dialect of regular expressions writes it. */
const control = String.raw`\u0000-\u001F\u007F-\u009F`
const namePattern = String.raw`^[^${control}]*[^\s${control}][^${control}]*$`

/** A dot-atom of RFC 5322, and a domain of two labels or more. */
const atom = "[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+"
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const emailPattern = String.raw`^${atom}(?:\.${atom})*@(?:${label}\.)+${label}$`

/** A choice by one property, each value leading to its schema: what generators narrow by. */
function chosenBy(propertyName: string, mapping: Readonly<Record<string, string>>): Json {
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

/** The resources of the document ("Resources and their fields"), its events and its errors. */
function schemas(): Json {
  const ok = { status_message: { type: 'string', const: 'ok' }, message: text }
  const envelopes = dataNames.map((name) => [`${name}Envelope`, object({ data: ref(name), ...ok })])
  return {
    ...Object.fromEntries(envelopes),
    Ping: schemaOf(ping),
    ...packageSchemas(),
    ...requestSchemas(),
    ...eventSchemas(),
    User: documented(user, {
      id: format('uuid'),
      email: format('email'),
      'teams.[].id': format('uuid'),
    }),
    UserList: object({ users: listOf('User') }),
    Failure: object({
      data: { type: 'null' },
      status_message: one(['client_error', 'server_error']),
      message: { type: 'string', minLength: 1 },
    }),
  }
}

function packageSchemas(): Json {
  return {
    Package: documented(packageResource, { status: one(packageStatuses) }),
    PackageList: object({ packages: listOf('Package') }),
    PackageSchema: documented(packageSchema, {
      // The contract reads these names by hand, since the service chooses them.
      'fields.additional_information.[].fields': {
        type: 'object',
        additionalProperties: documented(fieldDefinition, { type: one(fieldTypes) }),
      },
    }),
  }
}

function requestSchemas(): Json {
  const name = { pattern: namePattern }
  const address = { format: 'email', pattern: emailPattern }
  const body = documented(requestBody, {
    'recipient.first_name': name,
    'recipient.last_name': name,
    'recipient.email': address,
  })
  const check = { id: orNull(uuid), type: text, status: one(checkStatuses) }
  return {
    RequestBody: closed(body),
    CreatedRequest: documented(createdRequest, { status: { const: 'RECEIVED' } }),
    Request: object({
      request_id: uuid,
      package_id: integer,
      status: ref('RequestStatus'),
      created_at: { type: 'string', format: 'date-time' },
      requester: object({ email }),
      recipient: schemaOf(recipient),
      checks: listOf('Check'),
    }),
    RequestStatus: one(requestStatuses),
    Check: chosenBy('type', { reference: 'ReferenceCheck', background: 'BackgroundCheck' }),
    ReferenceCheck: object({
      ...check,
      type: { type: 'string', const: 'reference' },
      references: listOf('Referee'),
    }),
    BackgroundCheck: object({
      ...check,
      type: { type: 'string', const: 'background' },
      partner_name: orNull({}),
      check_name: orNull({}),
      report_pdf_url: reportUrl,
    }),
    Referee: object({
      referee_id: text,
      referee_name: orNull({}),
      referee_email: orNull({}),
      status: one(refereeStatuses),
      report_pdf_url: reportUrl,
    }),
  }
}

/** "error_reason | Present only when status is ERROR". */
function eventSchemas(): Json {
  const event = { event: { type: 'string', const: 'request.updated' }, request_id: uuid }
  const others = requestStatuses.filter((status) => status !== 'ERROR')
  return {
    WebhookEvent: chosenBy('status', {
      ERROR: 'ErrorEvent',
      ...Object.fromEntries(others.map((status) => [status, 'StatusEvent'])),
    }),
    StatusEvent: {
      ...object({ ...event, status: one(others) }),
      not: { required: ['error_reason'], properties: { error_reason: text } },
    },
    ErrorEvent: {
      type: 'object',
      properties: { ...event, status: { type: 'string', const: 'ERROR' }, error_reason: text },
      required: ['event', 'request_id', 'status'],
    },
  }
}

/** An object, and those in it, with no field that is not named: "400 for an unknown … field". */
function closed(schema: Json): Json {
  const { properties, items } = schema as { properties?: Record<string, Json>; items?: Json }
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, closed(each)])),
      additionalProperties: false,
    }),
    ...(items !== undefined && { items: closed(items) }),
  }
}

const uuid = { type: 'string', format: 'uuid' }

/** As exact as JSON numbers are. */
const integer = {
  type: 'integer',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
}

/** Every property required. */
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

/** `data` of the successes. */
const dataNames = ['Ping', 'PackageList', 'PackageSchema', 'CreatedRequest', 'Request', 'UserList'] as const

/** JSON by the name of its schema, with an example. */
const json = (name: string, example: unknown): Json => ({
  'application/json': { schema: ref(name), example },
})

const bodyOf = (name: 'RequestBody' | 'WebhookEvent'): Json => ({
  required: true,
  content: json(name, bodyExamples[name]),
})

function inPath(name: string, schema: Json, example: unknown): Json {
  return { name, in: 'path', required: true, schema, example }
}

/** An endpoint of the document, in the order of its keys. */
interface Endpoint {
  operationId: string
  summary: string
  security?: Json[]
  parameters?: Json[]
  requestBody?: Json
  /** The schema of its `data`; without one it answers with a PDF. */
  data?: (typeof dataNames)[number]
  failures: readonly FailureStatus[]
}

const ofEverything: readonly FailureStatus[] = ['401', '403', '429', '5XX']
const ofResources: readonly FailureStatus[] = ['401', '403', '404', '429', '5XX']

const [referenceCheck, backgroundCheck] = bodyExamples.Request.checks

function report(operationId: string, summary: string, parameters: Json[]): Endpoint {
  return {
    operationId,
    summary,
    // `t` replaces the headers; as a scheme of security a client might put its key there.
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
    failures: ofResources,
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
        { name: 'status', in: 'query', schema: one(['active', 'inactive', 'disabled']) },
        { name: 'id', in: 'query', schema: integer },
      ],
      data: 'PackageList',
      failures: ['400', ...ofEverything],
    },
  ],
  [
    '/v1/packages/{id}/schema',
    {
      operationId: 'packageSchema',
      summary: 'The input schema of a package.',
      parameters: [inPath('id', integer, bodyExamples.PackageSchema.id)],
      data: 'PackageSchema',
      failures: ofResources,
    },
  ],
  [
    '/v1/requests',
    {
      operationId: 'createRequest',
      summary: 'Create a request. Not idempotent: a retry can create a second one.',
      requestBody: bodyOf('RequestBody'),
      data: 'CreatedRequest',
      failures: ['400', ...ofResources],
    },
    'post',
  ],
  [
    '/v1/requests/{request_id}',
    {
      operationId: 'getRequest',
      summary: 'A request with its checks and referees; each read makes fresh report URLs.',
      parameters: [inPath('request_id', uuid, bodyExamples.Request.request_id)],
      data: 'Request',
      failures: ofResources,
    },
  ],
  [
    '/v1/reports/{check_id}',
    report('downloadReport', 'The PDF of a completed background check.', [
      inPath('check_id', uuid, backgroundCheck.id),
    ]),
  ],
  [
    '/v1/reports/{check_id}/referees/{referee_id}',
    report('downloadRefereeReport', 'The PDF of one referee.', [
      inPath('check_id', uuid, referenceCheck.id),
      inPath('referee_id', text, referenceCheck.references[0].referee_id),
    ]),
  ],
  [
    '/v1/users',
    {
      operationId: 'listUsers',
      summary: 'The active users of the organisation.',
      data: 'UserList',
      failures: ofEverything,
    },
  ],
]

/** An endpoint's success, JSON in the envelope or a PDF, and the failures that the document names for it. */
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
          content: json(`${data}Envelope`, { data: bodyExamples[data], status_message: 'ok', message: '' }),
        }
  const failed = statuses.map((status) => [status, { $ref: `#/components/responses/${failures[status]}` }])
  return {
    ...endpoint,
    responses: { [data === 'CreatedRequest' ? '201' : '200']: success, ...Object.fromEntries(failed) },
    tags: ['service'],
    description: endpoint.summary,
  }
}

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
    const failed = {
      description: descriptions[name as keyof typeof failureExamples],
      headers: { ...cacheHeaders, ...(name === 'Throttled' && retryAfter) },
      content: json('Failure', { data: null, status_message, message }),
    }
    return [name, failed]
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
 * An OpenAPI 3.1 document as 3.0.4, for generators that know no 3.1. Webhooks become the extension `x-webhooks`; their
 * schemas stay. Of what 3.0 lacks it knows what our documents use: null, const, numeric exclusive limits, names of
 * properties, and the identifier of a licence.
 */
export function toOpenApi30(document: Json): Json {
  const { webhooks, info, ...rest } = document
  const { license, ...about } = info as { license: { name: string } }
  return converted({
    ...rest,
    openapi: '3.0.4',
    info: { ...about, license: { name: license.name } },
    'x-webhooks': webhooks,
  }) as Json
}

function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    // Examples are data, and the names of properties are no keywords.
    key === 'example' ? each : key === 'properties' ? convertedEach(each as Json) : converted(each),
  ])
  return keywords.reduce((schema, convert) => convert(schema), Object.fromEntries(entries) as Json)
}

const convertedEach = (each: Json): Json =>
  Object.fromEntries(Object.entries(each).map(([name, schema]) => [name, converted(schema)]))

const isNull = (schema: unknown): boolean => {
  const { nullable, enum: values } = schema as { nullable?: boolean; enum?: unknown[] }
  return nullable === true && values?.length === 1 && values[0] === null
}

/** One keyword each; a schema in which it does not occur is returned as it is. */
const keywords: ((schema: Json) => Json)[] = [
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
