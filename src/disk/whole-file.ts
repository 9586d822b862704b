import {
  closeSync,
  constants,
  fdatasync,
  linkSync,
  lstatSync,
  open as openCallback,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writev,
} from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { IoError } from '../errors/kinds.ts'
import { type Random, systemRandom } from '../host/random.ts'
import { diskFailure, errorNumber, systemError } from './failure.ts'
import { flushFolder } from './folders.ts'

/*
 * What moves or flushes bytes leaves the event loop free; what only asks or names is called at once, since the way to
 * another thread and back costs many times what such a call does. A file is made on another thread: the disk's journal
 * has it wait for a flush that is under way.
 */
const flushData = promisify(fdatasync)
const append = promisify(writev)
const create = promisify(openCallback)

export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>

export interface WriteOptions {
  /** Whether a regular file at the target is replaced; default true. */
  overwrite?: boolean | undefined
  /** Source of the temporary file's name. */
  random?: Random | undefined
}

/** Permissions at creation, less what the umask takes. */
const privateMode = 0o600

/** Bytes gathered for one write: most files take one, which counts for more than any other step. */
const gatheredBytes = 512 * 1024

/**
 * Puts a file at `path` whole or not at all: a temporary file in the same folder is filled, flushed to the disk
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
  const { overwrite = true, random = systemRandom } = options
  refuseTarget(path, overwrite)
  const temporary = join(dirname(path), `${temporaryPrefix(path)}${random.bytes(8).toString('hex')}.tmp`)
  await writeTemporary(temporary, path, content)
  try {
    if (overwrite) renameSync(temporary, path)
    else linkAsNew(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw diskFailure('write', path, error)
  }
  await flushFolder(dirname(path))
}

/**
 * Fills a new file and flushes it to the disk; it is gone where that fails. `target` is named in messages. The file is made
 * when there is something to write, which for most is when all of it came: `onContentEnd` is called then.
 */
export async function writeTemporary(
  temporary: string,
  target: string,
  content: FileContent,
  { onContentEnd }: { onContentEnd?: (() => void) | undefined } = {},
): Promise<void> {
  let file: number | undefined
  const chunks: Uint8Array[] = []
  let waiting = 0
  const write = async (): Promise<number> => {
    file ??= await openNew(temporary, target)
    waiting = 0
    await onDisk(writeAll(file, chunks), target)
    return file
  }
  try {
    for await (const chunk of chunksOf(content)) {
      chunks.push(chunk)
      waiting += chunk.byteLength
      if (waiting >= gatheredBytes) await write()
    }
    onContentEnd?.()
    await onDisk(flushData(await write()), target)
  } catch (error) {
    if (file !== undefined) rmSync(temporary, { force: true })
    throw error
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Removes what killed writers of `path` left in its folder. For callers only that hold a lock that every
 * writer of `path` takes.
 */
export async function sweepTemporaries(path: string): Promise<void> {
  const prefix = temporaryPrefix(path)
  const names = await readdir(dirname(path))
  for (const name of names.filter((each) => each.startsWith(prefix) && each.endsWith('.tmp'))) {
    await rm(join(dirname(path), name), { force: true })
  }
}

/** What link() fails with where the file system has no hard links (FAT, some network disks). */
const noHardLinks = new Set<string | undefined>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/**
 * Gives a finished temporary file its name, where nothing has that yet; throws the system's error (EEXIST).
 * rename() would replace whatever is there; link() refuses to. Without hard links the name is
 * taken by an empty file first.
 */
export function linkAsNew(temporary: string, path: string): void {
  try {
    linkSync(temporary, path)
  } catch (error) {
    if (!noHardLinks.has(errorNumber(error))) throw error
    closeSync(openSync(path, 'wx', privateMode))
    try {
      renameSync(temporary, path)
    } catch (failure) {
      rmSync(path, { force: true })
      throw failure
    }
    return
  }
  unlinkSync(temporary)
}

/** Short enough that the temporary name fits wherever the target's does. */
function temporaryPrefix(path: string): string {
  return `.${basename(path).slice(0, 40)}.`
}

function refuseTarget(path: string, overwrite: boolean): void {
  let status
  try {
    status = lstatSync(path)
  } catch (error) {
    if (errorNumber(error) === 'ENOENT') return
    throw diskFailure('write', path, error)
  }
  if (status.isSymbolicLink()) throw refusal(path, 'it is a symbolic link', 'Give the real file instead.')
  if (status.isDirectory()) throw refusal(path, 'it is a folder', 'Give the name of a file.')
  if (!status.isFile()) throw refusal(path, 'it is not a regular file', 'Give the name of a file.')
  if (!overwrite) throw diskFailure('write', path, systemError('EEXIST'))
}

function refusal(path: string, why: string, hint: string): IoError {
  return new IoError(`cannot write "${path}": ${why}`, { hint })
}

async function openNew(temporary: string, target: string): Promise<number> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  try {
    return await create(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, privateMode)
  } catch (error) {
    if (errorNumber(error) === 'EEXIST') {
      throw refusal(target, `"${temporary}" is in the way`, 'Remove that file, then run it again.')
    }
    throw diskFailure('write', target, error)
  }
}

function chunksOf(content: FileContent): AsyncIterable<Uint8Array> | Uint8Array[] {
  return typeof content === 'string'
    ? [Buffer.from(content)]
    : content instanceof Uint8Array
      ? [content]
      : content
}

/** Only the disk's failures become IoErrors: a broken download is not one. */
async function onDisk(step: Promise<void>, target: string): Promise<void> {
  await step.catch((error: unknown) => {
    throw diskFailure('write', target, error)
  })
}

/** Takes what it writes out of `chunks`. A disk that is nearly full takes a part, and fails with the reason at the next try. */
async function writeAll(file: number, chunks: Uint8Array[]): Promise<void> {
  while (chunks.length > 0) {
    let { bytesWritten } = await append(file, chunks)
    while (chunks[0] !== undefined && bytesWritten >= chunks[0].byteLength) {
      bytesWritten -= chunks[0].byteLength
      chunks.shift()
    }
    if (chunks[0] !== undefined) chunks[0] = chunks[0].subarray(bytesWritten)
  }
}
