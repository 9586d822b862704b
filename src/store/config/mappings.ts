import { redactArgument, requireNoApiKey } from '../../domain/wording/redact-argument.ts'
import { join } from 'node:path'

import { type StoredMapping, parseStoredReading } from '../../domain/batch/columns.ts'
import { IoError, UsageError } from '../../errors/kinds.ts'
import type { Paths } from '../../host/paths.ts'
import { makeOwnFolders, readPrivate } from '../../disk/private-modes.ts'
import { writeFileAtomically } from '../../disk/whole-file.ts'

/** Saved mappings by name, each in a file in the folder `mappings` of the config folder. */
export interface Mappings {
  /** Returns a mapping; undefined if none has this name. Throws UsageError for an invalid name. */
  get(name: string): Promise<StoredMapping | undefined>
  put(name: string, mapping: StoredMapping): Promise<void>
}

const maxBytes = 1024 * 1024

export function openMappings(paths: Paths): Mappings {
  const folder = join(paths.config, 'mappings')
  const fileOf = (name: string): string => join(folder, `${requireName(name)}.json`)
  return {
    async get(name) {
      const file = await readPrivate(fileOf(name), maxBytes, paths.config)
      return file === undefined ? undefined : parseMapping(file.text, name)
    },
    async put(name, mapping) {
      const path = fileOf(name)
      makeOwnFolders(paths.config, folder)
      await writeFileAtomically(path, `${JSON.stringify(mapping, null, 2)}\n`)
    },
  }
}

function requireName(name: string): string {
  requireNoApiKey(name, 'a mapping')
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name)) return name.toLowerCase()
  throw new UsageError(`"${redactArgument(name)}" is not a valid name for a mapping`, {
    hint: 'Use letters, digits, - and _, such as: workday',
  })
}

function parseMapping(text: string, name: string): StoredMapping {
  try {
    const { map, ignore, reading } = JSON.parse(text) as Partial<StoredMapping>
    const columns = Object.entries(map ?? {})
    const isMapping =
      Array.isArray(ignore) &&
      ignore.every((each) => typeof each === 'string') &&
      columns.every(([, column]) => typeof column === 'string')
    if (isMapping) {
      return {
        map: Object.assign(Object.create(null), map) as Record<string, string>,
        ignore,
        reading: parseStoredReading(reading),
      }
    }
  } catch {
    // Reported below, like any other invalid text.
  }
  throw new IoError(`the mapping "${name}" is damaged`, {
    hint: `Save it again with: --save-mapping ${name}`,
  })
}
