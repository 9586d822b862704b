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
  /** This process's own id. */
  pid: number
}

/** How to wait for another run that has the folder. */
export interface Patience {
  /** Milliseconds to wait at most. */
  waitMs: number
  signal: AbortSignal
  /** Called once, with the other run (`another run (process 4711, since …)`), when there is one. */
  onWait: (other: string) => void
}

const lockName = 'lock'
const journalName = 'journal'
/** Far more than the lines of a run of 100,000 reports. */
const maxJournalBytes = 100 * 1024 * 1024
const temporary = /^[0-9a-f]{16}\.part$/
/** A holder that ends removes its lock; a process that came between tries again. */
const maxTries = 20
/** Between two looks at the lock of another run. */
const pauseMs = 250

/**
 * A hidden folder inside an output folder, there only while a run works in it: its lock, its temporary
 * files (on the disk of the targets, and nowhere else, so that a later run finds what a killed one
 * left), and a journal of what was put in place. While it is held, every earlier holder has ended.
 */
export class WorkFolder {
  readonly path: string
  /** The journal of a run that did not end; empty where there was none. */
  readonly left: readonly string[]
  readonly #folder: HeldFolder
  readonly #claim: Claim & { isClaimed: true }
  readonly #random: Random
  #journal: number | undefined

  private constructor(
    folder: HeldFolder,
    left: readonly string[],
    held: Claim & { isClaimed: true },
    random: Random,
  ) {
    this.path = folder.path
    this.left = left
    this.#folder = folder
    this.#claim = held
    this.#random = random
  }

  /**
   * Takes the folder and removes what is left in it. Where another run has it, throws IoError, or with `patience` waits,
   * and throws TimedOutError when the wait is over.
   */
  static async open(path: string, options: WorkOptions, patience?: Patience): Promise<WorkFolder> {
    const held = await acquire(path, options, patience)
    let folder: HeldFolder | undefined
    try {
      folder = await opened(path)
      const left = await sweep(folder.at)
      return new WorkFolder(folder, left, held, options.random)
    } catch (error) {
      folder?.close()
      held.release()
      throw folder?.withShownPath(error) ?? error
    }
  }

  get status(): Stats {
    return this.#folder.status
  }

  /** A failure with the path of the folder, as HeldFolder. */
  named(error: unknown): unknown {
    return this.#folder.withShownPath(error)
  }

