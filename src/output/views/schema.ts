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

const columns: Column<FieldRow>[] = [
  { name: 'field', value: (row) => row.flag, avoidsWrapping: true },
  { name: 'type' },
  {
    name: 'required',
    show: (row) => (row.required ? 'required' : 'optional'),
    style: (row) => (row.required ? 'yellow' : 'dim'),
  },
  { name: 'description' },
]

/** The fields a request of this package needs, a table for the recipient and one for each check. */
export function schemaView(schema: PackageSchema): View {
  return { json: schema, text: (terminal) => schemaText(schema, terminal) }
}

/** Any JSON document, shown as it is in text too. */
export function documentView(document: unknown): View {
  return { json: document, text: () => jsonText(document, 2), isVerbatim: true }
}

/** The JSON Schema (2020-12) of a request body. */
export function jsonSchemaView(schema: PackageSchema): View {
  return documentView(requestJsonSchema(schema))
}

/** A template that was written. */
export function templateView(template: {
  /** Absolute. */
  path: string
  /** As it was typed. */
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

/** What to do with a template next; `file` as it was typed. */
export function templateNextText(format: string, file: string, packageId: number): string {
  return format === 'json'
    ? `Fill in each "" and null, remove what is optional, then: refcheck request create --file ${shellWord(file)}`
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
      columns,
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
      table(rows, columns, terminal),
    )
  }
  if (schema.fields.additional_information.length === 0)
    sections.push('', 'No additional information is needed.')
  return sections.join('\n')
}
