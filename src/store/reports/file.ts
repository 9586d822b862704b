import { createHash } from 'node:crypto'
import { constants, createReadStream, lstatSync, mkdirSync, renameSync, type Stats } from 'node:fs'
import { lstat, open, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { diskFailure, systemErrorCode } from '../../disk/failure.ts'
import { flushFolder } from '../../disk/folders.ts'
import type { HeldFolder } from '../../disk/held-folder.ts'
import { readOwn } from '../../disk/private-modes.ts'
import { linkAsNew } from '../../disk/whole-file.ts'
import { IoError } from '../../errors/kinds.ts'
import { pdfEnd, pdfStart, pdfTailBytes } from '../../domain/report/source.ts'

export interface Received {
  bytes: number
  sha256: string
}

/** Bytes that are checked as they come; `received` is there once they ended well. */
export interface CheckedContent extends AsyncIterable<Uint8Array> {
  readonly received: Received | undefined
}

/** Reports hold personal data: for their owner alone. */
const folderMode = 0o700
const largestManifest = 64 * 1024 * 1024

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
      const tail = Math.min(size, pdfTailBytes)
      const head = await file.read(Buffer.alloc(pdfStart.length), 0, pdfStart.length, 0)
      const end = await file.read(Buffer.alloc(tail), 0, tail, size - tail)
      return head.buffer.toString('latin1') === pdfStart && end.buffer.includes(pdfEnd)
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
    const code = systemErrorCode(error)
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

/** Makes the folders that `file` needs below `root`, one in the other, so that none leads through a link; answers the last one. */
export async function makeFoldersBelow(
  root: HeldFolder,
  file: string,
  flushes: FolderFlushes,
): Promise<HeldFolder> {
  const isNew = new Set<string>()
  const folder = descend(root, file, 'make the folder', (path) => {
    if (madeFolder(path.at)) isNew.add(path.parent)
  })
  try {
    // By their names below the root: another descriptor's number may be another folder's by the time of a shared flush.
    for (const parent of isNew) await flushes.flush(parent)
    return folder
  } catch (error) {
    closeBelow(root, folder)
    throw error
  }
}

/** The folder of `file` below `root`, reached through no link; undefined where it is not there. */
export function folderBelow(root: HeldFolder, file: string): HeldFolder | undefined {
  try {
    return descend(root, file, 'use the folder', () => undefined)
  } catch (error) {
    if (error instanceof IoError && systemErrorCode(error.cause) === 'ENOENT') return undefined
    throw error
  }
}

export function closeBelow(root: HeldFolder, folder: HeldFolder): void {
  if (folder !== root) folder.close()
}

function descend(
  root: HeldFolder,
  file: string,
  action: string,
  prepare: (folder: { at: string; parent: string }) => void,
): HeldFolder {
  let folder = root
  const parts = file.split('/').slice(0, -1)
  for (const [depth, part] of parts.entries()) {
    const parent = folder
    try {
      prepare({ at: join(parent.at, part), parent: join(root.at, ...parts.slice(0, depth)) })
      folder = parent.openBelow(part)
    } catch (error) {
      throw diskFailure(action, join(parent.path, part), error)
    } finally {
      closeBelow(root, parent)
    }
  }
  return folder
}

/** Whether there was none. */
function madeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: folderMode })
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST' && lstatSync(path).isDirectory()) return false
    throw error
  }
}

/**
 * Gives a flushed file its name. Without `replace` what stands there stays: `there` where it is the same
 * bytes, else `another`.
 */
export async function moveIntoFolder(
  temporary: string,
  path: string,
  replace: boolean,
  sha256: string,
): Promise<'stored' | 'there' | 'another'> {
  try {
    if (replace) renameSync(temporary, path)
    else linkAsNew(temporary, path)
    return 'stored'
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST' || replace) throw diskFailure('write', path, error)
    const isSame = statusAt(path)?.isFile() === true && (await fileHash(path)).sha256 === sha256
    return isSame ? 'there' : 'another'
  }
}

/** What stands at a path. A link to a folder is one, since a person named it; any other link counts as a file. */
export async function existingAt(path: string): Promise<'nothing' | 'folder' | 'file'> {
  try {
    const status = await lstat(path)
    const target = status.isSymbolicLink() ? await stat(path).catch(() => status) : status
    return target.isDirectory() ? 'folder' : 'file'
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return 'nothing'
    throw diskFailure('look at', path, error)
  }
}

/** Whether a PDF stands there, whole and no link: it may be the very report that is asked for. */
export async function isPdf(path: string): Promise<boolean> {
  return statusAt(path)?.isFile() === true && isWholePdf(path)
}

/** Flushes folders to the disk; those who ask while one flush runs share the next. */
export class FolderFlushes {
  /** The last flush of each folder, over or not, and the one that comes after it. */
  readonly #running = new Map<string, { now: Promise<void>; next: Promise<void> | undefined }>()

  /** Resolves once every name put into the folder before the call is on the disk. */
  flush(folder: string): Promise<void> {
    const running = this.#running.get(folder)
    if (running === undefined) return this.#start(folder)
    running.next ??= running.now.catch(() => undefined).then(() => this.#start(folder))
    return running.next
  }

  #start(folder: string): Promise<void> {
    const now = flushFolder(folder)
    this.#running.set(folder, { now, next: undefined })
    return now
  }
}
