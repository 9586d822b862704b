import { emptyBook, type OrphanBook } from '../../../domain/batch/second-orders.ts'
import type { Orphans } from '../orphans.ts'
import type { Database, Sql } from './connection.ts'

const name = 'orphans'
const insert = 'INSERT INTO meta (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING'
const update = 'UPDATE meta SET value = :value WHERE name = :name'

/** Kept as one text: there are few, and they are read together. */
export class PostgresOrphans implements Orphans {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  book(): Promise<OrphanBook> {
    return read(this.#database, '')
  }

  update(change: (book: OrphanBook) => OrphanBook | undefined): Promise<boolean> {
    return this.#database.transaction(async (sql) => {
      // There is a row to lock from then on.
      await sql.run(insert, { name, value: Buffer.from(JSON.stringify(emptyBook)) })
      const next = change(await read(sql, 'FOR UPDATE'))
      if (next === undefined) return false
      await sql.run(update, { name, value: Buffer.from(JSON.stringify(next)) })
      return true
    })
  }
}

async function read(sql: Sql, locking: string): Promise<OrphanBook> {
  const row = (await sql.get(`SELECT value FROM meta WHERE name = :name ${locking}`, { name })) as
    | { value: Uint8Array }
    | undefined
  return row === undefined ? emptyBook : (JSON.parse(Buffer.from(row.value).toString()) as OrphanBook)
}
