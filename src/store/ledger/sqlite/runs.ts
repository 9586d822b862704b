import type { Database } from './connection.ts'
import { missingRuns, olderThanItsOrders } from '../../../domain/store/age.ts'
import { numberIn, type Tally } from '../tally.ts'

const runsName = 'runs'

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
    const error = olderThanItsOrders(this.#database.location, this.missing())
    if (error !== undefined) throw error
  }

  /** How many runs this store does not know of; 0 for one that is as it was left. */
  missing(): number {
    return missingRuns(this.#runs(), this.#tally.read())
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
