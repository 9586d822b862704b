import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

import { diskFailure, errorNumber } from '../../disk/failure.ts'
import { makeFolders } from '../../disk/make-folders.ts'
import { IoError } from '../../errors/kinds.ts'
import { ownUserId } from '../../host/process-id.ts'

/** Whose list it is. */
export interface ListPlace {
  /** Where the store stands: an absolute path. */
  store: string
  /** The key of its fingerprints, as hex: a new store that takes its place must know people again. */
  key: string
  /** Where the store went; undefined as long as it is there. */
  movedTo?: string | undefined
}

/** A list of attempts that is there. */
export interface FoundList {
  id: string
  folder: string
  path: string
  /** Bytes. */
  size: number
  /** Undefined where that part of it is lost. */
  place: ListPlace | undefined
  /** When it was last written; wall time. */
  changedAt: number
}

/**
 * Lists of attempts, outside the stores they are of: `ID.list`, with `ID.json` beside it, which says of which store.
 * All is done at once, without waiting: an attempt is listed between its commit and its POST.
 */
export class AttemptLists {
  /** Where they may be: the first that can be written is for new ones. */
  readonly folders: readonly string[]
  #open: { path: string; descriptor: number; inode: number } | undefined

  constructor(folders: readonly string[]) {
    this.folders = folders
  }

  /** Those of a store, by its id, the place where it stands or its key. `also`: one more folder to look in. */
  find(id: string | undefined, store: string, also?: string, key?: string): FoundList[] {
    const folders = new Set([...(also === undefined ? [] : [also]), ...this.folders])
    return [...folders].flatMap((folder) =>
      namesIn(folder)
        .map((name) => foundIn(folder, name))
        .filter((list) => list !== undefined)
        .filter(
          ({ id: own, place }) =>
            own === id || place?.store === store || (key !== undefined && place?.key === key),
        ),
    )
  }

  /** The key of the store that stood in a place last. */
  keyOf(store: string): Uint8Array | undefined {
    const newest = this.find(undefined, store).sort((one, other) => other.changedAt - one.changedAt)[0]
    const hex = newest?.place?.key ?? ''
    return /^[0-9a-f]{64}$/.test(hex) ? Buffer.from(hex, 'hex') : undefined
  }

  /** Makes one, flushed, in the first folder that can be written; undefined where none can. */
  create(id: string, place: ListPlace, content: string): FoundList | undefined {
    for (const folder of this.folders) {
      try {
        makeFolders(folder, 0o700)
        if (ours(folder, 'isDirectory') === undefined) continue
        writeFlushed(folder, `${id}.json`, JSON.stringify(place))
        writeFlushed(folder, `${id}.list`, content)
        return foundIn(folder, `${id}.list`)
      } catch (error) {
        if (errorNumber(error) === undefined) throw error
      }
    }
    return undefined
  }

  /** Says again of which store a list is. */
  rename({ id, folder, path }: FoundList, place: ListPlace): void {
    try {
      writeFlushed(folder, `${id}.json`, JSON.stringify(place))
    } catch (error) {
      throw diskFailure('write', path, error)
    }
  }

  /** Lists that stores which stood in a place left behind: whoever comes there begins anew. */
  welcome(store: string): void {
    for (const list of this.find(undefined, store)) {
      if (list.place?.store === store && list.place.movedTo !== undefined)
        this.rename(list, { store, key: list.place.key })
    }
  }

  /** From an offset in bytes to the end. */
  read({ path, size }: FoundList, from: number): Buffer {
    if (size <= from) return Buffer.alloc(0)
    try {
      const descriptor = openSync(path, 'r')
      try {
        const content = Buffer.alloc(size - from)
        const bytes = readSync(descriptor, content, 0, content.length, from)
        return content.subarray(0, bytes)
      } finally {
        closeSync(descriptor)
      }
    } catch (error) {
      throw diskFailure('read', path, error)
    }
  }

  flush({ path }: FoundList): void {
    try {
      flushFile(path)
    } catch (error) {
      throw diskFailure('write', path, error)
    }
  }

