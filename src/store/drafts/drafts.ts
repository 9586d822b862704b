import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { diskFailure, systemErrorCode } from '../../disk/failure.ts'
import { makeOwnFolders, readPrivate, requireOwnFolders } from '../../disk/private-modes.ts'
import { writeFileAtomically } from '../../disk/whole-file.ts'
import { type StoredDraft, parseDraft } from '../../domain/form/stored-draft.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'

/** Answers that were not ordered yet, a private file each in the data folder's `drafts`. No key is ever in one. */
export interface Drafts {
  /** Under its id; throws an IoError where the disk refuses. */
  keep(draft: StoredDraft): Promise<void>
  /** All that can be read; what is damaged is left out. */
  all(): Promise<StoredDraft[]>
  drop(id: string): Promise<void>
  /** Every file that no draft can be read from: it may name anybody. */
  unreadable(): Promise<string[]>
}

export interface DraftsOptions {
  paths: Paths
  random: Random
  onMessage: (text: string) => void
}

const maxBytes = 4 * 1024 * 1024
const fileName = /^([\da-f]{16})\.json$/

/** Touches nothing yet. */
export function openDrafts({ paths, random, onMessage }: DraftsOptions): Drafts {
  const folder = join(paths.data, 'drafts')
  const pathOf = (id: string): string => join(folder, `${id}.json`)
  const ids = async (): Promise<string[]> => {
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
  const each = async () => Promise.all((await ids()).map(async (id) => ({ id, draft: await read(id) })))
  return {
    async keep(draft) {
      makeOwnFolders(paths.data, folder)
      await writeFileAtomically(pathOf(draft.id), JSON.stringify(draft), { random })
    },
    all: async () => (await each()).flatMap(({ draft }) => draft ?? []),
    unreadable: async () => (await each()).flatMap(({ id, draft }) => (draft === undefined ? [id] : [])),
    async drop(id) {
      await rm(pathOf(id), { force: true }).catch((error: unknown) => {
        throw diskFailure('remove', pathOf(id), error)
      })
    },
  }
}
