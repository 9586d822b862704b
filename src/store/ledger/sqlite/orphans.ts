import { emptyBook, type OrphanBook } from '../../../domain/batch/second-orders.ts'
import type { Orphans } from '../orphans.ts'
import type { Database } from './connection.ts'

const name = 'orphans'

/** Kept as one text: there are few, and they are read together. */
export class SqliteOrphans implements Orphans {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async book(): Promise<OrphanBook> {
    return this.#read()
  }

  async update(change: (book: OrphanBook) => OrphanBook | undefined): Promise<boolean> {
    return this.#database.transaction(() => {
      const next = change(this.#read())
      if (next === undefined) return false
      const value = Buffer.from(JSON.stringify(next))
      this.#database.run('INSERT OR REPLACE INTO meta (name, value) VALUES (:name, :value)', { name, value })
      return true
    })
  }

  #read(): OrphanBook {
    const row = this.#database.get('SELECT value FROM meta WHERE name = :name', { name }) as
      | { value: Uint8Array }
      | undefined
    return row === undefined ? emptyBook : (JSON.parse(Buffer.from(row.value).toString()) as OrphanBook)
  }
}