  temporaryPath(): string {
    return join(this.#folder.at, `${this.#random.bytes(8).toString('hex')}.part`)
  }

  /** Appends a line; it is with the system, and outlives this process, when this returns. */
  note(line: string): void {
    const path = join(this.#folder.at, journalName)
    try {
      this.#journal ??= openJournal(path)
      writeSync(this.#journal, `${line}\n`)
    } catch (error) {
      throw error instanceof IoError ? error : diskFailure('write', path, error)
    }
  }

  /** Removes it with all that is in it. */
  async remove(): Promise<void> {
    this.#closeJournal()
    const lock = join(this.#folder.at, lockName)
    await rm(join(this.#folder.at, journalName), { force: true })
    const isRemoved = removedNow(lock)
    this.#claim.release()
    // Windows removes no open file. A process that came in meanwhile fails both, and the folder is its own.
    if (!isRemoved) await rm(lock, { force: true }).catch(() => undefined)
    this.#folder.close()
    await rmdir(this.path).catch(() => undefined)
  }

  /** Lets go of it and leaves the journal to the next run. */
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

async function acquire(
  path: string,
  options: WorkOptions,
  patience: Patience | undefined,
): Promise<Claim & { isClaimed: true }> {
  const { clock } = options
  const deadline = clock.monotonic() + (patience?.waitMs ?? 0)
  for (let isFirst = true; ; isFirst = false) {
    const claimed = await tryClaim(path, options)
    if (claimed.isClaimed) return claimed
    const left = deadline - clock.monotonic()
    if (patience === undefined || left <= 0) throw busy(path, claimed, patience !== undefined)
    if (isFirst) patience.onWait(otherRun(claimed))
    await clock.sleep(Math.min(pauseMs, left), patience.signal)
    // The other run has removed the folder if it made it and put nothing into it.
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  }
}

/**
 * The lock, on the file that has its name: one taken on a file that its last holder has just removed
 * would exclude no process.
 */
async function tryClaim(path: string, options: WorkOptions): Promise<Claim> {
  const lock = join(path, lockName)
  for (let tries = 1; ; tries += 1) {
    try {
      await makeFolder(path)
      const before = createLock(lock)
      const claimed = await claimLock(lock, { ...options, waitMs: 0 })
      if (!claimed.isClaimed) return claimed
      const after = lstatSync(lock, { throwIfNoEntry: false })
      if (after !== undefined && same(before, after)) return claimed
      claimed.release()
    } catch (error) {
      if (tries >= maxTries || !gone(path, lock)) throw error
    }
  }
}

/** The lock's file, made where there is none, in one step during which no process here can have locked it. */
function createLock(lock: string): Stats {
  const there = lstatSync(lock, { throwIfNoEntry: false })
  if (there !== undefined) return there
  try {
    closeSync(openSync(lock, 'wx', 0o600))
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST')
      throw diskFailure('write to the folder', join(lock, '..', '..'), error)
  }
  return lstatSync(lock)
}

function removedNow(lock: string): boolean {
  try {
    unlinkSync(lock)
    return true
  } catch {
    return false
  }
}

const same = (a: Stats, b: Stats): boolean => a.ino === b.ino && a.dev === b.dev

/** Whether the folder or its lock has gone: then its holder ended in between. */
function gone(path: string, lock: string): boolean {
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
    const why = await notOurs(path, status)
    if (why !== undefined) throw planted(path, why)
  }
}

/**
 * In a folder that others may write to, anything can stand under the names used here: only a folder that this
 * account made for itself is worked in.
 */
async function notOurs(path: string, status: Stats): Promise<string | undefined> {
  if (!status.isDirectory()) return 'it is not a folder'
  const own = ownUserId()
  if (own === undefined) return undefined
  if (status.uid !== own) return 'it belongs to another user of this machine'
  const isOpen = (status.mode & 0o077) !== 0 && (await hasModes(path, status))
  return isOpen ? 'other users of this machine may write to it or read it' : undefined
}

/** The folder of the lock; in one that others may write to it may be another one by now. */
async function opened(path: string): Promise<HeldFolder> {
  let folder
  try {
    folder = HeldFolder.openNoLink(path)
  } catch (error) {
    throw diskFailure('use the folder', path, error)
  }
  // The name of a descriptor is a link itself.
  const why = await notOurs(`${folder.at}/.`, folder.status)
  if (why === undefined) return folder
  folder.close()
  throw planted(path, why)
}

/** Whether a mode means anything there; on a USB stick or a network drive all folders have the same. */
async function hasModes(path: string, { mode }: Stats): Promise<boolean> {
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

function planted(path: string, why: string): IoError {
  return new IoError(`cannot work in "${path}": ${why}`, {
    hint: 'Move it away, then run the same command again.',
  })
}

/** A journal to append to, which holds names: no link, no pipe, and no file that another account owns or may write to. */
function openJournal(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants
  const { descriptor, status } = openPrivate(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
  if (status.nlink === 1) return descriptor
  closeSync(descriptor)
  throw planted(path, 'it is not a regular file of its own')
}

type Other = Claim & { isClaimed: false }

function busy(path: string, claimed: Other, isAfterWait: boolean): RefcheckError {
  const Kind = isAfterWait ? TimedOutError : IoError
  return new Kind(`${otherRun(claimed)} is downloading reports into "${join(path, '..')}"`, {
    hint: isAfterWait
      ? 'Wait longer with --timeout, or use another folder with --output.'
      : 'Wait until it ends, or use another folder.',
  })
}

function otherRun({ holder }: Other): string {
  return `another run${holder === undefined ? '' : ` (process ${holder.pid}, since ${localTime(holder.since)})`}`
}

/** Removes what a killed run left, but for its journal, whose lines it returns. */
async function sweep(path: string): Promise<string[]> {
  const journal = join(path, journalName)
  try {
    for (const name of await readdir(path)) {
      // The second is what the lock's holder writes its name into.
      if (temporary.test(name) || /^\.lock\.holder\..*\.tmp$/.test(name)) {
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
