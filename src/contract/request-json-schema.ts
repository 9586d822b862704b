import { z } from 'zod'

import { dateRule, isoDateForm } from './date-format.ts'
import type { CheckInformation, FieldDefinition, PackageSchema } from './package-schema.ts'
import { emailAddress, phoneNumber } from './request.ts'

type JsonSchema = Record<string, unknown>

/** The first and last characters are not white space, and there are no control characters. */
const namePattern = '^[^\\s\\p{Cc}](?:[^\\p{Cc}]*[^\\s\\p{Cc}])?$'

/**
 * Returns the JSON Schema (2020-12) of the body of POST /v1/requests for a package. It describes the body as it is
 * sent: a phone number with spaces, which refcheck removes before sending, is invalid. Only `format: date` checks that
 * a day exists, and validators may ignore it.
 */
export function requestJsonSchema(schema: PackageSchema): JsonSchema {
  const checks = schema.fields.additional_information
  const required = checks.some(isRequired) ? ['additional_information'] : []
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Request from package ${String(schema.id)}`,
    description: 'Body of POST /v1/requests',
    type: 'object',
    properties: {
      package_id: { const: schema.id, description: 'The package to order' },
      recipient: recipient(),
      additional_information: additionalInformation(checks),
    },
    required: ['package_id', 'recipient', ...required],
    additionalProperties: false,
  }
}

function recipient(): JsonSchema {
  const name = (description: string) => ({ type: 'string', pattern: namePattern, description })
  return {
    description: 'Who the checks are about',
    type: 'object',
    properties: {
      first_name: name('Given name'),
      last_name: name('Family name'),
      email: { ...schemaOfText(emailAddress), description: 'At most 254 characters' },
      phone: {
        ...schemaOfText(phoneNumber),
        description: 'E.164: + and country calling code, at most 15 digits',
      },
    },
    required: ['first_name', 'last_name', 'email', 'phone'],
    additionalProperties: false,
  }
}

/** Returns zod's JSON Schema of a text. It combines the schemas of both parts of a pipe. */
function schemaOfText(text: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...output } = z.toJSONSchema(text)
  const { $schema: _same, ...input } = z.toJSONSchema(text, { io: 'input' })
  return { ...input, ...output }
}

function additionalInformation(checks: readonly CheckInformation[]): JsonSchema {
  if (checks.length === 0) {
    return { description: 'Nothing is needed for this package', type: 'array', maxItems: 0 }
  }
  return {
    description: 'What single checks need to know, each code at most once',
    type: 'array',
    items: { oneOf: checks.map(informationSchema) },
    allOf: checks.map((check) => ({
      contains: { type: 'object', properties: { code: { const: check.code } }, required: ['code'] },
      minContains: isRequired(check) ? 1 : 0,
      maxContains: 1,
    })),
  }
}

function isRequired({ fields }: CheckInformation): boolean {
  return Object.values(fields).some(({ required }) => required)
}

function informationSchema({ code, display_name, fields }: CheckInformation): JsonSchema {
  const properties = Object.create(null) as Record<string, JsonSchema>
  for (const [name, definition] of Object.entries(fields)) properties[name] = fieldSchema(definition)
  const required = Object.keys(fields).filter((name) => fields[name]?.required === true)
  return {
    title: display_name,
    type: 'object',
    properties: {
      code: { const: code },
      fields: { type: 'object', properties, required, additionalProperties: false },
    },
    required: ['code', 'fields'],
    additionalProperties: false,
  }
}

function fieldSchema({ type, required, description }: FieldDefinition): JsonSchema {
  switch (type) {
    case 'string':
      return { type, description, ...(required ? { pattern: '\\S' } : {}), ...dateSchema(description) }
    case 'integer':
      return { type, description, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
    case 'number':
    case 'boolean':
    case 'array':
    case 'object':
      return { type, description }
    default:
      // The type is one that a later version of the API added: any value is accepted.
      return { description }
  }
}

/** Returns the JSON Schema of a date that the help text of a field requires (date-format.ts). */
function dateSchema(description: string): JsonSchema {
  const date = { pattern: isoDateForm, format: 'date' }
  switch (dateRule(description)) {
    case 'iso':
      return date
    case 'mentioned':
      return { anyOf: [date, { not: { pattern: isoDateForm } }] }
    case undefined:
      return {}
  }
}
