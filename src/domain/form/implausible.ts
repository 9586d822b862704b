import { dateExists, dateRule, looksLikeIsoDate } from '../../contract/date-format.ts'
import type { FieldValue } from '../../contract/request-body.ts'
import { type FormField, titleOf } from './fields.ts'

const oldestYears = 120

/**
 * What makes a value that its type allows improbable, where the field's description makes it plain, as a sentence
 * without its end; undefined where nothing does. `today` as `YYYY-MM-DD`. A person is asked about it, nothing is
 * refused for it.
 */
export function implausible(field: FormField, value: FieldValue, today: string): string | undefined {
  if (typeof value === 'string') {
    const doubt = dateDoubt(field, value, today)
    return doubt && `${titleOf(field)}: ${value} ${doubt}`
  }
  return field.type === 'object' && isEmpty(value) ? `${titleOf(field)} is empty` : undefined
}

function dateDoubt({ name, description }: FormField, value: string, today: string): string | undefined {
  if (dateRule(description) === undefined || !looksLikeIsoDate(value) || !dateExists(value)) return undefined
  const about = `${name.replaceAll('_', ' ')} ${description.slice(0, 400)}`
  if (/\b(?:birth|born|dob)\b/i.test(about)) {
    if (value > today) return 'is in the future'
    const oldest = `${String(Number(today.slice(0, 4)) - oldestYears).padStart(4, '0')}${today.slice(4)}`
    return value < oldest ? `is more than ${oldestYears} years ago` : undefined
  }
  return /\bexpir/i.test(about) && value < today ? 'is in the past' : undefined
}

/** Nothing anywhere in it: `{}`, `{"street": ""}`. */
function isEmpty(value: FieldValue): boolean {
  if (typeof value === 'string') return value.trim() === ''
  if (value === null) return true
  return typeof value === 'object' && Object.values(value).every(isEmpty)
}
