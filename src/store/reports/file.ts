import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  createReadStream,
  fdatasync,
  linkSync,
  lstatSync,
  mkdirSync,
  open as openCallback,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writev,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { InternalError } from '../../errors/kinds.ts'
import { diskFailure, errorNumber } from '../../disk/failure.ts'
import { readOwn } from '../../disk/private-modes.ts'
import { endMark, headMark, tailBytes } from '../../domain/report/pdf.ts'
import type { FolderFlushes } from './flush.ts'

/*
 * What moves or flushes bytes leaves the event loop free; what only asks or names is called at once,
 * since the way to another thread and back costs many times what such a call does. A file is made on another
 * thread: the disk's journal has it wait for a flush that is under way.
 */
const flushData = promisify(fdatasync)
const append = promisify(writev)
const create = promisify(openCallback)

export interface Received {
  bytes: number
  sha256: string
}

/** Bytes that are checked as they come; `received` is there once they ended well. */
export interface CheckedContent extends AsyncIterable<Uint8Array> {
  readonly received: Received | undefined
}

/** Reports hold personal data: for their owner alone. */
const fileMode = 0o600
const folderMode = 0o700
const largestManifest = 64 * 1024 * 1024

/** Bytes gathered for one write: most reports take one, which counts for more than any other step. */
const gathered = 512 * 1024

/** A manifest's text, as `readOwn`. */
export async function readText(path: string): Promise<string | undefined> {
  return readOwn(path, largestManifest)
}

export async function fileHash(path: string): Promise<Received> {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      hash.update(chunk as Buffer)
      bytes += (chunk as Buffer).byteLength
    }
  } catch (error) {
    throw diskFailure('read', path, error)
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Whether a file begins and ends as a PDF does. */
export async function isWholePdf(path: string): Promise<boolean> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      const { size } = await file.stat()
      const tail = Math.min(size, tailBytes)
      const head = await file.read(Buffer.alloc(headMark.length), 0, headMark.length, 0)
      const end = await file.read(Buffer.alloc(tail), 0, tail, size - tail)
      return head.buffer.toString('latin1') === headMark && end.buffer.includes(endMark)
    } finally {
      await file.close()
    }
  } catch (error) {
    throw diskFailure('read', path, error)
  }
}

/** What stands at a path, links not followed; undefined where nothing does. */
export function statusAt(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    const code = errorNumber(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw diskFailure('look at', path, error)
  }
}

/** Why no file can go to `file` below `root`: a link, or something that is no folder or file. */
export function obstacleAt(root: string, file: string): string | undefined {
  const parts = file.split('/')
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const shown = parts.slice(0, depth).join('/')
    const status = statusAt(join(root, shown))
    if (status === undefined) return undefined
    const isLast = depth === parts.length
    const what = isLast ? 'it' : `its folder "${shown}"`
    if (status.isSymbolicLink()) return `${what} is a symbolic link`
    if (!isLast && !status.isDirectory()) return `${what} is a file`
    if (isLast && status.isDirectory()) return 'it is a folder'
    if (isLast && !status.isFile()) return 'it is not a regular file'
  }
  return undefined
}

/** Makes the folders that `file` needs below `root`, one by one, so that none leads through a link. */
export async function makeFoldersBelow(root: string, file: string, flushes: FolderFlushes): Promise<void> {
  let folder = root
  for (const part of file.split('/').slice(0, -1)) {
    const parent = folder
    folder = join(folder, part)
    try {
      mkdirSync(folder, { mode: folderMode })
    } catch (error) {
      if (errorNumber(error) === 'EEXIST' && lstatSync(folder).isDirectory()) continue
      throw diskFailure('make the folder', folder, error)
    }
    await flushes.flush(parent)
  }
}

export interface ContentSource {
  open: () => Promise<CheckedContent>
  /** Called when the last byte came, before what is slow about a disk. */
  onReceived?: (() => void) | undefined
}

export interface Temporary {
  path: string
  received: Received
  /** Removes it, where it still is. */
  discard(): void
}

/**
 * Fills a new file and flushes it to the disk. It is gone where that fails; `target` is named in messages.
 * The file is made when there is something to write, which for most reports is when all of it came.
 */
export async function writeTemporary(
  path: string,
  target: string,
  { open: openContent, onReceived }: ContentSource,
): Promise<Temporary> {
  let file: number | undefined
  const close = (): void => {
    if (file !== undefined) closeSync(file)
    file = undefined
  }
  const discard = (): void => rmSync(path, { force: true })
  const chunks: Uint8Array[] = []
  let waiting = 0
  const write = async (): Promise<number> => {
    file ??= await openNew(path, target)
    waiting = 0
    await onDisk(writeAll(file, chunks), target)
    return file
  }
  try {
    const content = await openContent()
    for await (const chunk of content) {
      chunks.push(chunk)
      waiting += chunk.byteLength
      if (waiting >= gathered) await write()
    }
    onReceived?.()
    await onDisk(flushData(await write()), target)
    if (content.received === undefined) throw new InternalError('a report was not read completely')
    close()
    return { path, received: content.received, discard }
  } catch (error) {
    close()
    discard()
    throw error
  }
}

async function openNew(path: string, target: string): Promise<number> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  try {
    return await create(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, fileMode)
  } catch (error) {
    throw diskFailure('write', target, error)
  }
}

/** Only the disk's failures become IoErrors: a broken download is not one. */
async function onDisk(step: Promise<void>, target: string): Promise<void> {
  await step.catch((error: unknown) => {
    throw diskFailure('write', target, error)
  })
}

/** Takes what it writes out of `chunks`. A disk that is nearly full takes a part, and tells why at the next try. */
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

/** What link() fails with where the file system has no hard links (FAT, some network disks). */
const noHardLinks = new Set<string | undefined>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/**
 * Gives a flushed file its name. Without `replace` what stands there stays: `there` where it is the same
 * bytes, else `another`.
 */
export async function placeFile(
  temporary: string,
  path: string,
  replace: boolean,
  sha256: string,
): Promise<'stored' | 'there' | 'another'> {
  try {
    // rename() would replace whatever stands there; link() refuses to.
    if (replace) renameSync(temporary, path)
    else linkSync(temporary, path)
    return 'stored'
  } catch (error) {
    if (errorNumber(error) === 'EEXIST') return (await holds(path, sha256)) ? 'there' : 'another'
    if (replace || !noHardLinks.has(errorNumber(error))) throw diskFailure('write', path, error)
    return placeWithoutLinks(temporary, path, sha256)
  }
}

/** The name is taken by an empty file first. */
async function placeWithoutLinks(
  temporary: string,
  path: string,
  sha256: string,
): Promise<'stored' | 'there' | 'another'> {
  try {
    closeSync(openSync(path, 'wx', fileMode))
    try {
      renameSync(temporary, path)
    } catch (failure) {
      rmSync(path, { force: true })
      throw failure
    }
    return 'stored'
  } catch (error) {
    if (errorNumber(error) === 'EEXIST') return (await holds(path, sha256)) ? 'there' : 'another'
    throw diskFailure('write', path, error)
  }
}

async function holds(path: string, sha256: string): Promise<boolean> {
  const status = statusAt(path)
  return status?.isFile() === true && (await fileHash(path)).sha256 === sha256
}
