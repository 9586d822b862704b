import { type PackageSchema, packageSchema as shape } from '../../contract/package-schema.ts'
import { requireAbout } from '../answer.ts'
import type { ApiClient } from '../client.ts'
import { apiPath } from '../path.ts'

const hints = { 404: 'List the packages that this user may see with: refcheck packages list' }

/** GET /v1/packages/{id}/schema. */
export async function packageSchema(
  client: ApiClient,
  packageId: number,
  signal: AbortSignal | undefined,
): Promise<PackageSchema> {
  const schema = await client.get(apiPath`/v1/packages/${packageId}/schema`, shape, {
    hints: { ...hints, subject: `package ${packageId}` },
    signal,
  })
  requireAbout('package', packageId, schema.id)
  return schema
}
