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

/** The size and the hash of a report's content. */
export interface ContentDigest {
  bytes: number
  sha256: string
}

/**
 * The bytes of a report, which are checked while they are read; `received` is set once they are complete and valid.
 */
export interface CheckedContent extends AsyncIterable<Uint8Array> {
  readonly received: ContentDigest | undefined
}

/** Reports contain personal data, so only their owner may read them. */
const folderMode = 0o700
const maxManifestBytes = 64 * 1024 * 1024

/** Returns the text of a manifest; undefined if it is missing. Throws IoError as `readOwn` does. */
export async function readText(path: string): Promise<string | undefined> {
  return readOwn(path, maxManifestBytes)
}

export async function hashFile(path: string): Promise<ContentDigest> {
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

/** Returns whether a file begins and ends as a PDF does. */
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

/** Returns the status of a path without following links; undefined if there is nothing. */
export function lstatOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw diskFailure('look at', path, error)
  }
}

/**
 * Returns why `file` cannot be written below `root`: a link, or something that is no folder or regular file, is in
 * its path. Undefined if it can be written.
 */
export function findObstacle(root: string, file: string): string | undefined {
  const parts = file.split('/')
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const partPath = parts.slice(0, depth).join('/')
    const status = lstatOrUndefined(join(root, partPath))
    if (status === undefined) return undefined
    const isLast = depth === parts.length
    const subject = isLast ? 'it' : `its folder "${partPath}"`
    if (status.isSymbolicLink()) return `${subject} is a symbolic link`
    if (!isLast && !status.isDirectory()) return `${subject} is a file`
    if (isLast && status.isDirectory()) return 'it is a folder'
    if (isLast && !status.isFile()) return 'it is not a regular file'
  }
  return undefined
}

/**
 * Makes the folders of `file` below `root`, each inside the one before, so that none is reached through a link.
 * Returns the innermost folder.
 */
export async function makeFoldersBelow(
  root: HeldFolder,
  file: string,
  flushes: FolderFlushes,
): Promise<HeldFolder> {
  const parentsOfNew = new Set<string>()
  const folder = openFolders(root, file, 'make the folder', (path) => {
    if (makeFolder(path.folderPath)) parentsOfNew.add(path.parent)
  })
  try {
    // Folders are named by their paths below the root: the descriptor's number may belong to another folder by the
    // time of a shared flush.
    for (const parent of parentsOfNew) await flushes.flush(parent)
    return folder
  } catch (error) {
    closeBelow(root, folder)
    throw error
  }
}

/** Returns the folder of `file` below `root`, reached through no link; undefined if it does not exist. */
export function openFolderBelow(root: HeldFolder, file: string): HeldFolder | undefined {
  try {
    return openFolders(root, file, 'use the folder', () => undefined)
  } catch (error) {
    if (error instanceof IoError && systemErrorCode(error.cause) === 'ENOENT') return undefined
    throw error
  }
}

export function closeBelow(root: HeldFolder, folder: HeldFolder): void {
  if (folder !== root) folder.close()
}

function openFolders(
  root: HeldFolder,
  file: string,
  action: string,
  prepare: (folder: { folderPath: string; parent: string }) => void,
): HeldFolder {
  let folder = root
  const parts = file.split('/').slice(0, -1)
  for (const [depth, part] of parts.entries()) {
    const parent = folder
    try {
      prepare({
        folderPath: join(parent.systemPath, part),
        parent: join(root.systemPath, ...parts.slice(0, depth)),
      })
      folder = parent.openBelow(part)
    } catch (error) {
      throw diskFailure(action, join(parent.path, part), error)
    } finally {
      closeBelow(root, parent)
    }
  }
  return folder
}

/** Makes a folder. Returns false if it exists already. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: folderMode })
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST' && lstatSync(path).isDirectory()) return false
    throw error
  }
}

/**
 * Gives a flushed file its final name. Without `replace`, an existing file is not changed: the result is `identical` if
 * it has the same bytes, else `another`.
 */
export async function moveIntoFolder(
  temporary: string,
  path: string,
  replace: boolean,
  sha256: string,
): Promise<'stored' | 'identical' | 'another'> {
  try {
    if (replace) renameSync(temporary, path)
    else linkAsNew(temporary, path)
    return 'stored'
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST' || replace) throw diskFailure('write', path, error)
    const isSame = lstatOrUndefined(path)?.isFile() === true && (await hashFile(path)).sha256 === sha256
    return isSame ? 'identical' : 'another'
  }
}

/**
 * Returns what exists at a path that the user named. A link to a folder counts as a folder; any other link counts as
 * a file.
 */
export async function findExisting(path: string): Promise<'nothing' | 'folder' | 'file'> {
  try {
    const status = await lstat(path)
    const target = status.isSymbolicLink() ? await stat(path).catch(() => status) : status
    return target.isDirectory() ? 'folder' : 'file'
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return 'nothing'
    throw diskFailure('look at', path, error)
  }
}

/** Returns whether a complete PDF exists at a path and is no link: it may be the report that is to be downloaded. */
export async function isPdfFile(path: string): Promise<boolean> {
  return lstatOrUndefined(path)?.isFile() === true && isWholePdf(path)
}

/** Flushes folders to the disk. Calls during a flush of a folder share the next flush. */
export class FolderFlushes {
  /** The latest flush of each folder, which may have ended, and the one that follows it. */
  readonly #flushes = new Map<string, { now: Promise<void>; next: Promise<void> | undefined }>()

  /** Resolves once all names that were added to the folder before the call are on the disk. */
  flush(folder: string): Promise<void> {
    const pending = this.#flushes.get(folder)
    if (pending === undefined) return this.#startFlush(folder)
    pending.next ??= pending.now.catch(() => undefined).then(() => this.#startFlush(folder))
    return pending.next
  }

  #startFlush(folder: string): Promise<void> {
    const current = flushFolder(folder)
    this.#flushes.set(folder, { now: current, next: undefined })
    return current
  }
}
