import type { PackageSchema } from '../../contract/package-schema.ts'
import { IoError, NotFoundError } from '../../errors/kinds.ts'
import type { Services } from '../services.ts'

export interface SchemaServices extends Pick<Services, 'api' | 'schemas'> {
  signal?: AbortSignal | undefined
}

export interface SchemaSource extends SchemaServices {
  /** Past the copy kept here. */
  refresh?: boolean | undefined
}

/**
 * A package's schema: the copy kept here, else the service's, which is then kept. "The schema of an
 * existing package id stays stable" ("Package status").
 */
export async function loadSchema(packageId: number, source: SchemaSource): Promise<PackageSchema> {
  const { api, schemas, refresh = false, signal } = source
  const cached = refresh ? undefined : await schemas.get(packageId)
  if (cached !== undefined) return cached
  const schema = await api.packageSchema(packageId, signal).catch((error: unknown) => {
    throw named(error, packageId)
  })
  // Only a copy: where the disk refuses it, the next command reads the schema again.
  await schemas.put(schema).catch((error: unknown) => {
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
