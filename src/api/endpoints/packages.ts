import { type Package, packageList } from '../../contract/package.ts'
import type { PackageFilter } from '../api.ts'
import { requireAbout } from '../answer.ts'
import type { ApiClient } from '../client.ts'

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
  const { packages } = await client.get(path, packageList, { signal })
  const { id: asked } = filter
  if (asked !== undefined) for (const { id } of packages) requireAbout('package', asked, id)
  return packages
}
