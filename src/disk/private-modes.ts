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
import { diskFailure, errorNumber, systemError } from './failure.ts'
import { makeFolders } from './folders.ts'
import {
  byAll,
  byOthers,
  folderWeakness,
  hasModes,
  isSticky,
  modeText,
  type OpenedFile,
  openOwn,
  type Weakness,
  weaknessOf,
} from './ownership.ts'

/** What others of this machine may do with a file or folder; a private one grants none of it. */
const others = 0o077
const readableByOthers = 0o044

const ownFolders = 'a folder of your own: set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR.'

/**
 * Makes our folders and their missing parents, outer ones first, 0700 from the start. One that exists keeps its mode.
 * Throws an IoError as `requireOwnFolders` does, then before anything is made.
 */
export function makeOwnFolders(...paths: readonly string[]): void {
  requireOwnFolders(...paths)
  for (const path of paths) makeFolder(path)
  // Another account may have made one of them meanwhile.
  requireOwnFolders(...paths)
}

/**
 * Throws an IoError where another account could replace what is in one of our folders: it owns the folder, may write
 * to it, or can rename a folder above it. Folders that are not there are no failure. The first one may be a link that its
 * owner made; those in it are made by us, so a link in the place of one is refused.
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
    const weakness = requireReadable(path)
    if (weakness !== undefined) throw weakFolder(path, weakness)
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  } catch (error) {
    throw diskFailure('read the folder', path, error)
  }
}

/** As `folderWeakness`; an IoError where the system refuses to read it. */
function requireReadable(folder: string, withheld?: number): Weakness | undefined {
  try {
    return folderWeakness(folder, withheld)
  } catch (error) {
    throw diskFailure('read the folder', folder, error)
  }
}

/**
 * Makes a folder of ours, 0700. It may be in a folder that others may write to, so nothing is asked of those above it.
 * Another account's is an IoError.
 */
export function makePrivateFolder(path: string): void {
  makeFolder(path)
  try {
    const status = statSync(path)
    for (const { uid } of [lstatSync(path), status]) refuseForeign('folder', path, uid)
    // It changes nothing where modes mean nothing (FAT).
    if (weaknessOf(status) === 'writable') chmodSync(path, status.mode & 0o7700)
  } catch (error) {
    throw error instanceof IoError ? error : diskFailure('use the folder', path, error)
  }
}

function makeFolder(path: string): void {
  try {
    makeFolders(path, 0o700)
  } catch (error) {
    const isFile = errorNumber(error) === 'EEXIST'
    throw diskFailure('make the folder', path, isFile ? systemError('ENOTDIR') : error)
  }
}

interface PrivateText {
  text: string
  /** A sentence to show the person: the file was open to others and no longer is. */
  warning: string | undefined
}

/**
 * Reads a private file as UTF-8, and takes away the permission of others to read it; undefined where there is none.
 * A symbolic link, anything but a regular file, one that another account owns or may write to, more than `maxBytes`,
 * or a mode that cannot be fixed is an IoError. With `base`, our folder that the file is in or below, so are folders
 * as in `requireOwnFolders`.
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

/** The same for a file in a folder that is not ours, such as one of reports; its mode stays. */
export function readOwn(path: string, maxBytes: number): string | undefined {
  return readChecked(path, maxBytes, () => undefined)
}

function readChecked(
  path: string,
  maxBytes: number,
  prepare: (file: OpenedFile) => void,
): string | undefined {
  try {
    const file = openPrivate(path)
    try {
      if (file.status.size > maxBytes) throw suspectFile(path, `it is larger than ${maxBytes} bytes`)
      prepare(file)
      return readFileSync(file.descriptor, 'utf8')
    } finally {
      closeSync(file.descriptor)
    }
  } catch (error) {
    if (error instanceof IoError) throw error
    if (errorNumber(error) === 'ENOENT') return undefined
    throw diskFailure('read', path, error)
  }
}

