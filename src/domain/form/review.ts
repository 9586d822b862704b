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
    return { group, label, required, column, value: answer === undefined ? undefined : valueInWords(answer) }
  })
}

/** A value as a review shows it: whole, but for structures, which are cut. */
export function valueInWords(value: FieldValue): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return shown(value)
}
