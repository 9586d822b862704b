import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { diskFailure, systemErrorCode } from '../../disk/failure.ts'
import { makeFolders } from '../../disk/folders.ts'
import { openPrivate, readOwn } from '../../disk/private-modes.ts'
import {
  eraseFingerprints,
  formatRecord,
  type Head,
  isAtOrigin,
  type LogEntry,
  type LogHeader,
  type LogNote,
  type LogOrigin,
  type LogOutcome,
  type LogRecord,
  type ParsedLog,
  parseLog,
} from '../../domain/store/attempt-log.ts'
import { IoError } from '../../errors/kinds.ts'
import { machineId, machineName } from '../../host/machine.ts'
import { ownUserId } from '../../host/process.ts'
import { unusableStore } from './engine.ts'
import { sha256 } from './fingerprints.ts'
import { type KnownHeads, addKnownHead } from '../../domain/store/rollback.ts'

function withDiskErrors<T>(operation: 'read' | 'write', path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof IoError ? error : diskFailure(operation, path, error)
  }
}

function useAndClose<T>(descriptor: number, work: (descriptor: number) => T): T {
  try {
    return work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Returns the digest that checks a line of a log. */
export const digest = (text: string): string => sha256(Buffer.from(text))

/** A log file with its last header. */
export interface LogFile {
  path: string
  header: LogHeader
  /** Whether this machine may append to it; otherwise it is a copy. */
  isOriginal: boolean
  /** Whether the log contains neither an attempt nor a note of an attempt. */
  isEmpty: boolean
}

/** The fields of a new log's header that describe its store. */
type NewLog = Pick<LogHeader, 'id' | 'storeId' | 'store' | 'key' | 'generation' | 'register'>

/**
 * The name of this machine and the id of its operating system's installation; a parameter, so that tests can use
 * several machines.
 */
type Machine = Record<'host' | 'id', string>

const suffix = '.log'
/** The suffix of logs from before 1.0.0. */
const formerSuffix = '.list'
const maxLocationBytes = 1024 * 1024
/** The number of bytes at the end of a log in which the last header is searched first. */
const blockBytes = 65_536

/**
 * The attempt logs of stores (src/docs/ordering.md, section 6), outside the stores, so that restoring a store
 * leaves them unchanged. New logs are made in the first folder that can be written.
 */
export class AttemptLogFiles {
  readonly folders: readonly string[]
  readonly machine: Machine

  constructor(folders: readonly string[], machine: Machine = { host: machineName(), id: machineId() }) {
    this.folders = folders
    this.machine = machine
  }

  /**
   * Finds the logs of a store by its id or by its location, `store`. `registeredPaths`: the paths of logs that the
   * store itself lists.
   */
  find(
    { store, storeId }: { store: string; storeId?: string },
    registeredPaths: readonly string[] = [],
  ): LogFile[] {
    const folders = new Set([...this.folders, ...registeredPaths.map((path) => dirname(path))])
    return (
      [...folders]
        .flatMap((folder) => namesIn(folder, suffix).map((name) => this.#readLogFile(join(folder, name))))
        .filter((file) => file !== undefined)
        // The log of a store that was moved away is not about the next store at the same location.
        .filter(
          ({ header }) =>
            header.storeId === storeId || (header.store === store && header.movedTo === undefined),
        )
    )
  }

  /**
   * Returns the fingerprint key of the store that was last at a location, so that a new store there recognises its
   * people.
   */
  findKey(store: string): Uint8Array | undefined {
    const changedAt = ({ path }: LogFile): number => statSync(path).mtimeMs
    const logs = this.find({ store })
    const [newest] = logs.sort((one, other) => changedAt(other) - changedAt(one))
    return newest && Buffer.from(newest.header.key, 'hex')
  }

  /** Whether a path is in one of the folders. */
  isInFolders(path: string): boolean {
    return this.folders.some((folder) => {
      try {
        return realpathSync(folder) === dirname(path)
      } catch {
        return folder === dirname(path)
      }
    })
  }

  /** Makes a log and flushes it. Returns undefined if no folder can be written. */
  create(header: NewLog): LogFile | undefined {
    for (const folder of this.folders) {
      try {
        makeFolders(folder, 0o700)
        if (ownStatus(folder, 'isDirectory') === undefined) continue
        return this.#createIn(folder, header)
      } catch (error) {
        if (systemErrorCode(error) === undefined) throw error
      }
    }
    return undefined
  }

  /** Reads the whole log. */
  read({ path }: LogFile): ParsedLog {
    return withDiskErrors('read', path, () =>
      useAndClose(openPrivate(path).descriptor, (file) => parseLog(readFileSync(file), digest)),
    )
  }

  /** Removes the fingerprints of the given attempts from a log and flushes it. Other processes may append meanwhile. */
  erase({ path }: LogFile, attemptIds: ReadonlySet<string>): void {
    withDiskErrors('write', path, () =>
      useAndClose(openPrivate(path, constants.O_RDWR).descriptor, (file) => {
        const content = readFileSync(file)
        const lines = eraseFingerprints(content.toString(), attemptIds, digest)
        if (lines.length === 0) return
        for (const line of lines)
          writeSync(file, Buffer.from(line.after), 0, undefined, content.indexOf(line.before))
        fsyncSync(file)
      }),
    )
  }

  /** Throws an IoError if the store at this location has a log from before 1.0.0, whose attempts cannot be read. */
  requireNoFormerLog(store: string): void {
    for (const folder of this.folders) {
      for (const name of namesIn(folder, formerSuffix)) {
        const path = join(folder, name)
        if (formerStoreOf(`${path.slice(0, -formerSuffix.length)}.json`) !== store) continue
        throw unusableStore(
          store,
          `its attempt log "${path}" is from before refcheck 1.0.0`,
          'Use the refcheck that made it, or name another store with REFCHECK_STORE. Nothing was changed.',
        )
      }
    }
  }

  #createIn(folder: string, header: NewLog): LogFile {
    const path = join(realpathSync(folder), `${header.id}${suffix}`)
    const temporary = `${path}.tmp`
    rmSync(temporary, { force: true })
    const createdHeader = useAndClose(openSync(temporary, 'wx', 0o600), (file): LogHeader => {
      const origin = this.#originOf(path, fstatSync(file))
      const firstHeader: LogHeader = { kind: 'header', ...header, origin, bytes: 0, heads: [] }
      writeSync(file, formatRecord(firstHeader, digest))
      fsyncSync(file)
      return firstHeader
    })
    renameSync(temporary, path)
    flushFolderSync(folder)
    return { path, header: createdHeader, isOriginal: true, isEmpty: true }
  }

  #readLogFile(path: string): LogFile | undefined {
    const status = ownStatus(path, 'isFile')
    if (status === undefined) return undefined
    const last = lastHeader(path, status.size)
    if (last === undefined) return undefined
    const { header, isEmpty } = last
    const origin = this.#originOf(join(realpathSync(dirname(path)), `${header.id}${suffix}`), status)
    const hasNameOfId = path.endsWith(`${header.id}${suffix}`)
    return { path, header, isEmpty, isOriginal: hasNameOfId && isAtOrigin(header, origin) }
  }

  #originOf(path: string, { ino }: Pick<Stats, 'ino'>): LogOrigin {
    return { host: this.machine.host, machine: this.machine.id, path, file: String(ino) }
  }
}

/** Linux's numbers of overlay and tmpfs, whose files are lost with the container or at a restart. */
const volatileTypes: ReadonlySet<number> = new Set([0x79_4c_76_30, 0x01_02_19_94])

/** Whether the files of a folder are lost with the container or at the machine's next start. */
export function isVolatile(folder: string): boolean {
  try {
    return process.platform === 'linux' && volatileTypes.has(statfsSync(folder).type)
  } catch {
    return false
  }
}

/** Returns the last valid header of a log, and whether the log has only headers; undefined if it has no valid header. */
function lastHeader(path: string, size: number): { header: LogHeader; isEmpty: boolean } | undefined {
  return useAndClose(openPrivate(path).descriptor, (file) => {
    // The length is doubled each time, so that no log is read more than about twice in all.
    for (let length = Math.min(blockBytes, size); ; length = Math.min(2 * length, size)) {
      const tail = Buffer.alloc(length)
      readSync(file, tail, 0, length, size - length)
      const { records } = parseLog(tail, digest)
      const header = records.findLast((record) => record.kind === 'header')
      const isEmpty = header?.heads.length === 0 && records.every(({ kind }) => kind === 'header')
      if (header !== undefined) return { header, isEmpty }
      if (length === size) return undefined
    }
  })
}

/** Returns the status of a file or folder of this user; undefined if another account owns it or it is of another kind. */
function ownStatus(path: string, kind: 'isDirectory' | 'isFile'): Stats | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status === undefined) return undefined
  const isOwn = ownUserId() === undefined || status.uid === ownUserId()
  // A folder may be a symbolic link of the user; a log is never a link.
  const isKind = status[kind]() || (kind === 'isDirectory' && status.isSymbolicLink())
  return isOwn && isKind ? status : undefined
}

