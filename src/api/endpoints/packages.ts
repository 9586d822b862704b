import { type Package, packageList } from '../../contract/package.ts'
import { type PackageSchema, packageSchema as packageSchemaShape } from '../../contract/package-schema.ts'
import type { PackageFilter } from '../api.ts'
import type { ApiClient } from '../client.ts'
import { apiPath } from '../path.ts'

/** GET /v1/packages. */
export async function listPackages(
  client: ApiClient,
  filter: PackageFilter,
  signal: AbortSignal | undefined,
): Promise<Package[]> {
  const query = new URLSearchParams()
  if (filter.status !== undefined) query.set('status', filter.status)
  if (filter.id !== undefined) query.set('id', String(filter.id))
  const path = query.size === 0 ? '/v1/packages' : `/v1/packages?${query.toString()}`
  return (await client.get(path, packageList, { signal })).packages
}

const schemaHints = { 404: '"refcheck packages list" shows the packages that this user may see.' }

/** GET /v1/packages/{id}/schema. */
export async function packageSchema(
  client: ApiClient,
  packageId: number,
  signal: AbortSignal | undefined,
): Promise<PackageSchema> {
  return client.get(apiPath`/v1/packages/${packageId}/schema`, packageSchemaShape, {
    hints: schemaHints,
    signal,
  })
}
