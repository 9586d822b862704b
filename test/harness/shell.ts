import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { root } from '../house/sources.ts'

/** Creates a folder for PATH in `parent`, in which `refcheck` is the built program. Returns its path. */
export function createProgramFolder(parent: string): string {
  const folder = join(parent, 'program')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'refcheck')
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin', 'run.js')}' "$@"\n`)
  chmodSync(file, 0o755)
  return folder
}
