import { lstatSync } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { diskFailure } from './failure.ts'
import { refuseForeign } from './private-modes.ts'

/**
 * Writes a file in a folder and removes it, because modes do not tell what a container allows. A folder that is not
 * there is not made: the nearest one that is stands for it. Throws an IoError that says why a file cannot be written.
 */
export async function tryWrite(folder: string): Promise<void> {
  const there = nearest(folder)
  try {
    if (there === folder) refuseForeign('folder', folder, (await stat(folder)).uid)
    const own = await mkdtemp(join(there, '.refcheck-try-'))
    try {
      const file = await open(join(own, 'file'), 'wx', 0o600)
      try {
        await file.writeFile(Buffer.alloc(4096))
      } finally {
        await file.close()
      }
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  } catch (error) {
    throw error instanceof Error && 'code' in error && 'syscall' in error
      ? diskFailure(there === folder ? 'write in the folder' : 'make the folder', folder, error)
      : error
  }
}

function nearest(folder: string): string {
  const parent = dirname(folder)
  return parent === folder || lstatSync(folder, { throwIfNoEntry: false }) !== undefined
    ? folder
    : nearest(parent)
}
