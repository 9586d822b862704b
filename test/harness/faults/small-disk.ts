import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

/** A memory disk of its own at a path, so small that it is soon full; mounting takes root. */
export function smallDisk(path: string, kilobytes: number) {
  mkdirSync(path)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=700`, 'tmpfs', path])
  onTestFinished(() => void execFileSync('umount', ['--lazy', path]))
  const ballast = join(path, 'ballast')
  return {
    /** To the last byte that can be had. */
    fill(): void {
      for (const size of [65_536, 4096]) {
        try {
          for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' })
        } catch {
          // Full, as far as pieces of this size go.
        }
      }
    },
    free: (): void => rmSync(ballast),
  }
}
