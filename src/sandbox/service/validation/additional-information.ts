import type { CheckInformation, FieldDefinition } from '../../../contract/package-schema.ts'
import type { AdditionalInformation } from '../../../contract/request-body.ts'
import { refusals } from '../answer.ts'
import type { Choices } from '../rules.ts'

/** "Check-specific information as defined by the package schema"; 400 where it does not fit. */
export function checkAdditionalInformation(
  given: readonly AdditionalInformation[],
  wanted: readonly CheckInformation[],
  rules: Choices,
): void {
  for (const [index, { code, fields }] of given.entries()) {
    const path = `additional_information[${index}]`
    const information = wanted.find((entry) => entry.code === code)
    if (information === undefined) {
      throw refusals.invalid(`${path}.code`, 'is not a check code of this package')
    }
    checkFields(fields, information, `${path}.fields`, rules)
  }
  for (const { code, fields } of wanted) {
    if (given.some((entry) => entry.code === code)) continue
    const missing = Object.entries(fields).find(([, { required }]) => required)
    if (missing === undefined) continue
    throw refusals.invalid(
      `additional_information[${given.length}].fields.${missing[0]}`,
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
    if (isGiven(values, name, definition, rules))
      checkValue(values[name], definition, `${path}.${name}`, rules)
    else if (definition.required) throw refusals.invalid(`${path}.${name}`, 'is required')
  }
}

/** null for something optional counts as left out where the rule says so. */
function isGiven(
  values: AdditionalInformation['fields'],
  name: string,
  { required }: FieldDefinition,
  rules: Choices,
): boolean {
  if (!Object.hasOwn(values, name)) return false
  return values[name] !== null || required || rules['null-values'] === 'refused'
}

const articles: Record<string, string> = { integer: 'an integer', array: 'an array', object: 'an object' }

function checkValue(value: unknown, { type, required }: FieldDefinition, path: string, rules: Choices): void {
  if (!hasType(value, type)) throw refusals.invalid(path, `must be ${articles[type] ?? `a ${type}`}`)
  if (typeof value !== 'string') return
  if (required && value.trim() === '' && rules['blank-text'] === 'refused')
    throw refusals.invalid(path, 'must not be empty')
  if (rules['text-limit'] === '255' && value.length > 255) {
    throw refusals.invalid(path, 'must be at most 255 characters')
  }
}

/** "One of string, integer, number, boolean, array, object." */
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
