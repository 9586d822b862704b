import { unlinkSync } from 'node:fs'

import type { Random } from '../host/random.ts'
import { diskFailure, errorNumber } from './failure.ts'
import { acquire, type LockOptions } from './lock.ts'
import { readOwn } from './private-modes.ts'
import { writeWhole } from './whole-file.ts'

/** Who holds a lock: a process id of this machine, and since when (ISO 8601). */
export interface Holder {
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
 * Takes the lock at `path` and writes who has it beside it (`<path>.holder`), so that whoever comes
 * second can say so. Only the lock decides; the name is for people.
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
 * Who holds the lock at `path`, where anybody does that wrote their name down. It takes the lock for a
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
