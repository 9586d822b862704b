import type { Api } from '../api/api.ts'
import type { Scope } from '../cli/scope.ts'
import type { PackageNames, ServiceUser } from '../domain/request/listing.ts'
import { api } from './api.ts'
import { session } from './session.ts'

/** The service in use, which keeps the names of the packages that it lists. */
export async function namingApi(scope: Scope): Promise<Api> {
  const service = await api(scope)
  return {
    ...service,
    async listPackages(filter, signal) {
      const packages = await service.listPackages(filter, signal)
      await (await kept(scope)).put(service, packages)
      return packages
    },
  }
}

/** What packages are called, as far as they were listed before. */
export async function packageNames(scope: Scope): Promise<ReadonlyMap<number, string>> {
  const { baseUrl, email } = await session(scope)
  return (await kept(scope)).get({ baseUrl, userEmail: email })
}

async function kept({ paths, context }: Scope) {
  const { openPackageNames } = await import('../store/schemas/package-names.ts')
  return openPackageNames({ paths, random: context.random })
}

/** What packages are called for each of these users; no login is needed. */
export async function namesForUsers(scope: Scope, users: readonly ServiceUser[]): Promise<PackageNames> {
  const names = await kept(scope)
  const all = new Map<string, ReadonlyMap<number, string>>()
  for (const user of users) {
    const key = userKey(user)
    if (!all.has(key)) all.set(key, await names.get(user))
  }
  return (user, packageId) => all.get(userKey(user))?.get(packageId)
}

const userKey = ({ baseUrl, userEmail }: ServiceUser): string => `${baseUrl} ${userEmail}`
