import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** The folder for temporary files: in memory where there is room for them, so that nothing waits for a disk. */
export function temporaryRoot(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 4e9 ? memory : tmpdir()
}
