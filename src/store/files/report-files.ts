import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

import { IoError } from '../../errors/io.ts'
import { diskFailure, errorNumber } from './disk-failure.ts'
import { writeWhole } from './whole-file.ts'

/** Reports hold personal data: for their owner alone. */
const reportMode = 0o600
const folderMode = 0o700

/** What stands at a path; a symbolic link counts as what it leads to is not asked. */
export async function standingAt(path: string): Promise<'nothing' | 'folder' | 'file'> {
  try {
    return (await lstat(path)).isDirectory() ? 'folder' : 'file'
  } catch (error) {
    if (errorNumber(error) === 'ENOENT') return 'nothing'
    throw diskFailure('look at', path, error)
  }
}

/** PDFs on disk, whole or not at all. */
export const reportFiles = {
  async existing(path: string): Promise<{ bytes: number; sha256: string } | undefined> {
    if ((await standingAt(path)) === 'nothing') return undefined
    const status = await lstat(path)
    if (!status.isFile()) {
      throw new IoError(`${path} is not a regular file, and a report should go there`, {
        hint: 'Move it away, or choose another --output.',
      })
    }
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    return { bytes: status.size, sha256: hash.digest('hex') }
  },

  async write(path: string, content: AsyncIterable<Uint8Array>, overwrite: boolean): Promise<void> {
    try {
      await mkdir(dirname(path), { recursive: true, mode: folderMode })
    } catch (error) {
      throw diskFailure('make the folder', dirname(path), error)
    }
    await writeWhole(path, content, { mode: reportMode, overwrite })
  },
}
