import {
  chmodSync,
  closeSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

import { IoError } from '../errors/kinds.ts'
import { ownUserId } from '../host/process.ts'
import { diskFailure, systemErrorCode, systemError } from './failure.ts'
import { makeFolders } from './folders.ts'
import {
  writableByAll,
  writableByOthers,
  findFolderWeakness,
  supportsModes,
  isSticky,
  formatMode,
  type OpenedFile,
  openNoFollow,
  type Weakness,
  findWeakness,
} from './ownership.ts'

/** Permission bits of other accounts; a private file or folder has none of them. */
const othersBits = 0o077
const readableByOthers = 0o044

const ownFoldersHint = 'a folder of your own: set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR.'

/**
 * Makes the program's folders and their missing parents, outer ones first, with mode 0700. An existing folder keeps
 * its mode. Throws an IoError as `requireOwnFolders` does, then before any folder is made.
 */
export function makeOwnFolders(...paths: readonly string[]): void {
  requireOwnFolders(...paths)
  for (const path of paths) makeFolder(path)
  // Another account may have made one of the folders meanwhile.
  requireOwnFolders(...paths)
}

/**
 * Throws an IoError if another account could replace files in one of the program's folders: it owns the folder, may
 * write to it, or can rename a folder above it. Folders that do not exist are accepted. The first folder may be a
 * symbolic link that the user made. The program makes the folders in it, so a link in it is refused.
 */
export function requireOwnFolders(...paths: readonly string[]): void {
  const [base = ''] = paths
  for (const path of paths) {
    const isInBase = path !== base && resolve(dirname(path)) === resolve(base)
    if (isInBase && isLink(path)) {
      throw new IoError(`cannot use the folder "${path}": it is a symbolic link`, {
        hint: 'Move it away, then run the same command again. To keep all data elsewhere, set REFCHECK_DATA_DIR.',
      })
    }
    const weakness = readFolderWeakness(path)
    if (weakness !== undefined) throw weakFolderError(path, weakness)
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  } catch (error) {
    throw diskFailure('read the folder', path, error)
  }
}

/**
 * As `findFolderWeakness`, but throws an IoError if the system refuses to read a folder. `withheldBits`: the permission
 * bits that the folders above may not grant.
 */
function readFolderWeakness(folder: string, withheldBits?: number): Weakness | undefined {
  try {
    return findFolderWeakness(folder, withheldBits)
  } catch (error) {
    throw diskFailure('read the folder', folder, error)
  }
}

/**
 * Makes a private folder (0700). Folders above are not checked, since others may write to them. Throws an IoError if
 * the folder exists and belongs to another account.
 */
export function makePrivateFolder(path: string): void {
  makeFolder(path)
  try {
    const status = statSync(path)
    for (const { uid } of [lstatSync(path), status]) refuseForeign('folder', path, uid)
    // This has no effect on a file system without modes (FAT).
    if (findWeakness(status) === 'writable') chmodSync(path, status.mode & 0o7700)
  } catch (error) {
    throw error instanceof IoError ? error : diskFailure('use the folder', path, error)
  }
}

function makeFolder(path: string): void {
  try {
    makeFolders(path, 0o700)
  } catch (error) {
    const isFile = systemErrorCode(error) === 'EEXIST'
    throw diskFailure('make the folder', path, isFile ? systemError('ENOTDIR') : error)
  }
}

interface PrivateText {
  text: string
  /** A sentence for the user if other users could read the file; it is private now. */
  warning: string | undefined
}

/**
 * Reads a private file as UTF-8 and removes other users' permission to read it. Undefined if the file does not exist.
 * Throws an IoError for a symbolic link, for anything but a regular file, for a file that another account owns or may
 * write to, for one larger than `maxBytes`, and if its mode cannot be changed. If `base` is given, the program's
 * folder that contains the file, folders are checked as in `requireOwnFolders`.
 */
export async function readPrivate(
  path: string,
  maxBytes: number,
  base?: string,
): Promise<PrivateText | undefined> {
  if (base !== undefined) requireOwnFolders(...new Set([base, dirname(path)]))
  let warning: string | undefined
  const text = readChecked(path, maxBytes, (file) => {
    warning = makeFilePrivate(path, file)
  })
  return text === undefined ? undefined : { text, warning }
}

/** As `readPrivate`, but for a file in any folder, such as one of reports; its mode does not change. */
export function readOwn(path: string, maxBytes: number): string | undefined {
  return readChecked(path, maxBytes, () => undefined)
}

/** Reads a file that `openPrivate` accepts; `prepare` is called with the open file before it is read. */
function readChecked(
  path: string,
  maxBytes: number,
  prepare: (file: OpenedFile) => void,
): string | undefined {
  try {
    const file = openPrivate(path)
    try {
      if (file.status.size > maxBytes) throw suspectFileError(path, `it is larger than ${maxBytes} bytes`)
      prepare(file)
      return readFileSync(file.descriptor, 'utf8')
    } finally {
      closeSync(file.descriptor)
    }
  } catch (error) {
    if (error instanceof IoError) throw error
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw diskFailure('read', path, error)
  }
}

/**
 * Opens one of the program's files, for reading unless `flags` are given; a new file gets `mode`. The caller closes
 * it. Throws an IoError for files that `readPrivate` refuses, and the system's own errors.
 */
export function openPrivate(path: string, flags?: number, mode?: number): OpenedFile {
  const file = openNoFollow(path, flags, mode)
  try {
    if (!file.status.isFile()) throw suspectFileError(path, 'it is not a regular file')
    const weakness = findWeakness(file.status)
    if (weakness === 'foreign') throw foreignOwnerError('file', path)
    if (weakness === 'writable' && supportsModes(file)) {
      throw new IoError(
        `cannot use the file "${path}": other users of this machine may write to it (${formatMode(file.status)})`,
        { hint: `Check what is in it, then make it private with: chmod go= "${path}"` },
      )
    }
    return file
  } catch (error) {
    closeSync(file.descriptor)
    throw error
  }
}

/**
 * Removes other users' permissions on a file, if it exists, without opening it: closing it would release a lock on it.
 * Returns a sentence for the user if it had any; `subject` begins it. Throws the system's error.
 */
export function makePrivate(path: string, subject = 'The file'): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined || (status.mode & othersBits) === 0) return undefined
  chmodSync(path, status.mode & 0o700)
  return nowPrivateText(path, status, statSync(path, { throwIfNoEntry: false }) ?? status, subject)
}

