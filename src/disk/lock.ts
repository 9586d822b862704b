import { closeSync, lstatSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { IoError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import { diskFailure, errorNumber } from './failure.ts'

/** An exclusive lock this process holds. */
export interface Lock {
  /** Gives it up; a second call does nothing. */
  release(): void
}

export interface LockOptions {
  clock: Clock
  /** Milliseconds to go on trying; 0 tries once. */
  waitMs: number
  signal?: AbortSignal | undefined
}

/** SQLite's primary result codes for "somebody else has it" and "it is not writable". */
const sqliteBusy = 5
const sqliteReadOnly = 8

const firstPauseMs = 2
const longestPauseMs = 25

/**
 * Databases whose lock is held. A handle nobody refers to is collected and closed, which would let a
 * second holder in, so they are kept here whatever the caller does with the Lock.
 */
const held = new Set<DatabaseSync>()

/**
 * Takes the exclusive lock at `path`, or undefined once `waitMs` have gone by without it. The folder
 * must exist; the file (0600) is made when missing and never removed. The lock is SQLite's own
 * (`BEGIN EXCLUSIVE` on a file used for nothing else), so the kernel frees it however the holder ends;
 * it also keeps out a second taker within this process. It never blocks the event loop.
 */
export async function acquire(path: string, options: LockOptions): Promise<Lock | undefined> {
  const { clock, waitMs, signal } = options
  createLockFile(path)
  const deadline = clock.monotonic() + waitMs
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
    signal?.throwIfAborted()
    const database = lockOnce(path)
    if (database !== undefined) return lockOn(database)
    const left = deadline - clock.monotonic()
    if (left <= 0) return undefined
    await clock.sleep(Math.min(pause, left), signal)
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
 * POSIX lock this process holds on it: hence one synchronous step, in which nobody here can have
 * locked the new file, and an existing one is looked at but never opened.
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
    // On a file that can only be read, BEGIN EXCLUSIVE quietly takes a shared lock; a write tells.
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
