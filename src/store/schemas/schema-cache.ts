import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { z } from 'zod'

import { type PackageSchema, packageSchema } from '../../contract/package-schema.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'
import { diskFailure } from '../../disk/failure.ts'
import { makeOwnFolders, readPrivate } from '../../disk/private-modes.ts'
import { writeFileAtomically } from '../../disk/whole-file.ts'

/** Whose view of which package: what a user may see depends on organisation and role. */
export interface SchemaKey {
  /** No trailing slash. */
  baseUrl: string
  userEmail: string
  packageId: number
}

/** "The schema of an existing package id stays stable" ("Package status"), so it is cached until it is refreshed. */
export interface SchemaCache {
  /** Undefined where none is kept; a file that cannot be read or is damaged counts as none. */
  get(key: SchemaKey): Promise<PackageSchema | undefined>
  /** Throws an IoError where the disk refuses. */
  put(key: SchemaKey, schema: PackageSchema): Promise<void>
  forget(key: SchemaKey): Promise<void>
}

export interface SchemaCacheOptions {
  paths: Paths
  random: Random
  /** Called with a sentence when looser permissions were fixed. */
  onMessage?: ((text: string) => void) | undefined
}

/** A file says itself whose it is, so that one moved or renamed is never taken for another's. */
const cachedSchema = z.object({
  base_url: z.string(),
  user_email: z.string(),
  package_id: z.int(),
  schema: packageSchema,
})

const maxBytes = 16 * 1024 * 1024

/** One private file a schema, in the data folder's `schemas`. Touches nothing yet. */
export function openSchemaCache(options: SchemaCacheOptions): SchemaCache {
  const folder = join(options.paths.data, 'schemas')
  const pathOf = (key: SchemaKey): string => join(folder, `${nameOf(key)}.json`)
  return {
    async get(key) {
      const file = await readPrivate(pathOf(key), maxBytes, options.paths.data).catch(() => undefined)
      if (file === undefined) return undefined
      if (file.warning !== undefined) options.onMessage?.(file.warning)
      return schemaIn(file.text, key)
    },
    async put(key, schema) {
      makeOwnFolders(options.paths.data, folder)
      const cached = { base_url: key.baseUrl, user_email: user(key), package_id: key.packageId, schema }
      await writeFileAtomically(pathOf(key), JSON.stringify(cached), { random: options.random })
    },
    async forget(key) {
      const path = pathOf(key)
      await rm(path, { force: true }).catch((error: unknown) => {
        throw diskFailure('remove', path, error)
      })
    },
  }
}

/** Addresses that differ in case alone are one user's. */
function user(key: SchemaKey): string {
  return key.userEmail.toLowerCase()
}

function nameOf(key: SchemaKey): string {
  const whole = JSON.stringify([key.baseUrl, user(key), key.packageId])
  return createHash('sha256').update(whole).digest('hex').slice(0, 40)
}

function schemaIn(text: string, key: SchemaKey): PackageSchema | undefined {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return undefined
  }
  const cached = cachedSchema.safeParse(content).data
  if (cached === undefined || cached.schema.id !== key.packageId) return undefined
  const whose = nameOf({
    baseUrl: cached.base_url,
    userEmail: cached.user_email,
    packageId: cached.package_id,
  })
  return whose === nameOf(key) ? cached.schema : undefined
}