function makeFilePrivate(path: string, { descriptor, status }: OpenedFile): string | undefined {
  if ((status.mode & othersBits) === 0) return undefined
  try {
    fchmodSync(descriptor, status.mode & 0o700)
  } catch (cause) {
    throw new IoError(`other users can read "${path}", and its permissions cannot be changed`, {
      hint: `Use another folder, or make it private with: chmod go= "${path}"`,
      cause,
    })
  }
  return nowPrivateText(path, status, fstatSync(descriptor))
}

function nowPrivateText(path: string, before: Stats, after: Stats, subject = 'The file'): string | undefined {
  // There is no warning if the file system has no modes, so that the change had no effect (FAT).
  if ((after.mode & othersBits) !== 0) return undefined
  return `${subject} "${path}" was readable by other users (${permissions(before)}); it is now private (${permissions(after)}).`
}

export interface Exposure {
  /** Files and folders that belong to other accounts. */
  foreign: string[]
  /** Files that other accounts may read or write, each with its mode. */
  accessible: string[]
  /** Folders in which other accounts may replace files of the user, each with its mode. */
  replaceable: string[]
  /** The user's folders whose file names other accounts may list, each with its mode. */
  listable: string[]
}

/**
 * Returns what other accounts could do with files and folders of the user that exist, beyond what `requireOwnFolders`
 * refuses. Opens no file, because closing it would release a lock on it.
 */
export function findExposure(files: readonly string[], folders: readonly string[]): Exposure {
  const result: Exposure = { foreign: [], accessible: [], replaceable: [], listable: [] }
  if (ownUserId() === undefined) return result
  const withMode = (path: string, status: Pick<Stats, 'mode'>): string => `"${path}" (${formatMode(status)})`
  for (const path of new Set(files)) {
    const status = readStatus(path)
    if (status === undefined) continue
    if (findWeakness(status) === 'foreign') result.foreign.push(`"${path}"`)
    else if ((status.mode & othersBits) !== 0) result.accessible.push(withMode(path, status))
  }
  for (const folder of new Set(folders)) {
    const weakness = orUndefined(() => findFolderWeakness(folder, writableByOthers))
    if (weakness?.problem === 'foreign') result.foreign.push(`"${weakness.path}"`)
    if (weakness?.problem === 'writable') result.replaceable.push(withMode(weakness.path, weakness.status))
    const status = readStatus(folder)
    if (status !== undefined && (status.mode & readableByOthers) !== 0)
      result.listable.push(withMode(folder, status))
  }
  return result
}

/**
 * Returns why other accounts could replace or change a store. Its folder may be shared with a group. Undefined if
 * they cannot, or if the store does not exist.
 */
