import type { Package } from '../../contract/package.ts'
import { likelySuccessor, schemaChanges } from '../../domain/batch/succession.ts'
import { RefcheckError } from '../../errors/base.ts'
import { NotFoundError } from '../../errors/kinds.ts'
import { loadSchema, type SchemaPorts } from '../form/load-schema.ts'

interface Sources extends SchemaPorts {
  /** As they were read already. */
  packages?: readonly Package[] | undefined
  /** The batch whose package it is, which can be moved. */
  batchId?: string | undefined
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
  const packages = sources.packages ?? (await sources.api.listPackages(undefined, sources.signal))
  const active = new Set(packages.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id))
  const packageId = packageIds.find((id) => !active.has(id))
  if (packageId === undefined) return undefined
  const known = packages.find(({ id }) => id === packageId)
  const what =
    known === undefined
      ? `package ${packageId} is no longer available to this user`
      : `package ${packageId} ("${known.name}") is ${known.status} and can no longer be ordered`
  const successor = known && likelySuccessor(known, packages)
  const next =
    successor === undefined
      ? 'List the packages that can be ordered with: refcheck packages list --status active'
      : await succession(packageId, successor, sources)
  const move =
    sources.batchId === undefined
      ? ''
      : ` Move what is left of the batch to it with: refcheck batch move ${sources.batchId} --package ${successor?.id ?? 'N'}`
  return new NotFoundError(what, { hint: `${next}${move}` })
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
    if (changes.length === 0) return `${named} It has the same fields.`
    return `${named} ${changes.map(({ field, change }) => `${field}: ${change}`).join('; ')}.`
  } catch (error) {
    // What became of the package matters more than what could be said of the next one.
    if (error instanceof RefcheckError) return named
    throw error
  }
}
