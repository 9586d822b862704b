import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

/** Mounts a memory disk of `kilobytes` at a path. Needs root. */
export function mountSmallDisk(path: string, kilobytes: number) {
  mkdirSync(path)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=700`, 'tmpfs', path])
  onTestFinished(() => void execFileSync('umount', ['--lazy', path]))
  const ballast = join(path, 'ballast')
  return {
    /** Fills the disk until it has no free space. */
    fill(): void {
      for (const size of [65_536, 4096]) {
        try {
          for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' })
        } catch {
          // No space for a piece of this size.
        }
      }
    },
    /** Deletes the file that fills the disk. */
    free: (): void => rmSync(ballast),
  }
}