export function findStoreWeakness(file: string): { path: string; why: string } | undefined {
  const ownId = ownUserId()
  const folder = dirname(file)
  for (const path of ownId === undefined ? [] : [folder, file]) {
    const status = readStatus(path)
    if (status === undefined) continue
    if (status.uid !== ownId && status.uid !== 0)
      return { path, why: 'it belongs to another user of this machine' }
    if (path === folder && (status.mode & writableByAll) !== 0)
      return { path, why: `all users of this machine may write to it (${formatMode(status)})` }
  }
  return undefined
}

/**
 * Throws an IoError if an account other than root or the user owns a store's file: that account could remove orders
 * from it, and their people would be ordered again.
 */
export function requireOwnStore(file: string): void {
  const ownId = ownUserId()
  const ownerId = readStatus(file)?.uid ?? ownId
  if (ownId === undefined || ownerId === ownId || ownerId === 0) return
  throw new IoError(`cannot order with the store "${file}": it belongs to another user of this machine`, {
    hint: 'Nothing was sent. Run refcheck as that user, or check what is in the store and make it yours with chown.',
  })
}

/**
 * Throws an IoError if an account other than root or the user owns a folder above that of a store: it can replace the
 * store by another, and all people would be ordered again. The store's own folder may belong to another account.
 */
export function requireStoreBelowOwnFolder(file: string): void {
  const weakness = readFolderWeakness(dirname(file), 0)
  if (weakness?.isAbove !== true) return
  throw new IoError(
    `cannot use the store "${file}": "${weakness.path}", which contains it, belongs to another user of this machine`,
    { hint: 'Keep it below a folder of your own or of root: set REFCHECK_STORE.' },
  )
}

/** Undefined if there is no such file or its status cannot be read. */
const readStatus = (path: string): Stats | undefined =>
  orUndefined(() => statSync(path, { throwIfNoEntry: false }))

function orUndefined<T>(readValue: () => T): T | undefined {
  try {
    return readValue()
  } catch {
    return undefined
  }
}

/**
 * Throws an IoError for a file or folder of another account: that account decides its content, whatever its mode is.
 */
function refuseForeign(kind: 'file' | 'folder', path: string, uid: number): void {
  const userId = ownUserId()
  if (userId !== undefined && uid !== userId) throw foreignOwnerError(kind, path)
}

function foreignOwnerError(kind: 'file' | 'folder', path: string): IoError {
  return new IoError(`cannot use the ${kind} "${path}": it belongs to another user of this machine`, {
    hint: `Run refcheck as that user, or ${kind === 'file' ? 'move the file away.' : `use ${ownFoldersHint}`}`,
  })
}

function weakFolderError(folder: string, { path, isAbove, problem, status }: Weakness): IoError {
  if (problem === 'foreign') {
    if (!isAbove) return foreignOwnerError('folder', folder)
    return new IoError(
      `cannot use the folder "${folder}": "${path}", which contains it, belongs to another user of this machine`,
      { hint: `Use ${ownFoldersHint}` },
    )
  }
  const what = isAbove ? `"${path}" (${formatMode(status)}), which contains it` : `it (${formatMode(status)})`
  return new IoError(`cannot use the folder "${folder}": other users of this machine may write to ${what}`, {
    hint: isSticky(status)
      ? `Use ${ownFoldersHint}`
      : `Use another folder, or take that permission away with: chmod go-w "${path}"`,
  })
}

function suspectFileError(path: string, why: string): IoError {
  return new IoError(`cannot read "${path}": ${why}`, {
    hint: 'Something replaced it. Move it away, then run the same command again.',
  })
}

const permissions = ({ mode }: { mode: number }): string => formatMode({ mode: mode & 0o777 })

/**
 * Writes a file in a folder and removes it, because modes do not show what a container allows. If the folder does not
 * exist, the nearest existing folder above it is used instead. Throws an IoError if no file can be written.
 */
export async function tryWrite(folder: string): Promise<void> {
  const existingFolder = nearestExisting(folder)
  try {
    if (existingFolder === folder) refuseForeign('folder', folder, (await stat(folder)).uid)
    const temporaryFolder = await mkdtemp(join(existingFolder, '.refcheck-try-'))
    try {
      const file = await open(join(temporaryFolder, 'file'), 'wx', 0o600)
      try {
        await file.writeFile(Buffer.alloc(4096))
      } finally {
        await file.close()
      }
    } finally {
      await rm(temporaryFolder, { recursive: true, force: true })
    }
  } catch (error) {
    throw error instanceof Error && 'code' in error && 'syscall' in error
      ? diskFailure(existingFolder === folder ? 'write in the folder' : 'make the folder', folder, error)
      : error
  }
}

function nearestExisting(folder: string): string {
  const parent = dirname(folder)
  return parent === folder || lstatSync(folder, { throwIfNoEntry: false }) !== undefined
    ? folder
    : nearestExisting(parent)
}
