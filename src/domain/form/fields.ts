import {
  type CheckInformation,
  type PackageSchema,
  type RecipientField,
  recipientFields,
} from '../../contract/package-schema.ts'
import type { FieldValue } from '../../contract/request.ts'
import { shown } from './problem.ts'

/** One thing a request of a package is asked for. */
export interface FormField {
  /** As a batch file's column and a `--field` flag name it: `first_name`, `ncc_acic.date_of_birth`. */
  column: string
  /** The check that wants it; undefined for the recipient's own four. */
  code: string | undefined
  name: string
  /** What it belongs to, in words: "Recipient" or the check's display name. */
  group: string
  /** The name in words: "Date of birth". */
  label: string
  /** One of the contract's field types, or a type this program does not know yet. */
  type: string
  required: boolean
  description: string
}

const recipientDescriptions: Record<RecipientField, string> = {
  first_name: '',
  last_name: '',
  email: 'Where the service writes to the person.',
  phone: 'With + and the country code, such as +61 400 000 000.',
}

/** Every field of a package's requests, the recipient's first, then check by check as the schema has them. */
export function formFields(schema: PackageSchema): FormField[] {
  return [
    ...recipientFields.map((name) => ({
      column: name,
      code: undefined,
      name,
      group: 'Recipient',
      label: labelOf(name),
      type: 'string',
      // POST /v1/requests requires all four, whatever a schema's `required` says.
      required: true,
      description: recipientDescriptions[name],
    })),
    ...schema.fields.additional_information.flatMap(fieldsOf),
  ]
}

function fieldsOf(check: CheckInformation): FormField[] {
  return Object.entries(check.fields).map(([name, definition]) => ({
    column: `${check.code}.${name}`,
    code: check.code,
    name,
    group: check.display_name.trim() === '' ? check.code : check.display_name,
    label: labelOf(name),
    type: definition.type,
    required: definition.required,
    description: definition.description,
  }))
}

/** A field as a question names it. */
export function titleOf({ code, group, label }: FormField): string {
  return code === undefined ? label : `${group}: ${label}`
}

/** `date_of_birth`, `dateOfBirth` → "Date of birth". */
function labelOf(name: string): string {
  const words = name
    .slice(0, 100)
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .map((word) => (/^[A-Z][a-z]/.test(word) ? word.toLowerCase() : word))
    .join(' ')
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}

export type ReviewRow = ReturnType<typeof reviewRows>[number]

/** Every field of the form with its answer. */
export function reviewRows(fields: readonly FormField[], answers: ReadonlyMap<FormField, FieldValue>) {
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
