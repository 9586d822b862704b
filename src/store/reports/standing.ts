import { lstat, stat } from 'node:fs/promises'

import { diskFailure, errorNumber } from '../../disk/failure.ts'
import { isWholePdf, statusAt } from './file.ts'

/** What stands at a path. A link to a folder is one, since a person named it; any other link counts as a file. */
export async function standingAt(path: string): Promise<'nothing' | 'folder' | 'file'> {
  try {
    const status = await lstat(path)
    const target = status.isSymbolicLink() ? await stat(path).catch(() => status) : status
    return target.isDirectory() ? 'folder' : 'file'
  } catch (error) {
    if (errorNumber(error) === 'ENOENT') return 'nothing'
    throw diskFailure('look at', path, error)
  }
}

/** Whether a PDF stands there, whole and no link: it may be the very report that is asked for. */
export async function holdsPdf(path: string): Promise<boolean> {
  return statusAt(path)?.isFile() === true && isWholePdf(path)
}
