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
import { join, resolve, sep } from 'node:path'

import { IoError, RefcheckError } from '../errors/kinds.ts'
import { ownUserId } from '../host/process.ts'
import { diskFailure } from './failure.ts'
import { writableByAll, isSticky, partsOfPath } from './ownership.ts'
import { isPrivateGroup } from './private-group.ts'

/** The accounts other than the user's that may create files in a folder. */
export type Writers = 'all' | 'its owner' | 'its group'

/** A folder in which other accounts can exchange the files and folders below it. */
export interface WritableFolder {
  path: string
  writers: Writers
}

const groupWrite = 0o020
/** Linux's O_PATH, with which a folder can be opened without permission to read it. Node has no constant for it. */
const O_PATH = 0o10000000
/**
 * Folder in which Linux has a path for each open descriptor; a path below it starts in the folder that was opened.
 */
const descriptorFolder = '/proc/self/fd'

/** Returns the accounts other than the user's that may create files in a folder with this status. */
export function otherWriters(status: Pick<Stats, 'mode' | 'uid' | 'gid'>): Writers | undefined {
  const ownId = ownUserId()
  if (ownId === undefined) return undefined
  if ((status.mode & writableByAll) !== 0) return 'all'
  if (status.uid !== ownId) return 'its owner'
  return (status.mode & groupWrite) !== 0 && !isPrivateGroup(status.gid) ? 'its group' : undefined
}

/**
 * As `otherWriters`, but for a folder above that belongs to the user or root: with the sticky bit only owners can
 * exchange entries.
 */
function findExchangers(status: Stats): Writers | undefined {
  return isSticky(status)
    ? undefined
    : otherWriters({ mode: status.mode, uid: ownUserId() ?? 0, gid: status.gid })
}

/** The folder that a path leads to, and how other accounts could make the path lead elsewhere. */
interface Route {
  /** The path without symbolic links. */
  path: string
  /** The first folder above in which another account can exchange entries. */
  above: WritableFolder | undefined
  /** A symbolic link that another account made or could have made. */
  link: string | undefined
}

/** Resolves the part of a path that exists. */
function resolveRoute(folder: string): Route {
  let resolvedPath = resolve(folder)
  let above: WritableFolder | undefined
  for (const { path, status, isForeign, isLast, wholePath } of partsOfPath(folder)) {
    resolvedPath = wholePath
    if (status.isSymbolicLink()) {
      if (isForeign || above !== undefined) return { path, above, link: path }
    } else if (status.isDirectory() && !isLast) {
      const writers = isForeign ? 'its owner' : findExchangers(status)
      above ??= writers && { path, writers }
    }
  }
  return { path: resolvedPath, above, link: undefined }
}

/** Throws an IoError if the path leads through a symbolic link that another account made or could have made. */
export function requireOwnLinks(path: string): Route {
  if (ownUserId() === undefined) return { path, above: undefined, link: undefined }
  try {
    const route = resolveRoute(path)
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
 * A folder that is held open, so that operations on paths below `systemPath` affect this folder even if another has
 * its name by then. On systems other than Linux, it is the folder's path.
 */
export class HeldFolder {
  /** The path for messages. */
  readonly path: string
  /** The path for system calls. */
  readonly systemPath: string
  /** The folder above in which other accounts can exchange this folder. */
  readonly exchangeableFolder: WritableFolder | undefined
  readonly #descriptor: number | undefined
  readonly #descriptorPaths: string
  #isClosed = false

  private constructor(path: string, { systemPath, descriptorPaths, above, descriptor }: OpenedFolder) {
    this.path = path
    this.systemPath = systemPath
    this.exchangeableFolder = above
    this.#descriptor = descriptor
    this.#descriptorPaths = descriptorPaths
  }

  /** Opens a folder. Throws an IoError if that fails; `descriptorPaths` is replaced in tests. */
  static open(path: string, descriptorPaths = descriptorFolder): HeldFolder {
    const route = requireOwnLinks(path)
    let problem: string
    try {
      const { above } = route
      const folder = new HeldFolder(path, {
        ...openFolder(path, descriptorPaths, false),
        descriptorPaths,
        above,
      })
      if (above === undefined) return folder
      if (![ownUserId(), 0].includes(folder.status.uid))
        problem = 'it belongs to another user of this machine, who may have put it there'
      else if (folder.isHeld && readlinkSync(folder.systemPath) !== route.path)
        problem = 'it was exchanged while it was opened'
      else return folder
      folder.close()
    } catch (error) {
      throw diskFailure('use the folder', path, error)
    }
    throw new IoError(`cannot use the folder "${path}": ${problem}`, {
      hint: 'Look at who may write to the folders that contain it, or use another folder.',
    })
  }

  /** Whether operations on paths below `systemPath` are sure to affect this folder. */
  get isHeld(): boolean {
    return this.#descriptor !== undefined
  }

  get status(): Stats {
    return this.#descriptor === undefined ? statSync(this.path) : fstatSync(this.#descriptor)
  }

  /** Opens a folder that is not a symbolic link; links above it are not checked. Throws the system's error. */
  static openNoLink(path: string, descriptorPaths = descriptorFolder): HeldFolder {
    return new HeldFolder(path, {
      ...openFolder(path, descriptorPaths, true),
      descriptorPaths,
      above: undefined,
    })
  }

  /** Opens a folder in this one that is not a symbolic link. Throws the system's error. */
  openBelow(name: string): HeldFolder {
    const { systemPath, descriptor } = openFolder(join(this.systemPath, name), this.#descriptorPaths, true)
    return new HeldFolder(join(this.path, name), {
      systemPath,
      descriptorPaths: this.#descriptorPaths,
      above: undefined,
      descriptor,
    })
  }

  /** Replaces `systemPath` in the message and hint of a RefcheckError by the path for messages. */
  withShownPath(error: unknown): unknown {
    if (!(error instanceof RefcheckError) || !this.isHeld) return error
    const replacePath = (text: string): string =>
      text
        .replaceAll(`${this.systemPath}/`, join(this.path, sep))
        .replaceAll(`"${this.systemPath}"`, `"${this.path}"`)
    error.message = replacePath(error.message)
    error.hint &&= replacePath(error.hint)
    return error
  }

  /**
   * Closes the folder. A second call does nothing, because the descriptor's number may be in use for another file.
   */
  close(): void {
    if (this.#descriptor !== undefined && !this.#isClosed) closeSync(this.#descriptor)
    this.#isClosed = true
  }
}

interface OpenedFolder {
  systemPath: string
  descriptor: number | undefined
  descriptorPaths: string
  above: WritableFolder | undefined
}

function openFolder(
  path: string,
  descriptorPaths: string,
  refusesLinks: boolean,
): Pick<OpenedFolder, 'systemPath' | 'descriptor'> {
  const status = refusesLinks ? lstatSync(path) : statSync(path)
  if (!status.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
  if (statSync(descriptorPaths, { throwIfNoEntry: false }) === undefined)
    return { systemPath: path, descriptor: undefined }
  const { O_DIRECTORY, O_NOFOLLOW } = constants
  const descriptor = openSync(path, O_PATH | O_DIRECTORY | (refusesLinks ? O_NOFOLLOW : 0))
  const systemPath = `${descriptorPaths}/${descriptor}`
  const isSameFolder = statSync(systemPath, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino
  if (isSameFolder) return { systemPath, descriptor }
  closeSync(descriptor)
  return { systemPath: path, descriptor: undefined }
}