/**
 * Opens a file of ours, to read unless `flags` say otherwise; `mode` is of one that is made. The caller closes it. What `readPrivate` refuses is an
 * IoError; failures of the system are thrown as they are.
 */
export function openPrivate(path: string, flags?: number, mode?: number): OpenedFile {
  const file = openOwn(path, flags, mode)
  try {
    if (!file.status.isFile()) throw suspectFile(path, 'it is not a regular file')
    const weakness = weaknessOf(file.status)
    if (weakness === 'foreign') throw foreign('file', path)
    if (weakness === 'writable' && hasModes(file)) {
      throw new IoError(
        `cannot use the file "${path}": other users of this machine may write to it (${modeText(file.status)})`,
        { hint: `Check what is in it, then make it private with: chmod go= "${path}"` },
      )
    }
    return file
  } catch (error) {
    closeSync(file.descriptor)
    throw error
  }
}

function makeFilePrivate(path: string, { descriptor, status }: OpenedFile): string | undefined {
  if ((status.mode & others) === 0) return undefined
  try {
    fchmodSync(descriptor, status.mode & 0o700)
  } catch (cause) {
    throw new IoError(`other users can read "${path}", and its permissions cannot be changed`, {
      hint: `Use another folder, or make it private with: chmod go= "${path}"`,
      cause,
    })
  }
  const after = fstatSync(descriptor)
  // No word where modes mean nothing and the change had no effect (FAT).
  if ((after.mode & others) !== 0) return undefined
  return `The file "${path}" was readable by other users (${permissions(status)}); it is now private (${permissions(after)}).`
}

export interface Exposure {
  /** Files and folders of other accounts. */
  foreign: string[]
  /** Files that others may read or write, and folders through which they could replace ours, each with its mode. */
  loose: string[]
  writable: string[]
  /** Our own folders whose names of files others may see. */
  listable: string[]
}

/**
 * What other accounts could do with files of ours and in folders, as far as they are there, beyond what
 * `requireOwnFolders` refuses. Nothing is opened, which would release a lock on it.
 */
export function exposure(files: readonly string[], folders: readonly string[]): Exposure {
  const found: Exposure = { foreign: [], loose: [], writable: [], listable: [] }
  if (ownUserId() === undefined) return found
  const named = (path: string, status: Pick<Stats, 'mode'>): string => `"${path}" (${modeText(status)})`
  for (const path of new Set(files)) {
    const status = statusOf(path)
    if (status === undefined) continue
    if (weaknessOf(status) === 'foreign') found.foreign.push(`"${path}"`)
    else if ((status.mode & others) !== 0) found.loose.push(named(path, status))
  }
  for (const folder of new Set(folders)) {
    const weakness = ifKnown(() => folderWeakness(folder, byOthers))
    if (weakness?.problem === 'foreign') found.foreign.push(`"${weakness.path}"`)
    if (weakness?.problem === 'writable') found.writable.push(named(weakness.path, weakness.status))
    const status = statusOf(folder)
    if (status !== undefined && (status.mode & readableByOthers) !== 0)
      found.listable.push(named(folder, status))
  }
  return found
}

/**
 * Why other accounts could replace or change a store, whose folder need not be ours alone; undefined where they cannot,
 * or it is not there.
 */
export function storeWeakness(file: string): { path: string; why: string } | undefined {
  const own = ownUserId()
  const folder = dirname(file)
  for (const path of own === undefined ? [] : [folder, file]) {
    const status = statusOf(path)
    if (status === undefined) continue
    if (status.uid !== own && status.uid !== 0)
      return { path, why: 'it belongs to another user of this machine' }
    if (path === folder && (status.mode & byAll) !== 0)
      return { path, why: `all users of this machine may write to it (${modeText(status)})` }
  }
  return undefined
}

