import { closeSync, constants, fsync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

import { diskFailure, systemErrorCode } from './failure.ts'

const flush = promisify(fsync)

/** Codes of systems where folders cannot be opened or flushed (Windows, some network disks); they are ignored. */
const unsupportedCodes = new Set(['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EBADF'])

/** Flushes a folder, so that names just created in it survive a power failure. Throws an IoError if that fails. */
export async function flushFolder(folder: string): Promise<void> {
  try {
    const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      await flush(handle)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    if (!unsupportedCodes.has(systemErrorCode(error) ?? ''))
      throw diskFailure('flush the folder', folder, error)
  }
}

/** Limit of attempts: another process may delete a parent between two steps, but not so often. */
const maxTries = 20

/**
 * Makes a folder and its missing parents with `mode`. Returns the topmost folder that was made, or undefined if all
 * existed. Throws the system's error. Node's `mkdir` with `recursive` is not used: it loops for ever where an
 * existing parent reports ENOENT (/proc, automounted trees).
 */
export function makeFolders(path: string, mode: number): string | undefined {
  let topmost: string | undefined
  for (let tries = 1; ; tries += 1) {
    try {
      mkdirSync(path, { mode })
      return topmost ?? path
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
        return topmost
      const parent = dirname(path)
      if (code !== 'ENOENT' || parent === path || tries === maxTries) throw error
      topmost = makeFolders(parent, mode) ?? topmost
    }
  }
}
