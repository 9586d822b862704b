import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** For temporary files: in memory where there is room for them, so that nothing waits for a disk. */
export function roomiestPlace(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 4e9 ? memory : tmpdir()
}
