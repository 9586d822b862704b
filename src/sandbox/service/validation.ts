import type { CheckInformation, FieldDefinition } from '../../contract/package-schema.ts'
import { parseJson } from '../../contract/parse-json.ts'
import type { AdditionalInformation, FieldValue, Recipient } from '../../contract/request.ts'
import { Refusal, refusals } from './answer.ts'
import type { Choices } from './rules.ts'

/** A body of POST /v1/requests with a valid shape; it has not been compared with the package. */
export interface CreateBody {
  package_id: number
  recipient: Recipient
  additional_information: AdditionalInformation[]
}

type Json = Record<string, unknown>

const bodyFields = ['package_id', 'recipient', 'additional_information']
const recipientFields = ['first_name', 'last_name', 'email', 'phone'] as const

/** Parses a body field by field. Throws a Refusal with status 400 that names the first invalid field. */
export function parseCreateBody(text: string, rules: Choices): CreateBody {
  const body = requireObject(parseBodyJson(text), 'body')
  requireKnownFields(body, bodyFields, '')
  const packageId = requireMember(body, 'package_id', 'package_id')
  if (!Number.isSafeInteger(packageId)) throw refusals.invalid('package_id', 'must be an integer')
  return {
    package_id: packageId as number,
    recipient: parseRecipient(requireMember(body, 'recipient', 'recipient'), rules),
    additional_information: parseInformation(body['additional_information'], rules),
  }
}

function parseBodyJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new Refusal(400, 'body: must be valid JSON')
  }
}

function parseRecipient(value: unknown, rules: Choices): Recipient {
  const recipient = requireObject(value, 'recipient')
  requireKnownFields(recipient, recipientFields, 'recipient.')
  const readText = (name: (typeof recipientFields)[number]): string => {
    const path = `recipient.${name}`
    const text = requireText(requireMember(recipient, name, path), path, rules)
    if (text.trim() === '' && rules['blank-text'] === 'refused') {
      throw refusals.invalid(path, 'must not be empty')
    }
    if (/\p{Cc}/u.test(text) && rules['control-characters'] === 'refused') {
      throw refusals.invalid(path, 'must not hold control characters')
    }
    return text
  }
  const [first_name, last_name, email, phone] = [
    readText('first_name'),
    readText('last_name'),
    readText('email'),
    readText('phone'),
  ]
  if (!isEmail(email, rules)) throw refusals.invalid('recipient.email', 'must be a valid email address')
  if (!isPhone(phone)) throw refusals.invalid('recipient.phone', 'must be in E.164 format')
  return { first_name, last_name, email, phone }
}

/** Returns true for "E.164 format with country calling code; at most 15 digits". */
function isPhone(text: string): boolean {
  return /^\+[1-9]\d{1,14}$/.test(text)
}

