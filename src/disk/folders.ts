import { closeSync, constants, fsync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

import { diskFailure, errorNumber } from './failure.ts'

const flushAll = promisify(fsync)

/** Where folders cannot be opened or flushed (Windows, some network disks) there is nothing to do. */
const unknown = new Set(['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EBADF'])

/** Names put into a folder outlive a power cut once it is flushed. Throws IoError. */
export async function flushFolder(folder: string): Promise<void> {
  try {
    const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      await flushAll(handle)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    if (!unknown.has(errorNumber(error) ?? '')) throw diskFailure('flush the folder', folder, error)
  }
}

/** Another process may take a parent away just when it is looked for; more often than this it is no chance. */
const maxTries = 20

/**
 * Makes a folder and its missing parents, with `mode`; answers the topmost that it made, undefined where all were
 * there. Throws the system's error. Not by `recursive` of Node's mkdir, which asks for ever where a parent that is
 * there answers ENOENT (/proc, automounted trees).
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
