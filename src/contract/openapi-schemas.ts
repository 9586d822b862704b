import { z } from 'zod'

import { ping } from './envelope.ts'
import { integer, type Json, object, uuid } from './openapi-paths.ts'
import { fieldDefinition, fieldTypes, packageSchema } from './package-schema.ts'
import { packageResource, packageStatuses } from './package.ts'
import { requestBody } from './request-body.ts'
import { createdRequest, recipient } from './request.ts'
import { checkStatuses, refereeStatuses, requestStatuses } from './statuses.ts'
import { user } from './user.ts'

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
export function schemas(): Json {
  return {
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