const missingFolderCodes = new Set<string | undefined>(['ENOENT', 'ENOTDIR', 'EACCES'])

function namesIn(folder: string, ending: string): string[] {
  try {
    if (ownStatus(folder, 'isDirectory') === undefined) return []
    return readdirSync(folder).filter((name) => name.endsWith(ending))
  } catch (error) {
    if (missingFolderCodes.has(systemErrorCode(error))) return []
    throw diskFailure('read the folder', folder, error)
  }
}

/** Returns the location of the store of a log from before 1.0.0, from the JSON file next to the log. */
function formerStoreOf(path: string): unknown {
  try {
    return (JSON.parse(readOwn(path, maxLocationBytes) ?? '') as { store?: unknown }).store
  } catch {
    return undefined
  }
}

function flushFolderSync(folder: string): void {
  try {
    useAndClose(openSync(folder, 'r'), fsyncSync)
  } catch {
    // Windows and some network disks cannot flush a folder.
  }
}

type FlushFile = (descriptor: number, done: (error: Error | null) => void) => void

/**
 * The number of bytes after which a header is written again, so that a process reads little more than that
 * when it starts.
 */
const maxTailBytes = 65_536

const { O_APPEND, O_RDWR } = constants

/**
 * The attempt log of this machine, to which all of its processes append. Only `flush` is asynchronous, because an
 * attempt is appended between its commit and its request.
 */