/**
 * Throws an IoError where another account than root owns the file of a store: it may take orders out of it, and their
 * people would be ordered again.
 */
export function requireOwnStore(file: string): void {
  const own = ownUserId()
  const owner = statusOf(file)?.uid ?? own
  if (own === undefined || owner === own || owner === 0) return
  throw new IoError(`cannot order with the store "${file}": it belongs to another user of this machine`, {
    hint: 'Nothing was sent. Run refcheck as that user, or check what is in the store and make it yours with chown.',
  })
}

/**
 * Throws an IoError where another account than root owns a folder above the one of a store: it can replace
 * this store by another one, and every person would be ordered again. A folder that is shared with others need not be ours.
 */
export function requireStoreBelowOwn(file: string): void {
  const weakness = requireReadable(dirname(file), 0)
  if (weakness?.isAbove !== true) return
  throw new IoError(
    `cannot use the store "${file}": "${weakness.path}", which contains it, belongs to another user of this machine`,
    { hint: 'Keep it below a folder of your own or of root: set REFCHECK_STORE.' },
  )
}

/** Undefined where nothing is there, or nothing can be known of it. */
const statusOf = (path: string): Stats | undefined => ifKnown(() => statSync(path, { throwIfNoEntry: false }))

function ifKnown<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}

/** Who may write a file decides what is in it: another account's is not trusted, whatever its mode. */
function refuseForeign(kind: 'file' | 'folder', path: string, uid: number): void {
  const own = ownUserId()
  if (own !== undefined && uid !== own) throw foreign(kind, path)
}

function foreign(kind: 'file' | 'folder', path: string): IoError {
  return new IoError(`cannot use the ${kind} "${path}": it belongs to another user of this machine`, {
    hint: `Run refcheck as that user, or ${kind === 'file' ? 'move the file away.' : `use ${ownFolders}`}`,
  })
}

function weakFolder(folder: string, { path, isAbove, problem, status }: Weakness): IoError {
  if (problem === 'foreign') {
    if (!isAbove) return foreign('folder', folder)
    return new IoError(
      `cannot use the folder "${folder}": "${path}", which contains it, belongs to another user of this machine`,
      { hint: `Use ${ownFolders}` },
    )
  }
  const what = isAbove ? `"${path}" (${modeText(status)}), which contains it` : `it (${modeText(status)})`
  return new IoError(`cannot use the folder "${folder}": other users of this machine may write to ${what}`, {
    hint: isSticky(status)
      ? `Use ${ownFolders}`
      : `Use another folder, or take that permission away with: chmod go-w "${path}"`,
  })
}

function suspectFile(path: string, why: string): IoError {
  return new IoError(`cannot read "${path}": ${why}`, {
    hint: 'Something replaced it. Move it away, then run the same command again.',
  })
}

const permissions = ({ mode }: { mode: number }): string => modeText({ mode: mode & 0o777 })

/**
 * Writes a file in a folder and removes it, because modes do not show what a container allows. A folder that is not
 * there is not made: the nearest existing one is used instead. Throws an IoError that says why a file cannot be written.
 */
export async function tryWrite(folder: string): Promise<void> {
  const there = nearest(folder)
  try {
    if (there === folder) refuseForeign('folder', folder, (await stat(folder)).uid)
    const own = await mkdtemp(join(there, '.refcheck-try-'))
    try {
      const file = await open(join(own, 'file'), 'wx', 0o600)
      try {
        await file.writeFile(Buffer.alloc(4096))
      } finally {
        await file.close()
      }
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  } catch (error) {
    throw error instanceof Error && 'code' in error && 'syscall' in error
      ? diskFailure(there === folder ? 'write in the folder' : 'make the folder', folder, error)
      : error
  }
}

function nearest(folder: string): string {
  const parent = dirname(folder)
  return parent === folder || lstatSync(folder, { throwIfNoEntry: false }) !== undefined
    ? folder
    : nearest(parent)
}
