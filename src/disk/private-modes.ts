import { constants, type Stats } from 'node:fs'
import { chmod, lstat, open, stat } from 'node:fs/promises'

import { IoError } from '../errors/kinds.ts'
import { ownUserId } from '../host/process-id.ts'
import { makeFolders } from './make-folders.ts'
import { diskFailure, errorNumber } from './failure.ts'

/** What others of this machine may do with a file or folder; a private one grants none of it. */
const others = 0o077
const stickyBit = 0o1000
const writableByAll = 0o002

/** The same for several, outer ones first; what was fixed is told. */
export async function privateFolders(
  paths: readonly string[],
  onNotice: (text: string) => void,
): Promise<void> {
  for (const path of paths) {
    const notice = await privateFolder(path)
    if (notice !== undefined) onNotice(notice)
  }
}

/**
 * Makes the folder and its missing parents, 0700 from the start, or fixes a looser one. Answers a
 * sentence to show the person when something was fixed. A folder that all accounts share (/tmp), that
 * belongs to another account, or that cannot be fixed is refused with an IoError.
 */
export async function privateFolder(path: string): Promise<string | undefined> {
  try {
    makeFolders(path, 0o700)
  } catch (error) {
    if (errorNumber(error) === 'EEXIST') throw diskFailure('make the folder', path, notAFolder())
    throw diskFailure('make the folder', path, error)
  }
  return makeFolderPrivate(path)
}

/** The fixing half of `privateFolder`: a folder that is not there stays so. */
export async function makeFolderPrivate(path: string): Promise<string | undefined> {
  const [own, status] = await Promise.all([lstat(path), stat(path)]).catch((error: unknown) => {
    if (errorNumber(error) === 'ENOENT') return []
    throw diskFailure('read the folder', path, error)
  })
  if (own === undefined || status === undefined) return undefined
  // A link of one's own leads where one wants it to.
  refuseForeign('folder', path, own)
  if (!status.isDirectory()) throw diskFailure('use the folder', path, notAFolder())
  refuseForeign('folder', path, status)
  if ((status.mode & others) === 0) return undefined
  if ((status.mode & stickyBit) !== 0) {
    throw new IoError(`cannot keep private files in "${path}": all users of this machine share it`, {
      hint: 'Use a folder of your own inside it.',
    })
  }
  await chmod(path, status.mode & 0o7700).catch((error: unknown) => {
    throw cannotMend(path, error)
  })
  const after = await stat(path)
  return mendedNotice('folder', path, status.mode, after.mode)
}

export interface PrivateText {
  text: string
  /** A sentence to show the person: the file was open to others and no longer is. */
  notice: string | undefined
}

/**
 * Reads a private file as UTF-8, fixing a looser mode first; undefined where there is none. A
 * symbolic link, anything but a regular file, one of another account, more than `maxBytes`, or a mode that
 * cannot be fixed is an IoError.
 */
export async function readPrivate(path: string, maxBytes: number): Promise<PrivateText | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const status = await file.stat()
      const odd = status.isFile() ? undefined : 'it is not a regular file'
      const why = odd ?? (status.size > maxBytes ? `it is larger than ${maxBytes} bytes` : undefined)
      if (why !== undefined) {
        throw new IoError(`cannot read "${path}": ${why}`, {
          hint: 'Something replaced it. Move it away, then run the same command again.',
        })
      }
      refuseForeign('file', path, status)
      let notice: string | undefined
      if ((status.mode & others) !== 0) {
        await file.chmod(status.mode & 0o700).catch((error: unknown) => {
          throw cannotMend(path, error)
        })
        const after = await file.stat()
        notice = mendedNotice('file', path, status.mode, after.mode)
      }
      return { text: await file.readFile('utf8'), notice }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof IoError) throw error
    if (errorNumber(error) === 'ENOENT') return undefined
    throw diskFailure('read', path, error)
  }
}

/** The mode, such as "0644", of a file or folder that others may do something with; undefined where they may not. */
export async function looseMode(path: string): Promise<string | undefined> {
  const status = await stat(path).catch(() => undefined)
  if (status === undefined || (status.mode & others) === 0) return undefined
  return (status.mode & 0o777).toString(8).padStart(4, '0')
}

/** Why other accounts could replace what is in a folder; undefined where they cannot, or it is not there. */
export async function openToOthers(folder: string): Promise<string | undefined> {
  const own = ownUserId()
  const status = await stat(folder).catch(() => undefined)
  if (own === undefined || status === undefined) return undefined
  if (status.uid !== own && status.uid !== 0) return 'it belongs to another user of this machine'
  if ((status.mode & writableByAll) === 0) return undefined
  const mode = (status.mode & 0o7777).toString(8).padStart(4, '0')
  return `all users of this machine may write to it (${mode})`
}

/** Who may write a file decides what is in it: another account's is not trusted, whatever its mode. */
export function refuseForeign(kind: 'file' | 'folder', path: string, status: Pick<Stats, 'uid'>): void {
  const own = ownUserId()
  if (own === undefined || status.uid === own) return
  throw new IoError(`cannot use the ${kind} "${path}": it belongs to another user of this machine`, {
    hint: 'Run refcheck as that user, or use a folder of your own: set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR.',
  })
}

/** No word where modes mean nothing and the change had no effect (Windows, FAT). */
function mendedNotice(kind: string, path: string, before: number, after: number): string | undefined {
  if ((after & others) !== 0) return undefined
  const was = (before & 0o777).toString(8).padStart(4, '0')
  const is = (after & 0o777).toString(8).padStart(4, '0')
  return `The ${kind} "${path}" was readable by other users (${was}); it is now private (${is}).`
}

function cannotMend(path: string, cause: unknown): IoError {
  return new IoError(`other users can read "${path}", and its permissions cannot be changed`, {
    hint: `Use another folder, or make it private with: chmod go= "${path}"`,
    cause,
  })
}

function notAFolder(): Error {
  return Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
}
