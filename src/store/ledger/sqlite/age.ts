import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { IoError } from '../../../errors/kinds.ts'
import { diskFailure, errorNumber } from '../../../disk/failure.ts'
import type { Database } from './database.ts'

const runsName = 'runs'

/** A number kept beside the store, which stays when an older copy of the store is put in its place. */
export interface Tally {
  read(): number
  write(runs: number): void
}

/**
 * Tells a store that was put back from a backup: it knows of fewer runs than were begun on it, so orders
 * may be missing, and what they were made of would be ordered again. A run is counted in the store first
 * and beside it afterwards, so that the count beside it is never ahead of a store that is as it was left.
 */
export class Age {
  readonly #database: Database
  readonly #tally: Tally

  constructor(database: Database, tally: Tally) {
    this.#database = database
    this.#tally = tally
  }

  /** Counts a run that is about to order; see `require`. */
  begin(): void {
    this.require()
    this.#tally.write(this.#database.transaction(() => this.#set(this.#runs() + 1)))
  }

  /** Throws an IoError where the store is older than what was ordered with it. */
  require(): void {
    const missing = this.missing()
    if (missing > 0) {
      throw new IoError(
        `the store "${this.#database.location}" is older than the orders made with it: ${inWords(missing)} missing`,
        {
          hint: 'Nothing was sent, since people could be ordered twice (was a backup put back, or the file removed?). "refcheck store check" tells what to do.',
        },
      )
    }
  }

  /** How many runs this store does not know of; 0 for one that is as it was left. */
  missing(): number {
    return Math.max(0, this.#tally.read() - this.#runs())
  }

  /** A person knows what is missing, and goes on. */
  accept(): void {
    const runs = this.#tally.read()
    this.#database.transaction(() => this.#set(Math.max(runs, this.#runs())))
  }

  #runs(): number {
    const found = this.#database.get('SELECT value FROM meta WHERE name = :name', { name: runsName }) as
      | { value: Uint8Array }
      | undefined
    return found === undefined ? 0 : numberIn(Buffer.from(found.value).toString())
  }

  #set(runs: number): number {
    this.#database.run('INSERT OR REPLACE INTO meta (name, value) VALUES (:name, :value)', {
      name: runsName,
      value: Buffer.from(String(runs)),
    })
    return runs
  }
}

/** `1 run is`, `2 runs are`. */
function inWords(runs: number): string {
  return runs === 1 ? '1 run is' : `${runs} runs are`
}

/** In the folder of the store's locks, which is there whenever something is ordered. */
export function fileTally(location: string): Tally {
  const path = join(`${location}.locks`, 'runs')
  return {
    read() {
      try {
        return numberIn(readFileSync(path, 'utf8'))
      } catch (error) {
        if (errorNumber(error) === 'ENOENT') return 0
        throw diskFailure('read', path, error)
      }
    },
    write(runs) {
      try {
        writeFileSync(path, `${runs}\n`, { mode: 0o600 })
      } catch (error) {
        throw diskFailure('write', path, error)
      }
    },
  }
}

/** For a store that ends with its process. */
export const noTally: Tally = { read: () => 0, write: () => undefined }

/** Half-written digits count for nothing. */
function numberIn(text: string): number {
  return /^\d{1,15}\n?$/.test(text) ? Number(text) : 0
}
