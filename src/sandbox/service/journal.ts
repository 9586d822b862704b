import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { requireOwnLinks } from '../../disk/held-folder.ts'
import { claimLock, type ClaimOptions } from '../../disk/lock.ts'
import { IoError } from '../../errors/kinds.ts'
import type { Change } from './state.ts'

const header = { refcheck_sandbox: 1 }
const newline = 0x0a
const chunkSize = 1 << 20

/**
 * The file is rewritten once it is `times` as long as it was after the last rewrite, but only if it has more
 * than `bytes` bytes.
 */
const rewriteThreshold = { bytes: 16 * 1024 * 1024, times: 4 }

/**
 * Stores the sandbox's state in a file with one line per change. The line is written before the call that
 * made the change is answered, so no answered change is lost if the process is killed. An incomplete last
 * line is dropped. All state is in memory anyway, so no database is needed.
 */
export class Journal {
  readonly path: string
  /** The changes that the file contained when it was opened. */
  readonly changes: Change[]
  readonly #release: () => void
  #fileDescriptor: number
  #isClosed = false
  #size: number
  #sizeAfterRewrite: number

  constructor(path: string, fileDescriptor: number, changes: Change[], release: () => void) {
    this.path = path
    this.changes = changes
    this.#fileDescriptor = fileDescriptor
    this.#release = release
    this.#size = fstatSync(fileDescriptor).size
    this.#sizeAfterRewrite = this.#size
  }