export class AttemptLog {
  readonly path: string
  readonly #descriptor: number
  readonly #inode: number
  readonly #flushFile: FlushFile
  /** The newest header that was read or written. */
  header: LogHeader
  /** Whether a complete line that was read has a wrong checksum. */
  isDamaged = false
  #heads: KnownHeads = new Map()
  /** Position of the first byte that was not read yet. */
  #offset: number
  #flushing: Promise<void> = Promise.resolve()
  #nextFlush: Promise<void> | undefined
  #failure: IoError | undefined

  /** `flushFile`: a parameter, so that tests can simulate a disk that fails. */
  constructor({ path, header }: Pick<LogFile, 'path' | 'header'>, flushFile: FlushFile = fdatasync) {
    this.path = path
    this.#flushFile = flushFile
    this.header = header
    this.#offset = header.bytes
    for (const head of header.heads) addKnownHead(this.#heads, head)
    // The file is not created: a log that is gone has to be noticed.
    const { descriptor, status } = withDiskErrors('write', path, () => openPrivate(path, O_RDWR | O_APPEND))
    this.#descriptor = descriptor
    this.#inode = status.ino
  }

  /** The highest attempts of the header's generation in the part of the log that was read. */
  get heads(): Head[] {
    return [...this.#heads.values()].flat()
  }

  /** Reads the records that processes of this machine appended since the last call. */
  readNewRecords(): LogRecord[] {
    return withDiskErrors('read', this.path, () => {
      const { size } = fstatSync(this.#descriptor)
      if (size <= this.#offset) return []
      const content = Buffer.alloc(size - this.#offset)
      const bytesRead = readSync(this.#descriptor, content, 0, content.length, this.#offset)
      const { records, parsedBytes, damagedLineCount } = parseLog(content.subarray(0, bytesRead), digest)
      if (damagedLineCount > 0) this.isDamaged = true
      this.#offset += parsedBytes
      for (const record of records) this.#applyRecord(record)
      return records
    })
  }

  /**
   * Appends all records in one write, since other processes append too. Throws an IoError if they are not written
   * completely.
   */
  append(...records: (LogEntry | LogNote | LogOutcome)[]): void {
    this.#write(records.map((record) => formatRecord(record, digest)).join(''))
    if (this.#offset - this.header.bytes > maxTailBytes) this.writeHeader({})
  }

  /**
   * Writes a header with changed facts about the store, and with the position of the first line that a
   * process has to read when it starts. With a new generation, `heads` are the newest attempts of the store
   * in it.
   */
  writeHeader(
    changes:
      | Partial<Pick<LogHeader, 'store' | 'register' | 'movedTo'>>
      | Pick<LogHeader, 'generation' | 'heads'>,
  ): void {
    this.readNewRecords()
    const header: LogHeader = { ...this.header, heads: this.heads, ...changes, bytes: this.#offset }
    this.#write(formatRecord(header, digest))
    this.readNewRecords()
  }

  /**
   * Flushes to the disk all records that were appended before the call. Concurrent calls share a flush. A
   * failed flush is never repeated, because the system may have dropped the data that it could not write.
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

  #applyRecord(record: LogRecord): void {
    if (record.kind === 'outcome') return
    if (record.kind === 'header') {
      if (record.generation !== this.header.generation) this.#heads = new Map()
      this.header = record
      for (const head of record.heads) addKnownHead(this.#heads, head)
    } else if (record.generation === this.header.generation) addKnownHead(this.#heads, record)
  }

  #write(text: string): void {
    if (this.#failure !== undefined) throw this.#failure
    withDiskErrors('write', this.path, () => {
      if (statSync(this.path).ino !== this.#inode) {
        throw new IoError(`the attempt log "${this.path}" was replaced while it was in use`, {
          hint: 'Nothing was sent. See what is known with: refcheck store check',
        })
      }
      const bytes = Buffer.from(text)
      if (writeSync(this.#descriptor, bytes) !== bytes.length)
        throw Object.assign(new Error('the line is not whole'), { code: 'ENOSPC' })
    })
  }
}
