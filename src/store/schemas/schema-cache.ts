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

/** The key of a stored schema: what a user may see of a package depends on the organisation and the role. */
export interface SchemaKey {
  /** The base URL without a trailing slash. */
  baseUrl: string
  userEmail: string
  packageId: number
}

/**
 * Stored schemas: "The schema of an existing package id stays stable" ("Package status"), so a schema is used until
 * it is refreshed.
 */
export interface SchemaCache {
  /** Returns a schema; undefined if none is stored, or if its file cannot be read or is damaged. */
  get(key: SchemaKey): Promise<PackageSchema | undefined>
  /** Stores a schema. Throws IoError if it cannot be written. */
  put(key: SchemaKey, schema: PackageSchema): Promise<void>
  remove(key: SchemaKey): Promise<void>
}

export interface SchemaCacheOptions {
  paths: Paths
  random: Random
  /** Called with a sentence when permissions that were too open have been corrected. */
  onMessage?: ((text: string) => void) | undefined
}

/** A file contains its key, so that a moved or renamed file is not used for another key. */
const cachedSchema = z.object({
  base_url: z.string(),
  user_email: z.string(),
  package_id: z.int(),
  schema: packageSchema,
})

const maxBytes = 16 * 1024 * 1024

/**
 * Returns the cache without reading or making the folder yet. Each schema is stored in a private file in the folder
 * `schemas` of the data folder.
 */
export function openSchemaCache(options: SchemaCacheOptions): SchemaCache {
  const folder = join(options.paths.data, 'schemas')
  const pathOf = (key: SchemaKey): string => join(folder, `${fileNameOf(key)}.json`)
  return {
    async get(key) {
      const file = await readPrivate(pathOf(key), maxBytes, options.paths.data).catch(() => undefined)
      if (file === undefined) return undefined
      if (file.warning !== undefined) options.onMessage?.(file.warning)
      return parseSchema(file.text, key)
    },
    async put(key, schema) {
      makeOwnFolders(options.paths.data, folder)
      const cached = { base_url: key.baseUrl, user_email: userKey(key), package_id: key.packageId, schema }
      await writeFileAtomically(pathOf(key), JSON.stringify(cached), { random: options.random })
    },
    async remove(key) {
      const path = pathOf(key)
      await rm(path, { force: true }).catch((error: unknown) => {
        throw diskFailure('remove', path, error)
      })
    },
  }
}

/** Returns the user's e-mail in lower case, because users are the same if their addresses differ only in case. */
function userKey(key: SchemaKey): string {
  return key.userEmail.toLowerCase()
}

function fileNameOf(key: SchemaKey): string {
  const keyText = JSON.stringify([key.baseUrl, userKey(key), key.packageId])
  return createHash('sha256').update(keyText).digest('hex').slice(0, 40)
}

function parseSchema(text: string, key: SchemaKey): PackageSchema | undefined {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    return undefined
  }
  const cached = cachedSchema.safeParse(content).data
  if (cached === undefined || cached.schema.id !== key.packageId) return undefined
  const storedName = fileNameOf({
    baseUrl: cached.base_url,
    userEmail: cached.user_email,
    packageId: cached.package_id,
  })
  return storedName === fileNameOf(key) ? cached.schema : undefined
}
