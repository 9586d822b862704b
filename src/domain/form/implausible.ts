import { dateExists, dateRule, looksLikeIsoDate } from '../../contract/date-format.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { FieldValue } from '../../contract/request.ts'
import { type FormField, formFields, titleOf } from './fields.ts'
import type { DraftBody } from './validate.ts'

const maxAgeYears = 120

/**
 * Returns why a value is improbable although its type allows it, as a sentence without a full stop; undefined if it is
 * plausible. The meaning of a field is derived from its name and description. `today` has the form `YYYY-MM-DD`. The
 * user is asked to confirm such a value, and it is not refused.
 */
export function findImplausible(field: FormField, value: FieldValue, today: string): string | undefined {
  const reason = implausibleReason(meaningOf(field), value, today)
  return reason && implausibleText({ field, value, reason })
}

/** Describes an improbable value: "Identity: Date of birth: 2062-01-01 is in the future". */
export function implausibleText({ field, value, reason }: ImplausibleValue): string {
  return typeof value === 'string' ? `${titleOf(field)}: ${value} ${reason}` : `${titleOf(field)} ${reason}`
}

/** An improbable value of a body, and the reason. */
export interface ImplausibleValue {
  field: FormField
  value: FieldValue
  reason: string
}

/**
 * Returns a function that finds the improbable values of a body. It looks only at fields of the package that can be
 * improbable.
 */
export function createImplausibleFinder(
  schema: PackageSchema,
  today: string,
): (body: DraftBody) => ImplausibleValue[] {
  const fields = formFields(schema).flatMap((field) => {
    const meaning = meaningOf(field)
    return meaning === undefined ? [] : [{ field, meaning }]
  })
  if (fields.length === 0) return () => []
  return (body) =>
    fields.flatMap(({ field, meaning }) => {
      const value = fieldValueIn(body, field)
      const reason = value === undefined ? undefined : implausibleReason(meaning, value, today)
      return value === undefined || reason === undefined ? [] : [{ field, value, reason }]
    })
}

/** What a field means, for the fields whose values can be improbable. `group` is an object of several parts. */
type Meaning = 'birth' | 'expiry' | 'group' | undefined

function meaningOf({ type, name, description }: FormField): Meaning {
  if (type === 'object') return 'group'
  if (dateRule(description) === undefined) return undefined
  const nameAndHelp = `${name.replaceAll('_', ' ')} ${description.slice(0, 400)}`
  if (/\b(?:birth|born|dob)\b/i.test(nameAndHelp)) return 'birth'
  return /\bexpir/i.test(nameAndHelp) ? 'expiry' : undefined
}

function implausibleReason(meaning: Meaning, value: FieldValue, today: string): string | undefined {
  if (meaning === 'group') return typeof value !== 'string' && isEmpty(value) ? 'is empty' : undefined
  if (meaning === undefined || typeof value !== 'string') return undefined
  if (!looksLikeIsoDate(value) || !dateExists(value)) return undefined
  if (meaning === 'expiry') return value < today ? 'is in the past' : undefined
  if (value > today) return 'is in the future'
  const minDate = `${String(Number(today.slice(0, 4)) - maxAgeYears).padStart(4, '0')}${today.slice(4)}`
  return value < minDate ? `is more than ${maxAgeYears} years ago` : undefined
}

/** Whether a value contains no data: `{}`, `{"street": ""}`. */
function isEmpty(value: FieldValue): boolean {
  if (typeof value === 'string') return value.trim() === ''
  if (value === null) return true
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}

/** Returns the value that a body has for a field. */
export function fieldValueIn(body: DraftBody, { code, name }: FormField): FieldValue | undefined {
  const values =
    code === undefined
      ? body.recipient
      : body.additional_information?.find((entry) => entry.code === code)?.fields
  return values !== undefined && Object.hasOwn(values, name)
    ? (values as Record<string, FieldValue>)[name]
    : undefined
}
