import { formatCount } from '../../domain/wording/text.ts'
import { requestJsonSchema } from '../../contract/request-json-schema.ts'
import { type PackageSchema, recipientFields } from '../../contract/package-schema.ts'
import { sanitize } from '../../host/text.ts'
import { type Column, jsonText, type View } from '../view.ts'
import { table } from '../table.ts'
import { styled, type Terminal } from '../terminal.ts'
import { fileCommand } from '../../domain/batch/file-command.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'

interface FieldRow {
  flag: string
  type: string
  required: boolean
  description: string
}

const fieldColumns: Column<FieldRow>[] = [
  { name: 'field', value: (row) => row.flag, avoidsWrapping: true },
  { name: 'type' },
  {
    name: 'required',
    show: (row) => (row.required ? 'required' : 'optional'),
    style: (row) => (row.required ? 'yellow' : 'dim'),
  },
  { name: 'description' },
]

/** Shows the fields that a request of the package needs: one table for the recipient, and one for each check. */
export function schemaView(schema: PackageSchema): View {
  return { json: schema, text: (terminal) => schemaText(schema, terminal) }
}

/** Shows a JSON document, which is also its text. */
export function documentView(document: unknown): View {
  return { json: document, text: () => jsonText(document, 2), isVerbatim: true }
}

/** Shows the JSON Schema (2020-12) of a request body. */
export function jsonSchemaView(schema: PackageSchema): View {
  return documentView(requestJsonSchema(schema))
}

/** Shows the path of a template that was written and the number of its fields. */
export function templateView(template: {
  /** The absolute path. */
  path: string
  /** The path as the user typed it. */
  file: string
  format: string
  fields: number
  required: number
  packageId: number
}): View {
  const { path, file, format, fields, required, packageId } = template
  return {
    json: { path, format, package_id: packageId, fields, required },
    text: (terminal) =>
      `${styled(terminal, 'green', 'written')}  ${sanitize(file)}  ${formatCount(fields, 'field')}, ${required} required`,
  }
}

/** Returns the next step with a template. `file` is the path as the user typed it. */
export function templateNextText(format: string, file: string, packageId: number): string {
  return format === 'json'
    ? `Fill in each "", "YYYY-MM-DD" and null, remove what is optional, then: refcheck request create --file ${shellWord(file)}`
    : `Fill in a row per person, then: ${fileCommand('validate', { file, columns: { packageId } })}`
}

function schemaText(schema: PackageSchema, terminal: Terminal): string {
  const sections = [
    styled(terminal, 'bold', 'Recipient'),
    table(
      recipientFields.map((name) => ({
        flag: `--${name.replace('_', '-')}`,
        type: schema.fields.recipient[name].type,
        required: schema.fields.recipient[name].required,
        description: name === 'phone' ? '+ and country code, such as +61400000000' : '',
      })),
      fieldColumns,
      terminal,
    ),
  ]
  for (const check of schema.fields.additional_information) {
    const rows = Object.entries(check.fields).map(([name, field]) => ({
      flag: `--field ${check.code}.${name}`,
      type: field.type,
      required: field.required,
      description: field.description,
    }))
    sections.push(
      '',
      `${styled(terminal, 'bold', sanitize(check.display_name))} (${sanitize(check.code)})`,
      table(rows, fieldColumns, terminal),
    )
  }
  if (schema.fields.additional_information.length === 0)
    sections.push('', 'No additional information is needed.')
  return sections.join('\n')
}
