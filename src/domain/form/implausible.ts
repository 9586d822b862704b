import { dateExists, dateRule, looksLikeIsoDate } from '../../contract/date-format.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { FieldValue } from '../../contract/request.ts'
import { type FormField, formFields, titleOf } from './fields.ts'
import type { DraftBody } from './validate.ts'

const oldestYears = 120

/**
 * What makes a value that its type allows improbable, where the field's description makes it plain, as a sentence
 * without its end; undefined where nothing does. `today` as `YYYY-MM-DD`. A person is asked about it, nothing is
 * refused for it.
 */
export function implausible(field: FormField, value: FieldValue, today: string): string | undefined {
  const reason = implausibleReason(meaningOf(field), value, today)
  return reason && implausibleText({ field, value, reason })
}

/** "Identity: Date of birth: 2062-01-01 is in the future". */
export function implausibleText({ field, value, reason }: ImplausibleValue): string {
  return typeof value === 'string' ? `${titleOf(field)}: ${value} ${reason}` : `${titleOf(field)} ${reason}`
}

/** A value of a body that is improbable, and why. */
export interface ImplausibleValue {
  field: FormField
  value: FieldValue
  reason: string
}

/** The same for whole bodies of one package, one after the other: only fields that can be doubted are looked at. */
export function implausibleFinder(
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
      const value = answerIn(body, field)
      const reason = value === undefined ? undefined : implausibleReason(meaning, value, today)
      return value === undefined || reason === undefined ? [] : [{ field, value, reason }]
    })
}

type Meaning = 'birth' | 'expiry' | 'group' | undefined

function meaningOf({ type, name, description }: FormField): Meaning {
  if (type === 'object') return 'group'
  if (dateRule(description) === undefined) return undefined
  const about = `${name.replaceAll('_', ' ')} ${description.slice(0, 400)}`
  if (/\b(?:birth|born|dob)\b/i.test(about)) return 'birth'
  return /\bexpir/i.test(about) ? 'expiry' : undefined
}

function implausibleReason(meaning: Meaning, value: FieldValue, today: string): string | undefined {
  if (meaning === 'group') return typeof value !== 'string' && isEmpty(value) ? 'is empty' : undefined
  if (meaning === undefined || typeof value !== 'string') return undefined
  if (!looksLikeIsoDate(value) || !dateExists(value)) return undefined
  if (meaning === 'expiry') return value < today ? 'is in the past' : undefined
  if (value > today) return 'is in the future'
  const oldest = `${String(Number(today.slice(0, 4)) - oldestYears).padStart(4, '0')}${today.slice(4)}`
  return value < oldest ? `is more than ${oldestYears} years ago` : undefined
}

/** Nothing anywhere in it: `{}`, `{"street": ""}`. */
function isEmpty(value: FieldValue): boolean {
  if (typeof value === 'string') return value.trim() === ''
  if (value === null) return true
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}

/** The value a body has for a field. */
export function answerIn(body: DraftBody, { code, name }: FormField): FieldValue | undefined {
  const names =
    code === undefined
      ? body.recipient
      : body.additional_information?.find((entry) => entry.code === code)?.fields
  return names !== undefined && Object.hasOwn(names, name)
    ? (names as Record<string, FieldValue>)[name]
    : undefined
}
