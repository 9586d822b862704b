import { closeSync, lstatSync, openSync, unlinkSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { IoError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import type { Random } from '../host/random.ts'
import { diskFailure, errorNumber } from './failure.ts'
import { readOwn } from './private-modes.ts'
import { writeWhole } from './whole-file.ts'

/** Who holds a lock: a process id of this machine, and since when (ISO 8601). */
interface Holder {
  pid: number
  since: string
}

export interface ClaimOptions extends LockOptions {
  /** The claiming process's own id. */
  pid: number
  random: Random
}

export type Claim =
  | {
      held: true
      /** Takes the name away, then gives the lock up; a second call does nothing. */
      release(): void
    }
  | {
      held: false
      /** Undefined in the moment between taking the lock and writing one's name. */
      holder: Holder | undefined
    }

/**
 * Takes the lock at `path` and writes its holder to `<path>.holder`, so that a second process
 * can name it. Only the lock decides; the name is for people.
 */
export async function claim(path: string, options: ClaimOptions): Promise<Claim> {
  const record = `${path}.holder`
  const lock = await acquire(path, options)
  if (lock === undefined) return { held: false, holder: readHolder(record) }
  let held = true
  const release = (): void => {
    if (!held) return
    held = false
    try {
      removeName(record)
    } finally {
      lock.release()
    }
  }
  try {
    // A name left by a killed holder would be taken for ours.
    removeName(record)
    const holder: Holder = { pid: options.pid, since: new Date(options.clock.now()).toISOString() }
    await writeWhole(record, `${JSON.stringify(holder)}\n`, { random: options.random })
  } catch (error) {
    release()
    throw error
  }
  return { held: true, release }
}

function removeName(record: string): void {
  try {
    unlinkSync(record)
  } catch (error) {
    if (errorNumber(error) !== 'ENOENT') throw diskFailure('remove', record, error)
  }
}

/**
 * The holder of the lock at `path`, where there is one that has recorded its name. It takes the lock for a
 * moment to see, so a claim made at that very moment has to be patient.
 */
export async function holderOf(path: string, clock: LockOptions['clock']): Promise<Holder | undefined> {
  const holder = readHolder(`${path}.holder`)
  if (holder === undefined) return undefined
  const lock = await acquire(path, { clock, waitMs: 0 })
  lock?.release()
  return lock === undefined ? holder : undefined
}

function readHolder(record: string): Holder | undefined {
  try {
    const { pid, since } = JSON.parse(readOwn(record, 1024) ?? '{}') as Partial<Record<string, unknown>>
    const isHolder =
      Number.isSafeInteger(pid) && typeof since === 'string' && !Number.isNaN(Date.parse(since))
    return isHolder ? { pid: Number(pid), since } : undefined
  } catch {
    // Half a name is none, and another account's is not believed.
    return undefined
  }
}

/** An exclusive lock this process holds. */
interface Lock {
  /** Gives it up; a second call does nothing. */
  release(): void
}

interface LockOptions {
  clock: Clock
  /** Milliseconds to go on trying; 0 tries once. */
  waitMs: number
}

/** SQLite's primary result codes for "locked by another process" and "not writable". */
const sqliteBusy = 5
const sqliteReadOnly = 8

const firstPauseMs = 2
const longestPauseMs = 25

/**
 * Databases whose lock is held. A handle without a reference is collected and closed, which would let a
 * second holder in, so they are referenced here whatever the caller does with the Lock.
 */
const held = new Set<DatabaseSync>()

/**
 * Takes the exclusive lock at `path`, or undefined once `waitMs` have gone by without it. The folder
 * must exist; the file (0600) is made when missing and never removed. The lock is SQLite's own
 * (`BEGIN EXCLUSIVE` on a file used for nothing else), so the kernel frees it however the holder ends;
 * it also keeps out a second taker within this process. It never blocks the event loop.
 */
export async function acquire(path: string, options: LockOptions): Promise<Lock | undefined> {
  const { clock, waitMs } = options
  createLockFile(path)
  const deadline = clock.monotonic() + waitMs
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
    const database = lockOnce(path)
    if (database !== undefined) return lockOn(database)
    const left = deadline - clock.monotonic()
    if (left <= 0) return undefined
    await clock.sleep(Math.min(pause, left))
  }
}

function lockOn(database: DatabaseSync): Lock {
  held.add(database)
  return {
    release() {
      if (held.delete(database)) database.close()
    },
  }
}

/**
 * Made by us so that its mode is right from the start. Closing any descriptor of a file drops every
 * POSIX lock this process holds on it: hence one synchronous step, during which this process cannot have
 * locked the new file, and of an existing one only the status is read.
 */
function createLockFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return
  } catch (error) {
    if (errorNumber(error) !== 'EEXIST') throw diskFailure('create the lock file', path, error)
  }
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new IoError(`cannot use the lock file "${path}": it is not a regular file`, {
      hint: 'Move it away, then run the same command again.',
    })
  }
}

function lockOnce(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { timeout: 0 })
    // The journal stays in memory and nothing is ever committed: the file keeps its zero bytes.
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec('BEGIN EXCLUSIVE')
    // On a file that can only be read, BEGIN EXCLUSIVE takes a shared lock without an error; a write fails.
    database.exec('PRAGMA user_version = 1')
    return database
  } catch (error) {
    if (database?.isOpen === true) database.close()
    if (resultCode(error) === sqliteBusy) return undefined
    if (resultCode(error) === sqliteReadOnly) {
      throw new IoError(`cannot lock "${path}": it is not writable`, {
        hint: 'Check who owns the file, and whether its disk is read-only.',
        cause: error,
      })
    }
    throw new IoError(`cannot lock "${path}": ${reason(error)}`, {
      hint: 'Check that the file is empty and writable. If nothing else is running, remove it.',
      cause: error,
    })
  }
}

/** The primary part of SQLite's (possibly extended) result code. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'SQLite could not open it'
}
