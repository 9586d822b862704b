import type { Api } from '../../api/api.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import { IoError, NotFoundError } from '../../errors/kinds.ts'

/** Where schemas are kept between runs; keyed by the service and user that it was made for. */
export interface SchemaCache {
  get(packageId: number): Promise<PackageSchema | undefined>
  put(schema: PackageSchema): Promise<void>
}

export interface SchemaPorts {
  api: Api
  cache: SchemaCache
  signal?: AbortSignal | undefined
}

export interface SchemaSource extends SchemaPorts {
  /** Past the copy kept here. */
  refresh?: boolean | undefined
}

/**
 * A package's schema: the copy kept here, else the service's, which is then kept. "The schema of an
 * existing package id stays stable" ("Package status").
 */
export async function loadSchema(packageId: number, source: SchemaSource): Promise<PackageSchema> {
  const { api, cache, refresh = false, signal } = source
  const kept = refresh ? undefined : await cache.get(packageId)
  if (kept !== undefined) return kept
  const schema = await api.packageSchema(packageId, signal).catch((error: unknown) => {
    throw named(error, packageId)
  })
  // Only a copy: where the disk refuses it, the next command reads the schema again.
  await cache.put(schema).catch((error: unknown) => {
    if (!(error instanceof IoError)) throw error
  })
  return schema
}

/** The service's own words do not say what was not found; it says the same of one that is DISABLED. */
function named(error: unknown, packageId: number): unknown {
  if (!(error instanceof NotFoundError)) return error
  const { status, hint } = error
  return new NotFoundError(`package ${packageId} was not found for this user, or is DISABLED`, {
    status,
    hint,
    cause: error,
  })
}
