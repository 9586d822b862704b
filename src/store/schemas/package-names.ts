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
  /**
   * Returns the stored names; empty if there are none. 'active': only those of packages that could be ordered when they
   * were last listed.
   */
  get(key: ServiceUser, filter?: 'active'): Promise<ReadonlyMap<number, string>>
  /** Stores the names in a list of packages. A failure to write is ignored, since only names would be missing. */
  put(key: ServiceUser, packages: readonly Package[]): Promise<void>
  /** Returns the names of packages for each of these users. */
  forUsers(users: readonly ServiceUser[]): Promise<NamesOfUsers>
}

interface CachedNames {
  base_url: string
  user_email: string
  names: [id: number, name: string][]
  /** The ids of packages that could not be ordered. Files of earlier versions lack it. */
  inactive?: number[] | undefined
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
  const read = async (key: ServiceUser): Promise<Pick<CachedNames, 'names' | 'inactive'>> => {
    const file = await readPrivate(pathOf(key), maxBytes, paths.data).catch(() => undefined)
    const cached = file === undefined ? undefined : parseNames(file.text)
    if (
      cached === undefined ||
      userKey({ baseUrl: cached.base_url, userEmail: cached.user_email }) !== userKey(key)
    )
      return { names: [] }
    return cached
  }
  const get = async (key: ServiceUser, filter?: 'active'): Promise<Map<number, string>> => {
    const { names, inactive = [] } = await read(key)
    return new Map(filter === undefined ? names : names.filter(([id]) => !inactive.includes(id)))
  }
  return {
    get,
    async put(key, packages) {
      const { names: namesBefore, inactive: inactiveBefore } = await read(key)
      const names = new Map(namesBefore)
      const inactive = new Set(inactiveBefore)
      const isKnown = ({ id, name, status }: Package): boolean =>
        names.get(id) === name && inactive.has(id) === (status !== 'ACTIVE')
      if (packages.every(isKnown)) return
      for (const { id, name, status } of packages) {
        names.set(id, name)
        if (status === 'ACTIVE') inactive.delete(id)
        else inactive.add(id)
      }
      const cached: CachedNames = {
        base_url: key.baseUrl,
        user_email: key.userEmail.toLowerCase(),
        names: [...names],
        inactive: [...inactive],
      }
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
    const { base_url, user_email, names, inactive = [] } = cached ?? {}
    if (typeof base_url !== 'string' || typeof user_email !== 'string') return undefined
    if (!Array.isArray(names) || !Array.isArray(inactive)) return undefined
    return names.every(isNameEntry) ? { base_url, user_email, names, inactive } : undefined
  } catch {
    return undefined
  }
}

const isNameEntry = (each: unknown): each is [number, string] =>
  Array.isArray(each) && each.length === 2 && Number.isInteger(each[0]) && typeof each[1] === 'string'
