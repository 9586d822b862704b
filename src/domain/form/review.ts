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
    return { group, label, required, column, value: answer === undefined ? undefined : answerInWords(answer) }
  })
}

/** An answer as a review shows it. A list of texts is whole; other structures are JSON, cut. */
export function answerInWords(value: FieldValue): string {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return valueInWords(value)
  return value.length === 0 ? 'none' : value.join('; ')
}

/** A value as it can be typed: structures are JSON, cut. */
export function valueInWords(value: FieldValue): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return shown(value)
}
