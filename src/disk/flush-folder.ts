import { closeSync, constants, fsync, openSync } from 'node:fs'
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
