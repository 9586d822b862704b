import { createHash } from 'node:crypto'
import { join } from 'node:path'

import type { PackageNames as NamesOfUsers, ServiceUser } from '../../domain/request/listed-request.ts'
import type { Package } from '../../contract/package.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'
import { makeOwnFolders, readPrivate } from '../../disk/private-modes.ts'
import { writeFileAtomically } from '../../disk/whole-file.ts'

/**
 * Names of packages, for showing requests. They are only taken from lists that were read for another reason, so that
 * they cost no call.
 */
export interface PackageNames {
  /** Returns the stored names; empty if there are none. */
  get(key: ServiceUser): Promise<ReadonlyMap<number, string>>
  /** Stores the names in a list of packages. A failure to write is ignored, since only names would be missing. */
  put(key: ServiceUser, packages: readonly Package[]): Promise<void>
  /** Returns the names of packages for each of these users. */
  forUsers(users: readonly ServiceUser[]): Promise<NamesOfUsers>
}

interface CachedNames {
  base_url: string
  user_email: string
  names: [id: number, name: string][]
}

const maxBytes = 4 * 1024 * 1024

/**
 * Returns the names without reading or making the folder yet. They are stored in a private file for each service and
 * user, in the folder `schemas` of the data folder.
 */
export function openPackageNames({ paths, random }: { paths: Paths; random: Random }): PackageNames {
  const folder = join(paths.data, 'schemas')
  const userKey = ({ baseUrl, userEmail }: ServiceUser): string =>
    JSON.stringify([baseUrl, userEmail.toLowerCase()])
  const pathOf = (key: ServiceUser): string =>
    join(folder, `names-${createHash('sha256').update(userKey(key)).digest('hex').slice(0, 40)}.json`)
  const get = async (key: ServiceUser): Promise<Map<number, string>> => {
    const file = await readPrivate(pathOf(key), maxBytes, paths.data).catch(() => undefined)
    const cached = file === undefined ? undefined : parseNames(file.text)
    if (
      cached === undefined ||
      userKey({ baseUrl: cached.base_url, userEmail: cached.user_email }) !== userKey(key)
    )
      return new Map()
    return new Map(cached.names)
  }
  return {
    get,
    async put(key, packages) {
      const before = await get(key)
      if (packages.every(({ id, name }) => before.get(id) === name)) return
      const names = [...new Map([...before, ...packages.map(({ id, name }) => [id, name] as const)])]
      const cached = { base_url: key.baseUrl, user_email: key.userEmail.toLowerCase(), names }
      try {
        makeOwnFolders(paths.data, folder)
        await writeFileAtomically(pathOf(key), JSON.stringify(cached), { random })
      } catch {
        // The packages are then shown without their names.
      }
    },
    async forUsers(users) {
      const namesByUser = new Map<string, ReadonlyMap<number, string>>()
      for (const user of users)
        if (!namesByUser.has(userKey(user))) namesByUser.set(userKey(user), await get(user))
      return (user, packageId) => namesByUser.get(userKey(user))?.get(packageId)
    },
  }
}

/** Parses a file without zod, so that a list of stored requests does not load it. */
function parseNames(text: string): CachedNames | undefined {
  try {
    const cached = JSON.parse(text) as Partial<Record<keyof CachedNames, unknown>> | null
    const { base_url, user_email, names } = cached ?? {}
    if (typeof base_url !== 'string' || typeof user_email !== 'string' || !Array.isArray(names))
      return undefined
    return names.every(isNameEntry) ? { base_url, user_email, names } : undefined
  } catch {
    return undefined
  }
}

const isNameEntry = (each: unknown): each is [number, string] =>
  Array.isArray(each) && each.length === 2 && Number.isInteger(each[0]) && typeof each[1] === 'string'
