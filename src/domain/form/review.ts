import type { FieldValue } from '../../contract/request-body.ts'
import type { FormField } from './fields.ts'
import { shown } from './problem.ts'

/** One line of what is about to be sent. */
export interface ReviewRow {
  /** "Recipient", or the check's display name. */
  group: string
  label: string
  required: boolean
  /** As a person reads it; undefined where nothing was answered. */
  value: string | undefined
  column: string
}

/** Every field of the form with its answer. */
export function reviewRows(
  fields: readonly FormField[],
  answers: ReadonlyMap<FormField, FieldValue>,
): ReviewRow[] {
  return fields.map((field) => {
    const { group, label, required, column } = field
    const answer = answers.get(field)
    return { group, label, required, column, value: answer === undefined ? undefined : formatAnswer(answer) }
  })
}

/** An answer as a review shows it, whole and in words: `a; b`, `street: 1 High St; state: VIC`. */
export function formatAnswer(value: FieldValue): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'empty' : formatValue(value)
  const items = Array.isArray(value) ? value : Object.values(value)
  if (items.length === 0) return 'none'
  const names = Array.isArray(value) ? undefined : Object.keys(value)
  return items
    .map((item, at) => {
      const isNested = typeof item === 'object' && item !== null
      const text = isNested ? `(${formatAnswer(item)})` : formatAnswer(item)
      return names === undefined ? text : `${names[at]}: ${text}`
    })
    .join('; ')
}

/** A value as it can be typed: structures are JSON, cut. */
export function formatValue(value: FieldValue): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return shown(value)
}