  /** Appends a change. Throws an IoError if the disk cannot store it; the file is then as before. */
  append(change: Change): void {
    try {
      this.#size += this.#write(this.#fileDescriptor, `${JSON.stringify(change)}\n`)
    } catch (error) {
      // Removes the part of a line that a full disk has written; otherwise the next line would be appended to it.
      ftruncateSync(this.#fileDescriptor, this.#size)
      throw error
    }
  }

  /** Whether the file is so long compared with the state that it should be rewritten. */
  get shouldBeRewritten(): boolean {
    return this.#size > Math.max(rewriteThreshold.bytes, rewriteThreshold.times * this.#sizeAfterRewrite)
  }

  /** Writes the state to a new file and renames it over the old one. */
  rewrite(changes: Iterable<Change>): void {
    const temporaryPath = join(dirname(this.path), `.${basename(this.path)}.new`)
    try {
      rmSync(temporaryPath, { force: true })
      const { file, size } = this.#writeNewFile(temporaryPath, changes)
      renameSync(temporaryPath, this.path)
      closeSync(this.#fileDescriptor)
      this.#fileDescriptor = file
      this.#size = size
      this.#sizeAfterRewrite = size
    } catch (error) {
      rmSync(temporaryPath, { force: true })
      throw error instanceof IoError ? error : this.#toWriteError(error)
    }
  }

  #writeNewFile(path: string, changes: Iterable<Change>): { file: number; size: number } {
    const file = openSync(path, 'ax', 0o600)
    try {
      let size = 0
      let lines = `${JSON.stringify(header)}\n`
      for (const change of changes) {
        lines += `${JSON.stringify(change)}\n`
        if (lines.length < chunkSize) continue
        size += this.#write(file, lines)
        lines = ''
      }
      size += this.#write(file, lines)
      fsyncSync(file)
      return { file, size }
    } catch (error) {
      closeSync(file)
      throw error
    }
  }

  /** Closes the file and releases its lock; a second call does nothing. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closeSync(this.#fileDescriptor)
    this.#release()
  }

  #write(file: number, text: string): number {
    const bytes = Buffer.from(text)
    try {
      for (let writtenBytes = 0; writtenBytes < bytes.length;)
        writtenBytes += writeSync(file, bytes, writtenBytes)
    } catch (error) {
      throw this.#toWriteError(error)
    }
    return bytes.length
  }

  #toWriteError(cause: unknown): IoError {
    return new IoError(`the sandbox's data cannot be written to ${this.path}: ${messageOf(cause)}`, {
      hint: 'Nothing was changed. Free some space, or choose another file.',
      cause,
    })
  }
}

/**
 * Opens the file of a sandbox, or creates it. Throws an IoError if it is another kind of file, cannot be opened, or
 * is in use by another sandbox.
 */
export async function openJournal(file: string, options: Omit<ClaimOptions, 'waitMs'>): Promise<Journal> {
  const absolutePath = resolve(file)
  const { above } = requireOwnLinks(absolutePath)
  if (above !== undefined)
    throw new IoError(
      `${file} cannot be used: other users of this machine may exchange what is in "${above.path}"`,
      {
        hint: 'Choose a file in a folder that only you can write to.',
      },
    )
  // Each file has one path without links, and thus one lock.
  const path = await realpath(absolutePath).catch(() => absolutePath)
  const release = await claimData(path, options)
  let handle: number | undefined
  try {
    const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants
    handle = openSync(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
    return new Journal(path, handle, readChanges(path, handle), release)
  } catch (error) {
    if (handle !== undefined) closeSync(handle)
    release()
    if (error instanceof IoError) throw error
    throw new IoError(`the sandbox's data cannot be opened: ${messageOf(error)}`, {
      hint: 'Choose a file in an existing, writable folder.',
      cause: error,
    })
  }
}

function readChanges(path: string, file: number): Change[] {
  if (fstatSync(file).size === 0) return []
  const refuse = (cause?: unknown): never => {
    throw new IoError(`${path} is not a sandbox's data, or is damaged`, {
      hint: 'It was left as it is. Choose another file.',
      cause,
    })
  }
  const parse = (line: string): unknown => {
    try {
      return JSON.parse(line)
    } catch (error) {
      return refuse(error)
    }
  }
  // A sandbox's file has a complete first line from the start, so a file without one is of another kind.
  const [firstLine, ...changes] = Array.from(readLines(file), parse)
  if ((firstLine as Partial<typeof header> | null | undefined)?.refcheck_sandbox !== 1) return refuse()
  if (!changes.every(isChange)) return refuse()
  return changes.length === 0 || changes.some(({ does }) => does === 'organisation') ? changes : refuse()
}

/** The member of a change that contains its data. */
const dataNames: Readonly<Record<Change['does'], string>> = {
  settings: 'settings',
  organisation: 'organisation',
  key: 'key',
  team: 'team',
  user: 'user',
  package: 'package',
  request: 'request',
  quota: 'uses',
  delivery: 'delivery',
}

function isChange(value: unknown): value is Change {
  if (typeof value !== 'object' || value === null) return false
  const { does, ...members } = value as Record<string, unknown>
  if (typeof does !== 'string' || !Object.hasOwn(dataNames, does)) return false
  const data = members[dataNames[does as Change['does']]]
  return typeof data === 'object' && data !== null
}

/**
 * Yields the complete lines. Text after the last line end is skipped, because it was being written when the
 * process died.
 */
function* readLines(file: number): Generator<string> {
  const chunk = Buffer.alloc(chunkSize)
  let unreadBytes = Buffer.alloc(0)
  for (let position = 0; ;) {
    const count = readSync(file, chunk, 0, chunkSize, position)
    if (count === 0) return
    position += count
    unreadBytes = Buffer.concat([unreadBytes, chunk.subarray(0, count)])
    let start = 0
    for (let end = unreadBytes.indexOf(newline); end !== -1; end = unreadBytes.indexOf(newline, start)) {
      yield unreadBytes.toString('utf8', start, end)
      start = end + 1
    }
    unreadBytes = unreadBytes.subarray(start)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Locks a sandbox's data for this process. Throws an IoError with the process id if another sandbox has the lock. */
async function claimData(path: string, options: Omit<ClaimOptions, 'waitMs'>): Promise<() => void> {
  const claim = await claimLock(`${path}.claim`, { ...options, waitMs: 0 })
  if (claim.isClaimed) return () => claim.release()
  const holder = claim.holder === undefined ? '' : ` (process ${claim.holder.pid})`
  throw new IoError(`${path} is in use by another sandbox${holder}`, {
    hint: 'Stop that one first, or choose another file.',
  })
}
