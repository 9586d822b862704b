import { chooseOutputFormat, type TemplateColumn } from '../sheet/cell.ts'
import { dateRule } from '../../contract/date-format.ts'
import { type PackageSchema, recipientFields } from '../../contract/package-schema.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { type FormField, formFields } from './fields.ts'
import { partsOfObject } from './field-value.ts'
import { formatForMessage } from './problem.ts'

export const templateFormats = ['csv', 'xlsx', 'json'] as const
type TemplateFormat = (typeof templateFormats)[number]

/** Returns the chosen format of a template, or else that of the file's extension, or else CSV. */
export function templateFormat(
  chosen: TemplateFormat | undefined,
  output: string | undefined,
): TemplateFormat {
  return chooseOutputFormat('a template', templateFormats, { requested: chosen, output })
}

/**
 * Returns a column for each field of a package's requests. Throws InvalidInputError if two fields have the same column
 * name.
 */
export function templateColumns(schema: PackageSchema): TemplateColumn[] {
  const fields = formFields(schema)
  const usedColumns = new Set<string>()
  for (const column of fields.map((field) => field.column.trim())) {
    if (!usedColumns.has(column)) {
      usedColumns.add(column)
      continue
    }
    throw new InvalidInputError(
      `package ${schema.id} has two fields for the column "${formatForMessage(column)}"`,
      {
        hint: 'Write a JSON body instead with: --format json',
      },
    )
  }
  return fields.flatMap(partsOf).map((field) => ({
    header: field.column,
    isRequired: field.required,
    note: noteOf(field),
    hasTextFormat: field.type !== 'integer' && field.type !== 'number',
    choices: field.type === 'boolean' ? ['yes', 'no'] : [],
    example: exampleOf(field),
  }))
}

/** Returns a column for each part of an object whose description lists parts, so that users need not write JSON. */
function partsOf(field: FormField): (FormField & { isPartOf?: FormField })[] {
  const parts = field.type === 'object' && field.code !== undefined ? partsOfObject(field.description) : []
  if (parts.length === 0) return [field]
  return parts.map((part) => {
    const [column, label] = [`${field.column}.${part}`, `${field.label}, ${part}`]
    return Object.assign({}, field, { column, label, type: 'string', required: false, isPartOf: field })
  })
}

function noteOf({
  group,
  label,
  type,
  required,
  description,
  isPartOf,
}: FormField & { isPartOf?: FormField }): string {
  const formText =
    type === 'string' && dateRule(description) === 'iso'
      ? 'a date as YYYY-MM-DD'
      : (formByType.get(type) ?? type)
  const needText =
    isPartOf?.required === true ? 'At least one of the parts is required' : required ? 'Required' : 'Optional'
  const ifNoneText = required && type === 'array' ? '; none if there are none' : ''
  const lines = [`${group}: ${label}`, `${needText}, ${formText}${ifNoneText}.`, description]
  return lines.filter((line) => line.trim() !== '').join('\n')
}

const formByType: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'yes or no'],
  ['array', 'a list: texts with ; between them, such as first; second'],
  ['object', 'JSON, such as {"name": "value"}'],
])

/** Returns an example that is a valid value of the field, so that users can copy and change it. */
function exampleOf({ code, column, label, type, description }: FormField): TemplateColumn['example'] {
  if (code === undefined) return exampleRecipient[column] ?? ''
  switch (type) {
    case 'integer':
      return { kind: 'number', text: '3', value: 3, format: 'General' }
    case 'number':
      return { kind: 'number', text: '12.5', value: 12.5, format: 'General' }
    case 'boolean':
      return 'yes'
    case 'array':
      return 'first; second'
    case 'object':
      return '{"name": "value"}'
    default:
      return dateRule(description) === undefined ? `${label} (example)` : '1990-04-30'
  }
}

const exampleRecipient: Readonly<Partial<Record<string, string>>> = {
  first_name: 'Priya',
  last_name: 'Shah',
  email: 'priya.shah@example.com',
  phone: '+61400000000',
}

/**
 * Returns a body of POST /v1/requests to fill in. No placeholder is a valid value: required texts are empty or name
 * their form, and all other values are null.
 */
export function templateBody(schema: PackageSchema): unknown {
  const information = schema.fields.additional_information.map(({ code, fields }) => ({
    code,
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, { type, required, description }]) => [
        name,
        type === 'string' && required ? (dateRule(description) === 'iso' ? 'YYYY-MM-DD' : '') : null,
      ]),
    ),
  }))
  return {
    package_id: schema.id,
    recipient: Object.fromEntries(recipientFields.map((name) => [name, ''])),
    ...(information.length === 0 ? {} : { additional_information: information }),
  }
}
