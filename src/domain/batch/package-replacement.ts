import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import { type FormField, formFields } from '../form/fields.ts'

/** How a package's schema differs from its successor's, field by field (`<code>.<field>`). */
export interface SchemaChange {
  field: string
  /** In words. */
  change: string
  required: boolean
}

/** "Same name, or same checks and survey", a newer id, and ACTIVE. */
export function likelySuccessor(gone: Package, packages: readonly Package[]): Package | undefined {
  const newer = packages
    .filter(({ id, status }) => status === 'ACTIVE' && id > gone.id)
    .sort((a, b) => b.id - a.id)
  const content = contentOf(gone)
  return (
    newer.find(({ name }) => name === gone.name) ??
    (content === undefined ? undefined : newer.find((each) => contentOf(each) === content))
  )
}

/** Packages that cannot be ordered any more, each with its likely successor. */
export function successions(packages: readonly Package[]): [gone: number, successor: number][] {
  return packages
    .filter(({ status }) => status !== 'ACTIVE')
    .flatMap((gone): [number, number][] => {
      const successor = likelySuccessor(gone, packages)
      return successor === undefined ? [] : [[gone.id, successor.id]]
    })
}

/** What a package asks for, in one form; undefined where it asks for nothing that could be compared. */
function contentOf({ details }: Package): string | undefined {
  const checks = details.background_checks.map(({ check_name, partner_name }) => [check_name, partner_name])
  if (checks.length === 0 && details.reference_survey === null) return undefined
  return JSON.stringify([details.reference_survey?.id ?? null, checks.map(String).sort()])
}

/** What a person who filled in the first schema has to know to fill in the second. */
export function schemaChanges(before: PackageSchema, after: PackageSchema): SchemaChange[] {
  const [old, current] = [byColumn(before), byColumn(after)]
  const changes: SchemaChange[] = []
  for (const [field, { type, required }] of current) {
    const was = old.get(field)
    if (was === undefined) {
      changes.push({ field, change: required ? 'new and required' : 'new', required })
      continue
    }
    if (was.type !== type) changes.push({ field, change: `${was.type} is now ${type}`, required })
    if (was.required !== required) {
      changes.push({ field, change: required ? 'now required' : 'no longer required', required })
    }
  }
  for (const field of old.keys()) {
    if (!current.has(field)) changes.push({ field, change: 'no longer allowed', required: false })
  }
  return changes
}

function byColumn(schema: PackageSchema): Map<string, FormField> {
  return new Map(formFields(schema).map((field) => [field.column, field]))
}
