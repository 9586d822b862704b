import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Returns the folder for temporary files: in memory if it has enough space, because that is faster than a disk. */
export function temporaryRoot(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 4e9 ? memory : tmpdir()
}
