import { closeSync, lstatSync, openSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { IoError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import type { Random } from '../host/random.ts'
import { diskFailure, systemErrorCode } from './failure.ts'
import { requireOwnLinks } from './held-folder.ts'
import { readOwn } from './private-modes.ts'
import { writeFileAtomically } from './whole-file.ts'

/** The process that has the lock, and the time since when (ISO 8601). */
interface LockHolder {
  pid: number
  since: string
}

export interface ClaimOptions extends LockOptions {
  /** Id of the claiming process. */
  pid: number
  random: Random
}

export type Claim =
  | {
      isClaimed: true
      /** Removes the holder file, then releases the lock; a second call does nothing. */
      release(): void
    }
  | {
      isClaimed: false
      /** Undefined if the other process has the lock but has not written its holder file yet. */
      holder: LockHolder | undefined
    }

/**
 * Acquires the lock at `path` and writes its holder to `<path>.holder`, so that other processes can report the
 * holder. Only the lock is decisive; the holder file is for messages.
 */
export async function claimLock(path: string, options: ClaimOptions): Promise<Claim> {
  const holderPath = `${path}.holder`
  const lock = await acquireLock(path, options)
  if (lock === undefined) return { isClaimed: false, holder: readHolder(holderPath) }
  let isHeld = true
  const release = (): void => {
    if (!isHeld) return
    isHeld = false
    try {
      removeHolderFile(holderPath)
    } finally {
      lock.release()
    }
  }
  try {
    // The holder file of a killed process would be read as that of this one.
    removeHolderFile(holderPath)
    const holder: LockHolder = { pid: options.pid, since: new Date(options.clock.now()).toISOString() }
    await writeFileAtomically(holderPath, `${JSON.stringify(holder)}\n`, { random: options.random })
  } catch (error) {
    release()
    throw error
  }
  return { isClaimed: true, release }
}

function removeHolderFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw diskFailure('remove', path, error)
  }
}

/**
 * Returns the holder of the lock at `path`, if another process has it and has written its holder file. Acquires the
 * lock for a moment to find out, so a claim at the same moment must retry.
 */
export async function findHolder(path: string, clock: LockOptions['clock']): Promise<LockHolder | undefined> {
  const holder = readHolder(`${path}.holder`)
  if (holder === undefined) return undefined
  const lock = await acquireLock(path, { clock, waitMs: 0 })
  lock?.release()
  return lock === undefined ? holder : undefined
}

function readHolder(holderPath: string): LockHolder | undefined {
  try {
    const { pid, since } = JSON.parse(readOwn(holderPath, 1024) ?? '{}') as Partial<Record<string, unknown>>
    const isHolder =
      Number.isSafeInteger(pid) && typeof since === 'string' && !Number.isNaN(Date.parse(since))
    return isHolder ? { pid: Number(pid), since } : undefined
  } catch {
    // A partly written file has no holder, and a file of another account is not trusted.
    return undefined
  }
}

/** An exclusive lock that this process has. */
interface Lock {
  /** Releases the lock; a second call does nothing. */
  release(): void
}

interface LockOptions {
  clock: Clock
  /** Milliseconds for which acquiring is retried; 0 tries once. */
  waitMs: number
}

/** SQLite's primary result codes for "locked by another process" and "not writable". */
const sqliteBusy = 5
const sqliteReadOnly = 8

const firstPauseMs = 2
const maxPauseMs = 25

/**
 * Databases that have a lock. A handle without a reference would be collected and closed, which would release the
 * lock, so each is referenced here until it is released.
 */
const lockedDatabases = new Set<DatabaseSync>()

/**
 * Acquires the exclusive lock at `path`; returns undefined if that takes longer than `waitMs`. The folder must exist;
 * the file (0600) is created if it is missing and is never removed. The lock is SQLite's (`BEGIN EXCLUSIVE` on a file
 * used for nothing else), so the kernel releases it however the process ends. It excludes other claims of this
 * process too, and waiting does not block the event loop.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock | undefined> {
  const { clock, waitMs } = options
  createLockFile(path)
  const deadline = clock.monotonic() + waitMs
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, maxPauseMs)) {
    const database = tryLock(path)
    if (database !== undefined) return createLock(database)
    const remainingMs = deadline - clock.monotonic()
    if (remainingMs <= 0) return undefined
    await clock.sleep(Math.min(pause, remainingMs))
  }
}

function createLock(database: DatabaseSync): Lock {
  lockedDatabases.add(database)
  return {
    release() {
      if (lockedDatabases.delete(database)) database.close()
    },
  }
}

/**
 * Creates the lock file before SQLite would, so that it has the right mode from the start. Closing any descriptor of
 * a file drops all POSIX locks of the process on it. Therefore a new file is created and closed in one synchronous
 * step, before this process can lock it, and of an existing file only the status is read, without opening it.
 */
function createLockFile(path: string): void {
  requireOwnLinks(dirname(path))
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw diskFailure('create the lock file', path, error)
  }
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new IoError(`cannot use the lock file "${path}": it is not a regular file`, {
      hint: 'Move it away, then run the same command again.',
    })
  }
}

function tryLock(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { timeout: 0 })
    // The journal stays in memory and nothing is ever committed, so the file remains empty.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec('BEGIN EXCLUSIVE')
    // On a read-only file, BEGIN EXCLUSIVE acquires a shared lock without an error; this write then fails.
    database.exec('PRAGMA user_version = 1')
    return database
  } catch (error) {
    if (database?.isOpen === true) database.close()
    if (primaryResultCode(error) === sqliteBusy) return undefined
    if (primaryResultCode(error) === sqliteReadOnly) {
      throw new IoError(`cannot lock "${path}": it is not writable`, {
        hint: 'Check who owns the file, and whether its disk is read-only.',
        cause: error,
      })
    }
    throw new IoError(`cannot lock "${path}": ${messageOf(error)}`, {
      hint: 'Check that the file is empty and writable. If nothing else is running, remove it.',
      cause: error,
    })
  }
}

/** Returns the primary part of SQLite's result code, which may be extended. */
function primaryResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'SQLite could not open it'
}
