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
import { diskFailure, systemErrorCode, systemError } from './failure.ts'
import { flushFolder } from './folders.ts'
import { HeldFolder } from './held-folder.ts'

/*
 * Writing and flushing run on another thread, so that the event loop is not blocked. Quick system calls such as stat
 * and rename run synchronously, since a thread switch costs many times more. Creating a file runs on another thread
 * too, because the disk's journal delays it during a flush.
 */
const flushData = promisify(fdatasync)
const appendBytes = promisify(writev)
const openFile = promisify(openCallback)

export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>

export interface WriteOptions {
  /** Whether a regular file at the target is replaced; default true. */
  overwrite?: boolean | undefined
  /** Source of the temporary file's name. */
  random?: Random | undefined
}

/** Permissions of new files, before the umask is applied. */
const privateMode = 0o600

/** Bytes collected for one write: most files then take one write, the slowest step. */
const bytesPerWrite = 512 * 1024

/**
 * Writes a file at `path` completely or not at all. A temporary file in the same folder is written, flushed to the
 * disk and renamed; then the folder is flushed. A symbolic link, a folder or a device at `path` is refused; a link
 * that is made there meanwhile is replaced, never followed. The folder is held open, and a link to it that another
 * account may have made is refused. The temporary file is removed on any failure. Throws an IoError for errors of the
 * disk (see `isAlreadyExists` for `overwrite: false`) and rethrows errors of the content's source unchanged.
 */
export async function writeFileAtomically(
  path: string,
  content: FileContent,
  options: WriteOptions = {},
): Promise<void> {
  const folder = openFolderOf(path)
  try {
    await writeInFolder(join(folder.systemPath, basename(path)), content, options)
  } catch (error) {
    throw folder.withShownPath(error)
  } finally {
    folder.close()
  }
}

/** Opens the folder of a file, so that another account cannot exchange it while the file is written. Throws an IoError. */
function openFolderOf(path: string): HeldFolder {
  try {
    return HeldFolder.open(dirname(path))
  } catch (error) {
    const cause = error instanceof IoError ? error.cause : error
    throw systemErrorCode(cause) === undefined ? error : diskFailure('write', path, cause)
  }
}

async function writeInFolder(path: string, content: FileContent, options: WriteOptions): Promise<void> {
  const { overwrite = true, random = systemRandom } = options
  requireWritableTarget(path, overwrite)
  const temporaryPath = join(dirname(path), `${temporaryPrefix(path)}${random.bytes(8).toString('hex')}.tmp`)
  await writeTemporary(temporaryPath, path, content)
  try {
    if (overwrite) renameSync(temporaryPath, path)
    else linkAsNew(temporaryPath, path)
  } catch (error) {
    rmSync(temporaryPath, { force: true })
    throw diskFailure('write', path, error)
  }
  await flushFolder(dirname(path))
}

/**
 * Writes a new file and flushes it to the disk; removes it if that fails. Messages name `target`. The file is created
 * with the first write, for most files once all content is read; `onContentEnd` is called then.
 */
export async function writeTemporary(
  temporaryPath: string,
  target: string,
  content: FileContent,
  { onContentEnd }: { onContentEnd?: (() => void) | undefined } = {},
): Promise<void> {
  let file: number | undefined
  const chunks: Uint8Array[] = []
  let pendingBytes = 0
  const write = async (): Promise<number> => {
    file ??= await createTemporary(temporaryPath, target)
    pendingBytes = 0
    await onDisk(writeAll(file, chunks), target)
    return file
  }
  try {
    for await (const chunk of chunksOf(content)) {
      chunks.push(chunk)
      pendingBytes += chunk.byteLength
      if (pendingBytes >= bytesPerWrite) await write()
    }
    onContentEnd?.()
    await onDisk(flushData(await write()), target)
  } catch (error) {
    if (file !== undefined) rmSync(temporaryPath, { force: true })
    throw error
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * Removes temporary files that killed writers of `path` left in its folder. Only for callers that have a lock which
 * every writer of `path` acquires.
 */
export async function removeTemporaries(path: string): Promise<void> {
  const prefix = temporaryPrefix(path)
  const names = await readdir(dirname(path))
  for (const name of names.filter((each) => each.startsWith(prefix) && each.endsWith('.tmp'))) {
    await rm(join(dirname(path), name), { force: true })
  }
}

/** Error codes of link() on file systems without hard links (FAT, some network disks). */
const noHardLinkCodes = new Set<string | undefined>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/**
 * Renames a finished temporary file to `path` if no file has that name; throws the system's error otherwise (EEXIST).
 * rename() would replace an existing file, link() does not. Without hard links, an empty file reserves the name
 * first.
 */
export function linkAsNew(temporaryPath: string, path: string): void {
  try {
    linkSync(temporaryPath, path)
  } catch (error) {
    if (!noHardLinkCodes.has(systemErrorCode(error))) throw error
    closeSync(openSync(path, 'wx', privateMode))
    try {
      renameSync(temporaryPath, path)
    } catch (failure) {
      rmSync(path, { force: true })
      throw failure
    }
    return
  }
  unlinkSync(temporaryPath)
}

/** Returns the start of the temporary name, short enough for that name to be valid wherever the target's is. */
function temporaryPrefix(path: string): string {
  return `.${basename(path).slice(0, 40)}.`
}

function requireWritableTarget(path: string, overwrite: boolean): void {
  let status
  try {
    status = lstatSync(path)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return
    throw diskFailure('write', path, error)
  }
  if (status.isSymbolicLink()) throw writeError(path, 'it is a symbolic link', 'Give the real file instead.')
  if (status.isDirectory()) throw writeError(path, 'it is a folder', 'Give the name of a file.')
  if (!status.isFile()) throw writeError(path, 'it is not a regular file', 'Give the name of a file.')
  if (!overwrite) throw diskFailure('write', path, systemError('EEXIST'))
}

function writeError(path: string, why: string, hint: string): IoError {
  return new IoError(`cannot write "${path}": ${why}`, { hint })
}

async function createTemporary(temporaryPath: string, target: string): Promise<number> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  try {
    return await openFile(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, privateMode)
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') {
      throw writeError(target, `"${temporaryPath}" is in the way`, 'Remove that file, then run it again.')
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

/** Turns errors of the disk into IoErrors; errors of the content's source, such as a broken download, are not. */
async function onDisk(operation: Promise<void>, target: string): Promise<void> {
  await operation.catch((error: unknown) => {
    throw diskFailure('write', target, error)
  })
}

/**
 * Writes all chunks and removes them from `chunks`. A disk that is nearly full accepts a part; the next write then
 * fails with the reason.
 */
async function writeAll(file: number, chunks: Uint8Array[]): Promise<void> {
  while (chunks.length > 0) {
    let { bytesWritten } = await appendBytes(file, chunks)
    while (chunks[0] !== undefined && bytesWritten >= chunks[0].byteLength) {
      bytesWritten -= chunks[0].byteLength
      chunks.shift()
    }
    if (chunks[0] !== undefined) chunks[0] = chunks[0].subarray(bytesWritten)
  }
}
