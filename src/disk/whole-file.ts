import { constants } from 'node:fs'
import { type FileHandle, link, lstat, open, readdir, rename, rm, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { IoError } from '../errors/kinds.ts'
import { type Random, systemRandom } from '../host/random.ts'
import { diskFailure, errorNumber } from './failure.ts'
import { flushFolder } from './flush-folder.ts'

export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>

export interface WriteOptions {
  /** Permissions at creation, less what the umask takes; 0600 unless told. */
  mode?: number | undefined
  /** Whether a regular file that stands at the target is replaced; true unless told. */
  overwrite?: boolean | undefined
  /** Source of the temporary file's name. */
  random?: Random | undefined
}

/**
 * Puts a file at `path` whole or not at all: a temporary file beside it is filled, flushed to the disk
 * and renamed, then the folder is flushed. A symbolic link, a folder or a device at `path` is refused and a link
 * that appears there meanwhile is replaced, never followed. The temporary file goes away on any failure.
 * Throws an IoError for the disk's refusals (`existsAlready` knows the one of `overwrite: false`) and
 * lets an error of the content's own source through as it is.
 */
export async function writeWhole(
  path: string,
  content: FileContent,
  options: WriteOptions = {},
): Promise<void> {
  const { mode = 0o600, overwrite = true, random = systemRandom } = options
  await refuseTarget(path, overwrite)
  const temporary = join(dirname(path), `${temporaryPrefix(path)}${random.bytes(8).toString('hex')}.tmp`)
  const file = await openNew(temporary, mode, path)
  try {
    try {
      await fill(file, content, path)
    } finally {
      await file.close()
    }
    await putInPlace(temporary, path, overwrite)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
  await flushFolder(dirname(path))
}

/**
 * Removes what killed writers of `path` left beside it. For those only who hold a lock that every
 * writer of `path` takes.
 */
export async function sweepTemporaries(path: string): Promise<void> {
  const prefix = temporaryPrefix(path)
  const names = await readdir(dirname(path))
  for (const name of names.filter((each) => each.startsWith(prefix) && each.endsWith('.tmp'))) {
    await rm(join(dirname(path), name), { force: true })
  }
}

/** Short enough that the temporary name fits wherever the target's does. */
function temporaryPrefix(path: string): string {
  return `.${basename(path).slice(0, 40)}.`
}

async function refuseTarget(path: string, overwrite: boolean): Promise<void> {
  const status = await lstat(path).catch((error: unknown) => {
    if (errorNumber(error) === 'ENOENT') return undefined
    throw diskFailure('write', path, error)
  })
  if (status === undefined) return
  if (status.isSymbolicLink()) throw refusal(path, 'it is a symbolic link', 'Give the real file instead.')
  if (status.isDirectory()) throw refusal(path, 'it is a folder', 'Give the name of a file.')
  if (!status.isFile()) throw refusal(path, 'it is not a regular file', 'Give the name of a file.')
  if (!overwrite) throw alreadyThere(path)
}

function refusal(path: string, why: string, hint: string): IoError {
  return new IoError(`cannot write "${path}": ${why}`, { hint })
}

function alreadyThere(path: string): IoError {
  return diskFailure('write', path, Object.assign(new Error('file exists'), { code: 'EEXIST' }))
}

async function openNew(temporary: string, mode: number, path: string): Promise<FileHandle> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  try {
    return await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  } catch (error) {
    if (errorNumber(error) === 'EEXIST') {
      throw refusal(path, `"${temporary}" is in the way`, 'Remove that file, then run it again.')
    }
    throw diskFailure('write', path, error)
  }
}

/** Only the disk's failures become IoErrors here: a broken download is not one. */
async function fill(file: FileHandle, content: FileContent, path: string): Promise<void> {
  const onDisk = async (step: Promise<void>): Promise<void> => {
    await step.catch((error: unknown) => {
      throw diskFailure('write', path, error)
    })
  }
  if (typeof content === 'string' || content instanceof Uint8Array) {
    await onDisk(file.writeFile(content))
  } else {
    for await (const chunk of content) await onDisk(file.writeFile(chunk))
  }
  await onDisk(file.sync())
}

async function putInPlace(temporary: string, path: string, overwrite: boolean): Promise<void> {
  try {
    await (overwrite ? rename(temporary, path) : placeAsNew(temporary, path))
  } catch (error) {
    throw diskFailure('write', path, error)
  }
}

/** What link() fails with where the file system has no hard links (FAT, some network disks). */
const noHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/**
 * Gives a finished temporary file its name, where nothing has that yet.
 * rename() would replace whatever stands there; link() refuses to. Without hard links the name is
 * taken by an empty file first.
 */
export async function placeAsNew(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (error) {
    if (!noHardLinks.has(errorNumber(error) ?? '')) throw error
    const reserved = await open(path, 'wx', 0o600)
    await reserved.close()
    await rename(temporary, path).catch(async (failure: unknown) => {
      await rm(path, { force: true })
      throw failure
    })
    return
  }
  await unlink(temporary)
}
