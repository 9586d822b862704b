import {
  type CheckInformation,
  type PackageSchema,
  type RecipientField,
  recipientFields,
} from '../../contract/package-schema.ts'
import type { FieldValue } from '../../contract/request.ts'
import { formatForMessage } from './problem.ts'

/** A field that a request of a package needs. */
export interface FormField {
  /** The name of the field in columns of batch files and in `--field`: `first_name`, `ncc_acic.date_of_birth`. */
  column: string
  /** The code of the check that needs the field; undefined for the four fields of the recipient. */
  code: string | undefined
  name: string
  /** The heading of the field: "Recipient" or the display name of the check. */
  group: string
  /** The name in words: "Date of birth". */
  label: string
  /** A field type of the contract, or a type that a later version of the API added. */
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

/**
 * Returns all fields of a package's requests: first those of the recipient, then those of each check in the order of
 * the schema.
 */
export function formFields(schema: PackageSchema): FormField[] {
  return [
    ...recipientFields.map((name) => ({
      column: name,
      code: undefined,
      name,
      group: 'Recipient',
      label: labelOf(name),
      type: 'string',
      // POST /v1/requests requires all four, whatever the schema says.
      required: true,
      description: recipientDescriptions[name],
    })),
    ...schema.fields.additional_information.flatMap(checkFields),
  ]
}

function checkFields(check: CheckInformation): FormField[] {
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

/** Returns the name of a field in a question. */
export function titleOf({ code, group, label }: FormField): string {
  return code === undefined ? label : `${group}: ${label}`
}

/** Returns a name in words: `date_of_birth` and `dateOfBirth` become "Date of birth". */
function labelOf(name: string): string {
  const labelText = name
    .slice(0, 100)
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .map((word) => (/^[A-Z][a-z]/.test(word) ? word.toLowerCase() : word))
    .join(' ')
  return labelText === '' ? name : labelText.charAt(0).toUpperCase() + labelText.slice(1)
}

export type ReviewRow = ReturnType<typeof reviewRows>[number]

/** Returns every field of the form with its answer. */
export function reviewRows(fields: readonly FormField[], answers: ReadonlyMap<FormField, FieldValue>) {
  return fields.map((field) => {
    const { group, label, required, column } = field
    const answer = answers.get(field)
    return { group, label, required, column, value: answer === undefined ? undefined : formatAnswer(answer) }
  })
}

/** Formats a complete answer for the review: `a; b`, `street: 1 High St; state: VIC`. */
export function formatAnswer(value: FieldValue): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'empty' : formatValue(value)
  const items = Array.isArray(value) ? value : Object.values(value)
  if (items.length === 0) return 'none'
  const names = Array.isArray(value) ? undefined : Object.keys(value)
  return items
    .map((item, index) => {
      const isNested = typeof item === 'object' && item !== null
      const text = isNested ? `(${formatAnswer(item)})` : formatAnswer(item)
      return names === undefined ? text : `${names[index]}: ${text}`
    })
    .join('; ')
}

/**
 * Formats a value in the form in which a user can type it. Lists and objects are formatted as JSON, which is cut if
 * long.
 */
export function formatValue(value: FieldValue): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return formatForMessage(value)
}
