import type { Api } from '../../../api/api.ts'
import type { Package } from '../../../contract/package.ts'
import type { PackageSchema } from '../../../contract/package-schema.ts'
import { NotFoundError } from '../../../errors/kinds.ts'
import { RefcheckError } from '../../../errors/base.ts'
import { type FormField, formFields } from '../../form/fields.ts'
import { loadSchema, type SchemaCache } from '../../form/load-schema.ts'

interface Sources {
  api: Api
  cache: SchemaCache
  signal?: AbortSignal | undefined
}

/** How a package's schema differs from its successor's, field by field (`<code>.<field>`). */
export interface SchemaChange {
  field: string
  /** In words. */
  change: string
  required: boolean
}

/**
 * Whether packages can still be ordered; a NotFoundError that says what became of the first that cannot, names its likely
 * successor ("a new required field creates a new package version with a new `id`") and tells what the
 * rows lack for that one, where it cannot.
 */
export async function packageGone(
  packageIds: readonly number[],
  sources: Sources,
): Promise<NotFoundError | undefined> {
  const packages = await sources.api.listPackages(undefined, sources.signal)
  const active = new Set(packages.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id))
  const packageId = packageIds.find((id) => !active.has(id))
  if (packageId === undefined) return undefined
  const known = packages.find(({ id }) => id === packageId)
  const what =
    known === undefined
      ? `package ${packageId} is not there for this user any more`
      : `package ${packageId} ("${known.name}") is ${known.status}, so it cannot be ordered any more`
  const successor = known && likelySuccessor(known, packages)
  const next =
    successor === undefined
      ? '"refcheck packages list --status active" shows what can be ordered.'
      : await succession(packageId, successor, sources)
  return new NotFoundError(what, { hint: next })
}

/** "Same name, newer id", and ACTIVE. */
export function likelySuccessor(gone: Package, packages: readonly Package[]): Package | undefined {
  return packages
    .filter(({ id, name, status }) => status === 'ACTIVE' && name === gone.name && id > gone.id)
    .sort((a, b) => b.id - a.id)[0]
}

async function succession(packageId: number, successor: Package, sources: Sources): Promise<string> {
  const named = `Its likely successor is package ${successor.id} (same name, newer id).`
  try {
    const [before, after] = [
      await sources.cache.get(packageId),
      await loadSchema(successor.id, { ...sources, refresh: true }),
    ]
    if (before === undefined) return named
    const changes = schemaChanges(before, after)
    if (changes.length === 0) return `${named} It asks for the same fields.`
    return `${named} ${changes.map(({ field, change }) => `${field}: ${change}`).join('; ')}.`
  } catch (error) {
    // What became of the package matters more than what could be said of the next one.
    if (error instanceof RefcheckError) return named
    throw error
  }
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
    if (!current.has(field)) changes.push({ field, change: 'not taken any more', required: false })
  }
  return changes
}

function byColumn(schema: PackageSchema): Map<string, FormField> {
  return new Map(formFields(schema).map((field) => [field.column, field]))
}