/** Patterns of a dot-atom of RFC 5322 and of a label of a domain. */
const asciiPatterns = {
  atom: /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/,
  label: /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/i,
}
/** The patterns in `asciiPatterns` with the additions of RFC 6531: letters, marks and digits of all scripts. */
const internationalPatterns = {
  atom: /^[\w\p{L}\p{M}\p{N}!#$%&'*+/=?^`{|}~-]+(\.[\w\p{L}\p{M}\p{N}!#$%&'*+/=?^`{|}~-]+)*$/u,
  label: /^[\p{L}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u,
}

/** Returns true if the text is an e-mail address: a dot-atom, an @, and a domain of two labels or more. */
function isEmail(text: string, rules: Choices): boolean {
  if (text.length > 254) return false
  const { atom, label } = rules['email-form'] === 'international' ? internationalPatterns : asciiPatterns
  const atIndex = text.lastIndexOf('@')
  const localPart = text.slice(0, atIndex)
  if (atIndex < 1 || localPart.length > 64 || !atom.test(localPart)) return false
  const labels = text.slice(atIndex + 1).split('.')
  return labels.length > 1 && labels.every((part) => label.test(part))
}

/**
 * Parses additional_information and requires that the codes differ. The fields are later checked against the
 * schema.
 */
function parseInformation(value: unknown, rules: Choices): AdditionalInformation[] {
  if (value === undefined || (value === null && rules['null-values'] === 'left-out')) return []
  if (!Array.isArray(value)) throw refusals.invalid('additional_information', 'must be an array')
  const codes = new Set<string>()
  return value.map((entry: unknown, index) => {
    const path = `additional_information[${index}]`
    const information = requireObject(entry, path)
    requireKnownFields(information, ['code', 'fields'], `${path}.`)
    const code = requireMember(information, 'code', `${path}.code`)
    if (typeof code !== 'string') throw refusals.invalid(`${path}.code`, 'must be a string')
    if (codes.has(code)) throw refusals.invalid(`${path}.code`, 'appears more than once')
    codes.add(code)
    const fields = requireObject(requireMember(information, 'fields', `${path}.fields`), `${path}.fields`)
    return { code, fields: fields as Record<string, FieldValue> }
  })
}

function requireObject(value: unknown, path: string): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json
  throw refusals.invalid(path, 'must be an object')
}

function requireText(value: unknown, path: string, rules: Choices): string {
  if (typeof value !== 'string') throw refusals.invalid(path, 'must be a string')
  if (rules['text-limit'] === '255' && value.length > 255) {
    throw refusals.invalid(path, 'must be at most 255 characters')
  }
  return value
}

function requireMember(object: Json, name: string, path: string): unknown {
  if (!Object.hasOwn(object, name)) throw refusals.invalid(path, 'is required')
  return object[name]
}

/**
 * Throws a Refusal for an unknown field: "400 for an unknown or missing field" (GET
 * /v1/packages/{id}/schema).
 */
function requireKnownFields(object: Json, knownNames: readonly string[], prefix: string): void {
  const unknownName = Object.keys(object).find((name) => !knownNames.includes(name))
  if (unknownName !== undefined) throw refusals.invalid(prefix + unknownName, 'is not a known field')
}

/**
 * Checks additional_information against the schema: "Check-specific information as defined by the package schema".
 * Throws a Refusal with status 400 for a mismatch.
 */
export function checkAdditionalInformation(
  entries: readonly AdditionalInformation[],
  schema: readonly CheckInformation[],
  rules: Choices,
): void {
  for (const [index, { code, fields }] of entries.entries()) {
    const path = `additional_information[${index}]`
    const information = schema.find((entry) => entry.code === code)
    if (information === undefined) {
      throw refusals.invalid(`${path}.code`, 'is not a check code of this package')
    }
    checkFields(fields, information, `${path}.fields`, rules)
  }
  for (const { code, fields } of schema) {
    if (entries.some((entry) => entry.code === code)) continue
    const missingField = Object.entries(fields).find(([, { required }]) => required)
    if (missingField === undefined) continue
    throw refusals.invalid(
      `additional_information[${entries.length}].fields.${missingField[0]}`,
      `is required by check code ${code}`,
    )
  }
}

function checkFields(
  values: AdditionalInformation['fields'],
  information: CheckInformation,
  path: string,
  rules: Choices,
): void {
  const { fields } = information
  for (const name of Object.keys(values)) {
    if (!Object.hasOwn(fields, name)) throw refusals.invalid(`${path}.${name}`, 'is not a known field')
  }
  for (const name of Object.keys(fields)) {
    const definition = fields[name]
    if (definition === undefined) continue
    if (hasValue(values, name, definition, rules))
      checkValue(values[name], definition, `${path}.${name}`, rules)
    else if (definition.required) throw refusals.invalid(`${path}.${name}`, 'is required')
  }
}

/**
 * Returns true if a field has a value. Null for an optional field counts as omitted if the rule `null-values`
 * says so.
 */
function hasValue(
  values: AdditionalInformation['fields'],
  name: string,
  { required }: FieldDefinition,
  rules: Choices,
): boolean {
  if (!Object.hasOwn(values, name)) return false
  return values[name] !== null || required || rules['null-values'] === 'refused'
}

const typesWithArticle: Record<string, string> = {
  integer: 'an integer',
  array: 'an array',
  object: 'an object',
}

function checkValue(value: unknown, { type, required }: FieldDefinition, path: string, rules: Choices): void {
  if (!hasType(value, type)) throw refusals.invalid(path, `must be ${typesWithArticle[type] ?? `a ${type}`}`)
  if (typeof value !== 'string') return
  if (required && value.trim() === '' && rules['blank-text'] === 'refused')
    throw refusals.invalid(path, 'must not be empty')
  if (rules['text-limit'] === '255' && value.length > 255) {
    throw refusals.invalid(path, 'must be at most 255 characters')
  }
}

/**
 * Returns true if a value has the type, which is "One of string, integer, number, boolean, array, object."
 */
function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    default:
      return typeof value === type
  }
}
