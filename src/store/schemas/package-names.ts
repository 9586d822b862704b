import { createHash } from 'node:crypto'
import { join } from 'node:path'

import type { PackageNames as NamesOfUsers, ServiceUser } from '../../domain/request/listed-request.ts'
import type { Package } from '../../contract/package.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'
import { makeOwnFolders, readPrivate } from '../../disk/private-modes.ts'
import { writeFileAtomically } from '../../disk/whole-file.ts'

/** What packages are called, for showing a request of one: never asked for, so that showing costs no call. */
export interface PackageNames {
  /** Empty where none is kept. */
  get(key: ServiceUser): Promise<ReadonlyMap<number, string>>
  /** Adds those of a list. Does without where the disk refuses: only a name is missing then. */
  put(key: ServiceUser, packages: readonly Package[]): Promise<void>
  /** What packages are called for each of these users. */
  forUsers(users: readonly ServiceUser[]): Promise<NamesOfUsers>
}

interface CachedNames {
  base_url: string
  user_email: string
  names: [id: number, name: string][]
}

const maxBytes = 4 * 1024 * 1024

/** One private file a service and user, in the data folder's `schemas`. Touches nothing yet. */
export function openPackageNames({ paths, random }: { paths: Paths; random: Random }): PackageNames {
  const folder = join(paths.data, 'schemas')
  const whose = ({ baseUrl, userEmail }: ServiceUser): string =>
    JSON.stringify([baseUrl, userEmail.toLowerCase()])
  const pathOf = (key: ServiceUser): string =>
    join(folder, `names-${createHash('sha256').update(whose(key)).digest('hex').slice(0, 40)}.json`)
  const get = async (key: ServiceUser): Promise<Map<number, string>> => {
    const file = await readPrivate(pathOf(key), maxBytes, paths.data).catch(() => undefined)
    const cached = file === undefined ? undefined : namesIn(file.text)
    if (
      cached === undefined ||
      whose({ baseUrl: cached.base_url, userEmail: cached.user_email }) !== whose(key)
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
        // Shown without a name then.
      }
    },
    async forUsers(users) {
      const all = new Map<string, ReadonlyMap<number, string>>()
      for (const user of users) if (!all.has(whose(user))) all.set(whose(user), await get(user))
      return (user, packageId) => all.get(whose(user))?.get(packageId)
    },
  }
}

/** Without zod, so that a list from this machine alone does not load it. */
function namesIn(text: string): CachedNames | undefined {
  try {
    const cached = JSON.parse(text) as Partial<Record<keyof CachedNames, unknown>> | null
    const { base_url, user_email, names } = cached ?? {}
    if (typeof base_url !== 'string' || typeof user_email !== 'string' || !Array.isArray(names))
      return undefined
    return names.every(isNamed) ? { base_url, user_email, names } : undefined
  } catch {
    return undefined
  }
}

const isNamed = (each: unknown): each is [number, string] =>
  Array.isArray(each) && each.length === 2 && Number.isInteger(each[0]) && typeof each[1] === 'string'
