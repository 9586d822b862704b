import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { diskFailure, systemErrorCode } from '../../disk/failure.ts'
import { makeOwnFolders, readPrivate, requireOwnFolders } from '../../disk/private-modes.ts'
import { writeFileAtomically } from '../../disk/whole-file.ts'
import { type StoredDraft, parseDraft } from '../../domain/form/stored-draft.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'

/**
 * Answers that were not ordered yet, each in a private file in the folder `drafts` of the data folder. A draft never
 * contains an API key.
 */
export interface Drafts {
  /** Stores a draft under its id. Throws IoError if it cannot be written. */
  save(draft: StoredDraft): Promise<void>
  /** Returns all drafts that can be read; damaged ones are left out. */
  list(): Promise<StoredDraft[]>
  remove(id: string): Promise<void>
  /** Returns the ids of files from which no draft can be read: such a file may contain any person's data. */
  listUnreadable(): Promise<string[]>
}

export interface DraftsOptions {
  paths: Paths
  random: Random
  onMessage: (text: string) => void
}

const maxBytes = 4 * 1024 * 1024
const fileName = /^([\da-f]{16})\.json$/

/** Returns the drafts without reading or making the folder yet. */
export function openDrafts({ paths, random, onMessage }: DraftsOptions): Drafts {
  const folder = join(paths.data, 'drafts')
  const pathOf = (id: string): string => join(folder, `${id}.json`)
  const listIds = async (): Promise<string[]> => {
    requireOwnFolders(paths.data, folder)
    const names = await readdir(folder).catch((error: unknown) => {
      if (systemErrorCode(error) === 'ENOENT') return []
      throw diskFailure('read the folder', folder, error)
    })
    return names.flatMap((name) => fileName.exec(name)?.slice(1) ?? []).sort()
  }
  const read = async (id: string): Promise<StoredDraft | undefined> => {
    const file = await readPrivate(pathOf(id), maxBytes, paths.data).catch(() => undefined)
    if (file?.warning !== undefined) onMessage(file.warning)
    const draft = file === undefined ? undefined : parseDraft(file.text)
    return draft?.id === id ? draft : undefined
  }
  const readEach = async () =>
    Promise.all((await listIds()).map(async (id) => ({ id, draft: await read(id) })))
  return {
    async save(draft) {
      makeOwnFolders(paths.data, folder)
      await writeFileAtomically(pathOf(draft.id), JSON.stringify(draft), { random })
    },
    list: async () => (await readEach()).flatMap(({ draft }) => draft ?? []),
    listUnreadable: async () =>
      (await readEach()).flatMap(({ id, draft }) => (draft === undefined ? [id] : [])),
    async remove(id) {
      await rm(pathOf(id), { force: true }).catch((error: unknown) => {
        throw diskFailure('remove', pathOf(id), error)
      })
    },
  }
}
