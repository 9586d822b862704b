import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'

import { IoError, RefcheckError } from '../errors/kinds.ts'
import { ownUserId } from '../host/process.ts'
import { diskFailure } from './failure.ts'
import { byAll, isSticky } from './ownership.ts'
import { isPrivateGroup } from './private-group.ts'

/** Who else may put files into a folder. */
export type OpenTo = 'all' | 'its owner' | 'its group'

/** A folder through which other accounts can exchange what is below it. */
export interface OpenFolder {
  path: string
  to: OpenTo
}

const byGroup = 0o020
/** Linux's O_PATH, which needs no permission to read a folder; Node has no name for it. */
const pathOnly = 0o10000000
/** More than the system follows in one path. */
const maxLinks = 40
/** Where Linux has a name for each open descriptor, below which paths begin at the folder that was opened. */
const descriptorNames = '/proc/self/fd'

export function openTo(status: Pick<Stats, 'mode' | 'uid' | 'gid'>): OpenTo | undefined {
  const own = ownUserId()
  if (own === undefined) return undefined
  if ((status.mode & byAll) !== 0) return 'all'
  if (status.uid !== own) return 'its owner'
  return (status.mode & byGroup) !== 0 && !isPrivateGroup(status.gid) ? 'its group' : undefined
}

/** As `openTo` of a folder above: root may own it, and with the sticky bit only owners exchange what is in it. */
function exchangeableBy(status: Stats, root: number): OpenTo | undefined {
  const own = ownUserId()
  if (status.uid !== own && status.uid !== 0 && status.uid !== root) return 'its owner'
  return isSticky(status) ? undefined : openTo({ mode: status.mode, uid: own ?? 0, gid: status.gid })
}

/** Where a path leads, and how other accounts could make it lead elsewhere. */
interface Route {
  /** Without links. */
  path: string
  /** The first folder above it through which they could. */
  above: OpenFolder | undefined
  /** A link that they made, or could have put there. */
  link: string | undefined
}

/** Of the part of a path that exists. */
function routeTo(folder: string, above?: OpenFolder, links = 0): Route {
  const names = resolve(folder).split(sep)
  let root = 0
  let found = above
  for (let depth = 1; depth <= names.length; depth += 1) {
    const path = names.slice(0, depth).join(sep) || sep
    const status = lstatSync(path, { throwIfNoEntry: false })
    if (status === undefined) break
    // Within a user namespace root may have another number.
    if (depth === 1) root = status.uid
    if (status.isSymbolicLink()) {
      const isForeign = status.uid !== ownUserId() && status.uid !== 0 && status.uid !== root
      if (isForeign || found !== undefined) return { path, above: found, link: path }
      // A path with more links cannot be opened.
      if (links === maxLinks) break
      const target = resolve(dirname(path), readlinkSync(path), ...names.slice(depth))
      return routeTo(target, found, links + 1)
    }
    if (!status.isDirectory()) break
    if (depth < names.length) {
      const to = exchangeableBy(status, root)
      found ??= to && { path, to }
    }
  }
  return { path: resolve(folder), above: found, link: undefined }
}

/** Throws an IoError where a folder is reached through a link that another account made or could have put there. */
export function requireOwnLinks(path: string): Route {
  if (ownUserId() === undefined) return { path, above: undefined, link: undefined }
  try {
    const route = routeTo(path)
    if (route.link === undefined) return route
    throw new IoError(
      `cannot use the folder "${path}": another user of this machine may have made the symbolic link "${route.link}"`,
      { hint: 'Give the folder that you mean, without that link.' },
    )
  } catch (error) {
    throw error instanceof IoError ? error : diskFailure('use the folder', path, error)
  }
}

/**
 * A folder that is held open, so that what is done below `at` is done in it, whatever has its name by now. Elsewhere than on
 * Linux `at` is its path.
 */
export class HeldFolder {
  /** As it is shown. */
  readonly path: string
  /** For calls of the system. */
  readonly at: string
  /** The folder above it through which other accounts can exchange it. */
  readonly above: OpenFolder | undefined
  readonly #descriptor: number | undefined
  readonly #names: string
  #isClosed = false

  private constructor(path: string, { at, names, above, descriptor }: Opened) {
    this.path = path
    this.at = at
    this.above = above
    this.#descriptor = descriptor
    this.#names = names
  }

  /** Throws an IoError; `names` is replaced in tests. */
  static open(path: string, names = descriptorNames): HeldFolder {
    const route = requireOwnLinks(path)
    try {
      const { above } = route
      const folder = new HeldFolder(path, { ...opened(path, names, false), names, above })
      if (above === undefined || folder.#descriptor === undefined || readlinkSync(folder.at) === route.path)
        return folder
      folder.close()
    } catch (error) {
      throw diskFailure('use the folder', path, error)
    }
    throw new IoError(`cannot use the folder "${path}": it was exchanged while it was opened`, {
      hint: 'Look at who may write to the folders that contain it.',
    })
  }

  /** Whether what is done below `at` stays in the folder. */
  get isHeld(): boolean {
    return this.#descriptor !== undefined
  }

  get status(): Stats {
    return this.#descriptor === undefined ? statSync(this.path) : fstatSync(this.#descriptor)
  }

  /** One that is no link, whatever is above it. Throws the system's error. */
  static openNoLink(path: string, names = descriptorNames): HeldFolder {
    return new HeldFolder(path, { ...opened(path, names, true), names, above: undefined })
  }

  /** A folder in it, no link. Throws the system's error. */
  below(name: string): HeldFolder {
    const { at, descriptor } = opened(join(this.at, name), this.#names, true)
    return new HeldFolder(join(this.path, name), { at, names: this.#names, above: undefined, descriptor })
  }

  /** A failure with the path of the folder in the place of `at`. */
  named(error: unknown): unknown {
    if (!(error instanceof RefcheckError) || !this.isHeld) return error
    const shown = (text: string): string =>
      text.replaceAll(`${this.at}/`, join(this.path, sep)).replaceAll(`"${this.at}"`, `"${this.path}"`)
    error.message = shown(error.message)
    error.hint &&= shown(error.hint)
    return error
  }

  /** A second call does nothing: the number may be another file's by then. */
  close(): void {
    if (this.#descriptor !== undefined && !this.#isClosed) closeSync(this.#descriptor)
    this.#isClosed = true
  }
}

interface Opened {
  at: string
  descriptor: number | undefined
  names: string
  above: OpenFolder | undefined
}

function opened(path: string, names: string, isNoLink: boolean): Pick<Opened, 'at' | 'descriptor'> {
  const status = isNoLink ? lstatSync(path) : statSync(path)
  if (!status.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
  if (statSync(names, { throwIfNoEntry: false }) === undefined) return { at: path, descriptor: undefined }
  const { O_DIRECTORY, O_NOFOLLOW } = constants
  const descriptor = openSync(path, pathOnly | O_DIRECTORY | (isNoLink ? O_NOFOLLOW : 0))
  const at = `${names}/${descriptor}`
  const isNamed = statSync(at, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino
  if (isNamed) return { at, descriptor }
  closeSync(descriptor)
  return { at: path, descriptor: undefined }
}
