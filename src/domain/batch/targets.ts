import type { PackageSchema, RecipientField } from '../../contract/package-schema.ts'
import { recipientFields } from '../../contract/package-schema.ts'
import { formFields } from '../form/fields.ts'

/** What a column of a batch file says (cli-contract "Batch files"). */
export type Target =
  | { kind: 'recipient'; column: RecipientField }
  | { kind: 'package_id'; column: 'package_id' }
  /** A field of a check, or with a path a part of one: `ncc_acic.residential_address.street`. */
  | { kind: 'field'; column: string; code: string; name: string; path: readonly string[] }
  /** Ignored by name, written by us, or nameless. */
  | { kind: 'unused'; column: '' }

/** Columns that we add to a person's file begin so, and are never read. */
export const ownPrefix = 'refcheck_'

export const unused: Target = { kind: 'unused', column: '' }

export interface KnownField {
  column: string
  code: string
  name: string
  type: string
}

/** The fields of checks of all packages in use, the longest name first, so that the longest one wins. */
export function knownFields(schemas: Iterable<PackageSchema>): KnownField[] {
  const known = new Map<string, KnownField>()
  for (const schema of schemas) {
    for (const { column, code, name, type } of formFields(schema)) {
      if (code !== undefined) known.set(column, { column, code, name, type })
    }
  }
  return [...known.values()].sort((a, b) => b.column.length - a.column.length)
}

/** Every name a column may have, for suggestions. */
export function columnNames(fields: readonly KnownField[]): string[] {
  return [...recipientFields, ...fields.map(({ column }) => column), 'package_id']
}

/** What a name says; undefined for one that is no column's. */
export function targetOf(name: string, fields: readonly KnownField[]): Target | undefined {
  if (name === 'package_id') return { kind: 'package_id', column: 'package_id' }
  const bare = name.startsWith('recipient.') ? name.slice('recipient.'.length) : name
  const recipient = recipientFields.find((field) => field === bare)
  if (recipient !== undefined) return { kind: 'recipient', column: recipient }
  for (const field of fields) {
    const { column, code, name: own, type } = field
    if (name === column) return { kind: 'field', column, code, name: own, path: [] }
    if (!name.startsWith(`${column}.`) || !['array', 'object'].includes(type)) continue
    const path = name.slice(column.length + 1).split('.')
    if (path.length <= 8 && path.every((part) => part !== ''))
      return { kind: 'field', column, code, name: own, path }
  }
  return undefined
}

/** One name for one target, whichever way a file writes it. */
export function targetName(target: Target): string {
  return target.kind === 'field' ? [target.column, ...target.path].join('.') : target.column
}
