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
 * Who else could change what is in our files. It is loaded before the compiled code of the program is, so it imports
 * nothing of the program but the account's id.
 */

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

const stickyBit = 0o1000
/** Write permission of all accounts, and of all but the owner. */
export const byAll = 0o002
export const byOthers = 0o022
/** More than the system follows in one path. */
const maxLinks = 40

/** A folder or file that another account owns, or may write to. */
export interface Weakness {
  path: string
  /** Whether it is a folder above the one that was asked about. */
  isAbove: boolean
  problem: 'foreign' | 'writable'
  status: Pick<Stats, 'mode'>
}

/**
 * What lets another account replace files in `folder`: it must be ours and writable by us alone. Each folder above it,
 * also on the way through links, must belong to us or root and withhold the permission `withheld`; the sticky bit
 * counts as withholding it, because with it only owners rename what is inside. Undefined where there is nothing wrong,
 * and for the part of the path that does not exist yet.
 */
export function folderWeakness(folder: string, withheld = byAll, links = 0): Weakness | undefined {
  const own = ownUserId()
  if (own === undefined) return undefined
  const names = resolve(folder).split(sep)
  let root = 0
  for (let depth = 1; depth <= names.length; depth += 1) {
    const path = names.slice(0, depth).join(sep) || sep
    const status = lstatSync(path, { throwIfNoEntry: false })
    if (status === undefined) return undefined
    // Within a user namespace root may have another number.
    if (depth === 1) root = status.uid
    const isLast = depth === names.length
    if (status.uid !== own && (isLast || (status.uid !== 0 && status.uid !== root)))
      return { path, isAbove: !isLast, problem: 'foreign', status }
    if (status.isSymbolicLink()) {
      // A path with more links cannot be opened.
      if (links === maxLinks) return undefined
      const target = resolve(dirname(path), readlinkSync(path), ...names.slice(depth))
      return folderWeakness(target, withheld, links + 1)
    }
    if (!status.isDirectory()) return undefined
    const isWritable = isLast
      ? (status.mode & byOthers) !== 0
      : (status.mode & withheld) !== 0 && (status.mode & stickyBit) === 0
    if (isWritable) return { path, isAbove: !isLast, problem: 'writable', status }
  }
  return undefined
}

/** Whether another account owns a file or folder, or may write to it. */
export function weaknessOf(status: Pick<Stats, 'uid' | 'mode'>): Weakness['problem'] | undefined {
  const own = ownUserId()
  if (own === undefined) return undefined
  if (status.uid !== own) return 'foreign'
  return (status.mode & byOthers) === 0 ? undefined : 'writable'
}

export interface OpenedFile {
  descriptor: number
  /** Of what was opened, whatever has its name by now. */
  status: Stats
}

/** Opens a file, never through a link and without waiting for the other end of a pipe. Throws the system's error. */
export function openOwn(path: string, flags = O_RDONLY, mode?: number): OpenedFile {
  const descriptor = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, mode)
  try {
    return { descriptor, status: fstatSync(descriptor) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Whether a mode determines who may write to an open file of ours: on FAT and some network disks all files have the same. */
export function hasModes({ descriptor, status }: OpenedFile): boolean {
  try {
    fchmodSync(descriptor, status.mode & 0o700)
    const isPrivate = (fstatSync(descriptor).mode & byOthers) === 0
    fchmodSync(descriptor, status.mode & 0o7777)
    return isPrivate
  } catch {
    return true
  }
}

export const isSticky = ({ mode }: Pick<Stats, 'mode'>): boolean => (mode & stickyBit) !== 0

/** Such as "0755" or "1777". */
export const modeText = ({ mode }: Pick<Stats, 'mode'>): string =>
  (mode & 0o7777).toString(8).padStart(4, '0')
