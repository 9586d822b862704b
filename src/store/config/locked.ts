import { dirname } from 'node:path'

import { IoError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import { acquireLock } from '../../disk/lock.ts'
import { makeOwnFolders } from '../../disk/private-modes.ts'

/** Much longer than any change of a file takes. */
const waitMs = 15_000

/**
 * Runs `work` while no other process changes `path`, under the lock `<path>.lock`; makes the private folder first.
 * Throws IoError if another process does not release the lock in time.
 */
export async function withLock<T>(
  path: string,
  { clock }: { clock: Clock },
  work: () => Promise<T>,
): Promise<T> {
  makeOwnFolders(dirname(path))
  const lock = await acquireLock(`${path}.lock`, { clock, waitMs })
  if (lock === undefined) {
    throw new IoError(`cannot change "${path}": another process has locked it for ${waitMs / 1000} s`, {
      hint: 'Check whether another refcheck hangs, stop it, then run this again.',
    })
  }
  try {
    return await work()
  } finally {
    lock.release()
  }
}
