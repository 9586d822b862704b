import { closeSync, constants, fdatasync, fstatSync, readSync, statSync, writeSync } from 'node:fs'

import { digest, type LogFile } from './attempt-log-files.ts'
import { diskFailure } from '../../disk/failure.ts'
import { openPrivate } from '../../disk/private-modes.ts'
import {
  formatRecord,
  type Head,
  type LogEntry,
  type LogHeader,
  type LogNote,
  type LogOutcome,
  type LogRecord,
  parseLog,
} from '../../domain/store/attempt-log.ts'
import { type KnownHeads, learnHead } from '../../domain/store/rollback.ts'
import { IoError } from '../../errors/kinds.ts'

type FlushFile = (descriptor: number, done: (error: Error | null) => void) => void

/** A header is written again after so many bytes, so that a start reads little more than that. */
const maxTailBytes = 65_536

const { O_APPEND, O_RDWR } = constants

/**
 * The attempt log that this machine appends to, shared by all processes of it. Only `flush` waits: an attempt is appended
 * between its commit and its request.
 */
export class AttemptLog {
  readonly path: string
  readonly #descriptor: number
  readonly #inode: number
  readonly #flushFile: FlushFile
  #header: LogHeader
  #heads: KnownHeads = new Map()
  /** Bytes that were read. */
  #offset: number
  #flushing: Promise<void> = Promise.resolve()
  #nextFlush: Promise<void> | undefined
  #failure: IoError | undefined
  #isDamaged = false

  /** `flushFile`: an argument, so that a test can be a disk that fails. */
  constructor({ path, header }: Pick<LogFile, 'path' | 'header'>, flushFile: FlushFile = fdatasync) {
    this.path = path
    this.#flushFile = flushFile
    this.#header = header
    this.#offset = header.bytes
    for (const head of header.heads) learnHead(this.#heads, head)
    try {
      // Never made anew: a log that has gone is missed.
      const { descriptor, status } = openPrivate(path, O_RDWR | O_APPEND)
      this.#descriptor = descriptor
      this.#inode = status.ino
    } catch (error) {
      throw error instanceof IoError ? error : diskFailure('write', path, error)
    }
  }

  /** Whether a complete line has a wrong checksum, as far as the log was read. */
  get isDamaged(): boolean {
    return this.#isDamaged
  }

  get header(): LogHeader {
    return this.#header
  }

  /** The highest attempts of the header's generation that the log holds, as far as it was read. */
  get heads(): Head[] {
    return [...this.#heads.values()].flat()
  }

  /** Reads what any process of this machine appended since the last call. */
  readGained(): LogRecord[] {
    try {
      const { size } = fstatSync(this.#descriptor)
      if (size <= this.#offset) return []
      const content = Buffer.alloc(size - this.#offset)
      const bytesRead = readSync(this.#descriptor, content, 0, content.length, this.#offset)
      const { records, bytes, damaged } = parseLog(content.toString('utf8', 0, bytesRead), digest)
      if (damaged > 0) this.#isDamaged = true
      this.#offset += bytes
      for (const record of records) this.#learn(record)
      return records
    } catch (error) {
      throw error instanceof IoError ? error : diskFailure('read', this.path, error)
    }
  }

  /** All in one write, since other processes append too. Throws where it is not in the log as a whole. */
  append(...records: (LogEntry | LogNote | LogOutcome)[]): void {
    this.#write(records.map((record) => formatRecord(record, digest)).join(''))
    if (this.#offset - this.#header.bytes > maxTailBytes) this.writeHeader({})
  }

  /**
   * Records something new about the store, and where the lines begin that a start has to read. A new generation comes with
   * the heads that the store has in it.
   */
  writeHeader(
    changed:
      | Partial<Pick<LogHeader, 'store' | 'register' | 'movedTo'>>
      | Pick<LogHeader, 'generation' | 'heads'>,
  ): void {
    this.readGained()
    const header: LogHeader = { ...this.#header, heads: this.heads, ...changed, bytes: this.#offset }
    this.#write(formatRecord(header, digest))
    this.readGained()
  }

  /**
   * On the disk, with all that was appended before. Calls side by side share a flush. One that failed is never repeated: the
   * system may have dropped what it could not write.
   */
  flush(): Promise<void> {
    this.#nextFlush ??= this.#flushing.then(() => {
      this.#nextFlush = undefined
      this.#flushing = this.#flush()
      return this.#flushing
    })
    return this.#nextFlush
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      this.#flushFile(this.#descriptor, (error) => {
        if (error === null) return resolve()
        this.#failure = diskFailure('write', this.path, error)
        reject(this.#failure)
      })
    })
  }

  #learn(record: LogRecord): void {
    if (record.kind === 'outcome') return
    if (record.kind === 'header') {
      if (record.generation !== this.#header.generation) this.#heads = new Map()
      this.#header = record
      for (const head of record.heads) learnHead(this.#heads, head)
    } else if (record.generation === this.#header.generation) {
      const { account, number, attemptId } = record
      learnHead(this.#heads, { account, number, attemptId })
    }
  }

  #write(text: string): void {
    if (this.#failure !== undefined) throw this.#failure
    try {
      if (statSync(this.path).ino !== this.#inode) {
        throw new IoError(`the attempt log "${this.path}" was replaced while it was in use`, {
          hint: 'Nothing was sent. See what is known with: refcheck store check',
        })
      }
      const bytes = Buffer.from(text)
      if (writeSync(this.#descriptor, bytes) !== bytes.length)
        throw Object.assign(new Error('the line is not whole'), { code: 'ENOSPC' })
    } catch (error) {
      throw error instanceof IoError ? error : diskFailure('write', this.path, error)
    }
  }
}
