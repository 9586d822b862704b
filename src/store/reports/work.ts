import { closeSync, constants, lstatSync, openSync, type Stats, unlinkSync, writeSync } from 'node:fs'
import { lstat, mkdir, open, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

import { type RefcheckError, IoError, TimedOutError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'
import { ownUserId } from '../../host/process.ts'
import { type Claim, claimLock } from '../../disk/lock.ts'
import { openPrivate, readOwn } from '../../disk/private-modes.ts'
import { diskFailure, systemErrorCode } from '../../disk/failure.ts'
import { localTime } from '../../domain/wording/time.ts'
import { HeldFolder } from '../../disk/held-folder.ts'

export interface WorkOptions {
  clock: Clock
  random: Random
  /** The id of this process. */
  pid: number
}

/** How to wait for another run that uses the folder. */
export interface Patience {
  /** The maximum wait in milliseconds. */
  waitMs: number
  signal: AbortSignal
  /** Called once with a description of the other run, such as `another run (process 4711, since …)`. */
  onWait: (other: string) => void
}

const lockName = 'lock'
const journalName = 'journal'
/** Maximum size of a journal that is read: much more than that of a run with 100,000 reports. */
const maxJournalBytes = 100 * 1024 * 1024
const temporaryName = /^[0-9a-f]{16}\.part$/
/** Maximum number of attempts to lock. An attempt fails if the last holder removes the lock file meanwhile. */
const maxAttempts = 20
/** The time between two attempts to get the lock of another run, in ms. */
const pauseMs = 250

/**
 * A hidden folder inside an output folder, which exists only while a run works in it. It contains the run's lock, its
 * temporary files (on the same disk as the target files, and only here, so that a later run finds those of a killed
 * run), and a journal of the files that were stored. A run gets the lock only when the run that had it has ended.
 */
export class WorkFolder {
  readonly path: string
  /** The lines in the journal of a run that was killed; empty if there was none. */
  readonly oldJournal: readonly string[]
  readonly #folder: HeldFolder
  readonly #claim: Claim & { isClaimed: true }
  readonly #random: Random
  #journal: number | undefined

  private constructor(
    folder: HeldFolder,
    oldJournal: readonly string[],
    claim: Claim & { isClaimed: true },
    random: Random,
  ) {
    this.path = folder.path
    this.oldJournal = oldJournal
    this.#folder = folder
    this.#claim = claim
    this.#random = random
  }

  /**
   * Locks the folder and removes the temporary files in it. If another run has it, throws IoError at once, or with
   * `patience` waits and throws TimedOutError when the wait is over.
   */
  static async open(path: string, options: WorkOptions, patience?: Patience): Promise<WorkFolder> {
    const claim = await waitForClaim(path, options, patience)
    let folder: HeldFolder | undefined
    try {
      folder = await openAndCheck(path)
      const oldJournal = await removeOldFiles(folder.systemPath)
      return new WorkFolder(folder, oldJournal, claim, options.random)
    } catch (error) {
      folder?.close()
      claim.release()
      throw folder?.withShownPath(error) ?? error
    }
  }

  get status(): Stats {
    return this.#folder.status
  }

  /**
   * Returns the error with `path` in its message and hint in place of the path that system calls use (`systemPath` of
   * HeldFolder).
   */
  withShownPath(error: unknown): unknown {
    return this.#folder.withShownPath(error)
  }

  /** Returns a new path for a temporary file in the folder. */
  temporaryPath(): string {
    return join(this.#folder.systemPath, `${this.#random.bytes(8).toString('hex')}.part`)
  }

  /**
   * Appends a line to the journal. When this returns, the operating system has the line, so that it outlives this
   * process.
   */
  appendToJournal(line: string): void {
    const path = join(this.#folder.systemPath, journalName)
    try {
      this.#journal ??= openJournal(path)
      writeSync(this.#journal, `${line}\n`)
    } catch (error) {
      throw error instanceof IoError ? error : diskFailure('write', path, error)
    }
  }

  /** Removes the folder with its content. */
  async remove(): Promise<void> {
    this.#closeJournal()
    const lock = join(this.#folder.systemPath, lockName)
    await rm(join(this.#folder.systemPath, journalName), { force: true })
    const isLockRemoved = tryUnlink(lock)
    this.#claim.release()
    // On Windows the first removal fails because the file is open, so it is repeated after the release. If another
    // process has locked the folder by then, this removal and `rmdir` fail, and the folder belongs to that process.
    if (!isLockRemoved) await rm(lock, { force: true }).catch(() => undefined)
    this.#folder.close()
    await rmdir(this.path).catch(() => undefined)
  }

  /** Releases the folder but keeps the journal for the next run. */
  abandon(): void {
    this.#closeJournal()
    this.#folder.close()
    this.#claim.release()
  }

  #closeJournal(): void {
    if (this.#journal !== undefined) closeSync(this.#journal)
    this.#journal = undefined
  }
}

/** Locks the folder. Waits as long as `patience` allows if another run has the lock. */
async function waitForClaim(
  path: string,
  options: WorkOptions,
  patience: Patience | undefined,
): Promise<Claim & { isClaimed: true }> {
  const { clock } = options
  const deadline = clock.monotonic() + (patience?.waitMs ?? 0)
  for (let isFirst = true; ; isFirst = false) {
    const claim = await tryClaim(path, options)
    if (claim.isClaimed) return claim
    const remainingMs = deadline - clock.monotonic()
    if (patience === undefined || remainingMs <= 0) throw busyError(path, claim, patience !== undefined)
    if (isFirst) patience.onWait(otherRunText(claim))
    await clock.sleep(Math.min(pauseMs, remainingMs), patience.signal)
    // The other run removes the output folder if that run created the folder and stored nothing in it.
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  }
}

/**
 * Locks the lock file, and then checks that it is still the file at that path: a lock on a file that its last holder
 * has removed meanwhile would exclude no other process.
 */
async function tryClaim(path: string, options: WorkOptions): Promise<Claim> {
  const lock = join(path, lockName)
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeFolder(path)
      const lockStatus = createLock(lock)
      const claim = await claimLock(lock, { ...options, waitMs: 0 })
      if (!claim.isClaimed) return claim
      const laterStatus = lstatSync(lock, { throwIfNoEntry: false })
      if (laterStatus !== undefined && isSameFile(lockStatus, laterStatus)) return claim
      claim.release()
    } catch (error) {
      if (attempt >= maxAttempts || !isRemoved(path, lock)) throw error
    }
  }
}

/**
 * Creates the lock file if it is missing, and returns its status. Closing any descriptor of a file drops all locks that
 * this process has on it. So an existing lock file is never opened here; a new one is closed before anything can lock
 * it.
 */
function createLock(lock: string): Stats {
  const existing = lstatSync(lock, { throwIfNoEntry: false })
  if (existing !== undefined) return existing
  try {
    closeSync(openSync(lock, 'wx', 0o600))
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST')
      throw diskFailure('write to the folder', join(lock, '..', '..'), error)
  }
  return lstatSync(lock)
}

function tryUnlink(lock: string): boolean {
  try {
    unlinkSync(lock)
    return true
  } catch {
    return false
  }
}

const isSameFile = (one: Stats, other: Stats): boolean => one.ino === other.ino && one.dev === other.dev

/** Returns whether the folder or its lock file is missing, because the last holder removed it meanwhile. */
function isRemoved(path: string, lock: string): boolean {
  const statOf = (each: string): Stats | undefined => lstatSync(each, { throwIfNoEntry: false })
  return statOf(path) === undefined || statOf(lock) === undefined
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw diskFailure('write to the folder', join(path, '..'), error)
    const status = await lstat(path).catch(() => undefined)
    if (status === undefined) return
    const why = await findReasonNotToUse(path, status)
    if (why !== undefined) throw unsafeFolderError(path, why)
  }
}

/**
 * Returns why the folder must not be used; undefined if only this account can use it. If others may write to the output
 * folder, they may have made a folder, file or link of this name.
 */
async function findReasonNotToUse(path: string, status: Stats): Promise<string | undefined> {
  if (!status.isDirectory()) return 'it is not a folder'
  const ownId = ownUserId()
  if (ownId === undefined) return undefined
  if (status.uid !== ownId) return 'it belongs to another user of this machine'
  const isAccessibleToOthers = (status.mode & 0o077) !== 0 && (await tryWhetherModesWork(path, status))
  return isAccessibleToOthers ? 'other users of this machine may write to it or read it' : undefined
}

/**
 * Opens the folder that contains the lock. In a folder that others may write to, it may have been replaced meanwhile,
 * so it is checked again.
 */
async function openAndCheck(path: string): Promise<HeldFolder> {
  let folder
  try {
    folder = HeldFolder.openNoLink(path)
  } catch (error) {
    throw diskFailure('use the folder', path, error)
  }
  // On Linux `systemPath` is a link (/proc/self/fd/N), and `/.` makes the check follow it.
  const why = await findReasonNotToUse(`${folder.systemPath}/.`, folder.status)
  if (why === undefined) return folder
  folder.close()
  throw unsafeFolderError(path, why)
}

/**
 * Returns whether permissions are effective in a file system; on a USB stick or a network drive all folders have the
 * same. Changes the mode of the folder for a moment to find out.
 */
async function tryWhetherModesWork(path: string, { mode }: Stats): Promise<boolean> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    await folder.chmod(0o700).catch(() => undefined)
    const { mode: after } = await folder.stat()
    await folder.chmod(mode & 0o7777).catch(() => undefined)
    return (after & 0o077) === 0
  } finally {
    await folder.close()
  }
}

function unsafeFolderError(path: string, why: string): IoError {
  return new IoError(`cannot work in "${path}": ${why}`, {
    hint: 'Move it away, then run the same command again.',
  })
}

/**
 * Opens the journal to append to. It contains names of people, so it must be no link, no pipe, and no file that
 * another account owns or may write to.
 */
function openJournal(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants
  const { descriptor, status } = openPrivate(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
  if (status.nlink === 1) return descriptor
  closeSync(descriptor)
  throw unsafeFolderError(path, 'it is not a regular file of its own')
}

type OtherClaim = Claim & { isClaimed: false }

function busyError(path: string, claim: OtherClaim, isAfterWait: boolean): RefcheckError {
  const Kind = isAfterWait ? TimedOutError : IoError
  return new Kind(`${otherRunText(claim)} is downloading reports into "${join(path, '..')}"`, {
    hint: isAfterWait
      ? 'Wait longer with --timeout, or use another folder with --output.'
      : 'Wait until it ends, or use another folder.',
  })
}

function otherRunText({ holder }: OtherClaim): string {
  return `another run${holder === undefined ? '' : ` (process ${holder.pid}, since ${localTime(holder.since)})`}`
}

/** Removes the files of a killed run except its journal. Returns the journal's lines. */
async function removeOldFiles(path: string): Promise<string[]> {
  const journal = join(path, journalName)
  try {
    for (const name of await readdir(path)) {
      // The second form is the temporary file for the name of the lock's holder.
      if (temporaryName.test(name) || /^\.lock\.holder\..*\.tmp$/.test(name)) {
        await rm(join(path, name), { force: true })
      }
    }
    return (
      readOwn(journal, maxJournalBytes)
        ?.split('\n')
        .filter((line) => line !== '') ?? []
    )
  } catch (error) {
    if (error instanceof IoError) throw error
    throw diskFailure('read', journal, error)
  }
}
