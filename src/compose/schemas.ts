import type { Scope } from '../cli/scope.ts'
import type { SchemaCache } from '../usecases/form/load-schema.ts'
import { api } from './api.ts'

/** Schemas kept here, of the service and user in use. */
export async function schemas(scope: Scope): Promise<SchemaCache> {
  const { openSchemaCache } = await import('../store/schemas/schema-cache.ts')
  const { random } = scope.context
  const cache = openSchemaCache({ paths: scope.paths, random, onNotice: scope.note })
  const { baseUrl, userEmail } = await api(scope)
  return {
    get: (packageId) => cache.get({ baseUrl, userEmail, packageId }),
    put: (schema) => cache.put({ baseUrl, userEmail, packageId: schema.id }, schema),
  }
}
