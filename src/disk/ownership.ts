import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
} from 'node:fs'
import { dirname, resolve, sep } from 'node:path'

import { ownUserId } from '../host/process.ts'

/*
 * Finds whether other accounts can change the user's files. This module is loaded before the compiled code of the
 * program, so of the program it imports only the account's id.
 */

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

const stickyBit = 0o1000
/** Write permission of all accounts, and of the group and all accounts. */
export const writableByAll = 0o002
export const writableByOthers = 0o022
/** Limit of symbolic links in one path: the system follows at most 40 too. */
const maxLinks = 40

/** An existing part of a path. */
interface PathPart {
  path: string
  status: Stats
  /** Whether an account other than the user's and root owns it. */
  isForeign: boolean
  /** Whether it is the end of the path. */
  isLast: boolean
  /** The whole path, without the symbolic links before this part. */
  wholePath: string
}

/** Yields the existing parts of a path from the root on. After a symbolic link, it yields the parts of its target. */
export function* partsOfPath(path: string): Generator<PathPart> {
  let wholePath = resolve(path)
  let names = wholePath.split(sep)
  let linkCount = 0
  let rootId = 0
  for (let depth = 1; depth <= names.length; depth += 1) {
    const partPath = names.slice(0, depth).join(sep) || sep
    const status = lstatSync(partPath, { throwIfNoEntry: false })
    if (status === undefined) return
    // In a user namespace, root may have a user id other than 0.
    if (depth === 1) rootId = status.uid
    const isForeign = ![ownUserId(), 0, rootId].includes(status.uid)
    yield { path: partPath, status, isForeign, isLast: depth === names.length, wholePath }
    if (status.isSymbolicLink()) {
      // The system cannot open a path with more links.
      if (linkCount === maxLinks) return
      linkCount += 1
      wholePath = resolve(dirname(partPath), readlinkSync(partPath), ...names.slice(depth))
      names = wholePath.split(sep)
      depth = 0
    } else if (!status.isDirectory()) return
  }
}

/** A folder or file that another account owns or may write to. */
export interface Weakness {
  path: string
  /** Whether the path is a folder above the folder that was checked. */
  isAbove: boolean
  problem: 'foreign' | 'writable'
  status: Pick<Stats, 'mode'>
}

/**
 * Returns what lets another account replace files in `folder`. The folder must belong to the user and be writable by
 * the user alone. Each folder above it, also on the path through links, must belong to the user or root and must not
 * grant the permission bits `withheldBits`. The sticky bit counts as not granting them, because only owners rename
 * entries of such a folder. Undefined if there is no weakness; parts of the path that do not exist are not checked.
 */
export function findFolderWeakness(folder: string, withheldBits = writableByAll): Weakness | undefined {
  const ownId = ownUserId()
  if (ownId === undefined) return undefined
  for (const { path, status, isForeign, isLast } of partsOfPath(folder)) {
    if (isForeign || (isLast && status.uid !== ownId))
      return { path, isAbove: !isLast, problem: 'foreign', status }
    if (!status.isDirectory()) continue
    const isWritable = isLast
      ? (status.mode & writableByOthers) !== 0
      : (status.mode & withheldBits) !== 0 && (status.mode & stickyBit) === 0
    if (isWritable) return { path, isAbove: !isLast, problem: 'writable', status }
  }
  return undefined
}

/** Returns `foreign` if another account owns the file or folder, and `writable` if another may write to it. */
export function findWeakness(status: Pick<Stats, 'uid' | 'mode'>): Weakness['problem'] | undefined {
  const ownId = ownUserId()
  if (ownId === undefined) return undefined
  if (status.uid !== ownId) return 'foreign'
  return (status.mode & writableByOthers) === 0 ? undefined : 'writable'
}

export interface OpenedFile {
  descriptor: number
  /** Status of the opened file, even if another file has its name by now. */
  status: Stats
}

/**
 * Opens a file, but not through a symbolic link, and without waiting for the other end of a pipe. Throws the system's
 * error.
 */
export function openNoFollow(path: string, flags = O_RDONLY, mode?: number): OpenedFile {
  const descriptor = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, mode)
  try {
    return { descriptor, status: fstatSync(descriptor) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/**
 * Whether the file system supports modes: on FAT and some network disks all files have the same mode. Tries it on an
 * open file of the user.
 */
export function supportsModes({ descriptor, status }: OpenedFile): boolean {
  try {
    fchmodSync(descriptor, status.mode & 0o700)
    const isPrivate = (fstatSync(descriptor).mode & writableByOthers) === 0
    fchmodSync(descriptor, status.mode & 0o7777)
    return isPrivate
  } catch {
    return true
  }
}

export const isSticky = ({ mode }: Pick<Stats, 'mode'>): boolean => (mode & stickyBit) !== 0

/** Formats a mode such as "0755" or "1777". */
export const formatMode = ({ mode }: Pick<Stats, 'mode'>): string =>
  (mode & 0o7777).toString(8).padStart(4, '0')
