import { closeSync, constants, fsync, openSync } from 'node:fs'
import { promisify } from 'node:util'

import { diskFailure, errorNumber } from '../../disk/failure.ts'

const flushAll = promisify(fsync)

/** Where folders cannot be opened or flushed (Windows, some network disks) there is nothing to do. */
const flushUnknown = new Set(['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EBADF'])

/** Flushes folders to the disk; those who ask while one flush runs share the next. */
export class FolderFlushes {
  readonly #running = new Map<string, { now: Promise<void>; next: Promise<void> | undefined }>()

  /** Resolves once every name put into the folder before the call is on the disk. */
  flush(folder: string): Promise<void> {
    const running = this.#running.get(folder)
    if (running === undefined) return this.#start(folder)
    running.next ??= running.now.catch(() => undefined).then(() => this.#start(folder))
    return running.next
  }

  #start(folder: string): Promise<void> {
    const now = flushed(folder).finally(() => {
      if (this.#running.get(folder)?.now === now && this.#running.get(folder)?.next === undefined) {
        this.#running.delete(folder)
      }
    })
    this.#running.set(folder, { now, next: undefined })
    return now
  }
}

async function flushed(folder: string): Promise<void> {
  try {
    const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      await flushAll(handle)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    if (!flushUnknown.has(errorNumber(error) ?? '')) throw diskFailure('flush the folder', folder, error)
  }
}
