import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { diskFailure, systemErrorCode } from '../disk/failure.ts'
import { makeOwnFolders, readPrivate, requireOwnFolders } from '../disk/private-modes.ts'
import { writeFileAtomically } from '../disk/whole-file.ts'
import { IoError } from '../errors/kinds.ts'

/** The kind of a written file; `reports` is a folder with a manifest. */
export type WrittenKind = 'results' | 'export' | 'plan' | 'backup' | 'reports'

export interface WrittenFile {
  /** The absolute path. */
  path: string
  kind: WrittenKind
  /** The batch whose rows the file contains; undefined if it is not about one batch. */
  batchId?: string | undefined
}

const maxBytes = 64 * 1024
const suffix = '.json'

/**
 * A record of the files outside the data folder into which this machine wrote personal data, so that a purge can name
 * them. Each is recorded in a private file in the folder `written`.
 */
export class WrittenFiles {
  readonly #base: string
  readonly #folder: string

  constructor(dataFolder: string) {
    this.#base = dataFolder
    this.#folder = join(dataFolder, 'written')
  }

  async add(file: WrittenFile): Promise<void> {
    makeOwnFolders(this.#base, this.#folder)
    await writeFileAtomically(this.#pathOf(file.path), JSON.stringify(file))
  }

  async list(): Promise<WrittenFile[]> {
    requireOwnFolders(this.#base, this.#folder)
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (systemErrorCode(error) === 'ENOENT') return []
      throw diskFailure('read the folder', this.#folder, error)
    })
    const found: WrittenFile[] = []
    for (const name of names.filter((each) => each.endsWith(suffix)).sort()) {
      const path = join(this.#folder, name)
      const file = await readPrivate(path, maxBytes, this.#base)
      if (file !== undefined) found.push(parseRecord(file.text, path))
    }
    return found
  }

  async remove(path: string): Promise<void> {
    await rm(this.#pathOf(path), { force: true }).catch((error: unknown) => {
      throw diskFailure('remove', this.#pathOf(path), error)
    })
  }

  #pathOf(path: string): string {
    return join(this.#folder, `${createHash('sha256').update(path).digest('hex').slice(0, 32)}${suffix}`)
  }
}

function parseRecord(text: string, path: string): WrittenFile {
  try {
    return JSON.parse(text) as WrittenFile
  } catch (cause) {
    throw new IoError(`"${path}" is damaged: it is not JSON`, {
      hint: 'It names a file with people’s data that refcheck wrote. Look for such files yourself, then move it away.',
      cause,
    })
  }
}