  /** What is kept beside a list, in the words of whoever keeps it; undefined where nothing is. */
  noted({ folder, id }: FoundList): string | undefined {
    try {
      return readFileSync(join(folder, `${id}.seen`), 'utf8')
    } catch (error) {
      if (errorNumber(error) === 'ENOENT') return undefined
      throw diskFailure('read', join(folder, `${id}.seen`), error)
    }
  }

  note({ folder, id, path }: FoundList, text: string): void {
    try {
      writeFileSync(join(folder, `${id}.seen`), text, { mode: 0o600 })
    } catch (error) {
      throw diskFailure('write', path, error)
    }
  }

  /** One line, in one write: many processes may append at once. Throws an IoError where it is not in the list. */
  append({ path }: FoundList, line: string): void {
    try {
      if (this.#open?.path !== path) this.#reopen(path)
      if (this.#open === undefined || statSync(path).ino !== this.#open.inode) {
        throw new IoError(`the list of attempts "${path}" was replaced while it was in use`, {
          hint: 'Nothing was sent. See what is known: refcheck store check',
        })
      }
      const bytes = Buffer.from(line)
      if (writeSync(this.#open.descriptor, bytes) !== bytes.length) {
        throw Object.assign(new Error('the line is not whole'), { code: 'ENOSPC' })
      }
    } catch (error) {
      throw error instanceof IoError ? error : diskFailure('write', path, error)
    }
  }

  /** Puts lines in the place of others of the same length, and on the disk, while anybody may append. */
  replace({ path }: FoundList, lines: readonly { old: string; new: string }[]): void {
    try {
      const content = readFileSync(path)
      const descriptor = openSync(path, 'r+')
      try {
        for (const line of lines) {
          const at = content.indexOf(line.old)
          if (at !== -1) writeSync(descriptor, Buffer.from(line.new), 0, undefined, at)
        }
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
    } catch (error) {
      throw diskFailure('write', path, error)
    }
  }

  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.descriptor)
    this.#open = undefined
  }

  /** Never makes the file: a list that has gone is missed. */
  #reopen(path: string): void {
    this.close()
    const descriptor = openSync(path, appending)
    this.#open = { path, descriptor, inode: fstatSync(descriptor).ino }
  }
}

const { O_APPEND, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants
const appending = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK

/** What another account put in our place is none of ours: neither read nor written. */
function ours(path: string, kind: 'isDirectory' | 'isFile'): Stats | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status === undefined) return undefined
  const isOwn = ownUserId() === undefined || status.uid === ownUserId()
  // A link of one's own leads where one wants it to, but a list is never one.
  const isKind = status[kind]() || (kind === 'isDirectory' && status.isSymbolicLink())
  return isOwn && isKind ? status : undefined
}

const noFolder = new Set<string | undefined>(['ENOENT', 'ENOTDIR', 'EACCES'])

function namesIn(folder: string): string[] {
  try {
    if (ours(folder, 'isDirectory') === undefined) return []
    return readdirSync(folder).filter((name) => name.endsWith('.list'))
  } catch (error) {
    if (noFolder.has(errorNumber(error))) return []
    throw diskFailure('read the folder', folder, error)
  }
}

function foundIn(folder: string, name: string): FoundList | undefined {
  const path = join(folder, name)
  const status = ours(path, 'isFile')
  if (status === undefined) return undefined
  const id = name.slice(0, -'.list'.length)
  return {
    id,
    folder,
    path,
    size: status.size,
    place: placeIn(join(folder, `${id}.json`)),
    changedAt: status.mtimeMs,
  }
}

function placeIn(path: string): ListPlace | undefined {
  try {
    const { store, key, movedTo } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<string, unknown>>
    if (typeof store !== 'string' || typeof key !== 'string') return undefined
    return typeof movedTo === 'string' ? { store, key, movedTo } : { store, key }
  } catch {
    // Of which store it is, its id tells too.
    return undefined
  }
}

/** Whole or not at all, and on the disk. */
function writeFlushed(folder: string, name: string, content: string): void {
  const temporary = join(folder, `${name}.tmp`)
  rmSync(temporary, { force: true })
  writeFileSync(temporary, content, { mode: 0o600, flag: 'wx', flush: true })
  renameSync(temporary, join(folder, name))
  try {
    flushFile(folder)
  } catch {
    // Where folders cannot be flushed (Windows, some network disks) there is nothing to do.
  }
}

function flushFile(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
