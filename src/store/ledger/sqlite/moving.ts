import type { Closed } from '../../../domain/store/age.ts'
import {
  type Arrival,
  type Move,
  requireEmpty,
  requireQuiet,
  requireStillLeaving,
  type TableDigest,
} from '../../../domain/store/moving.ts'
import type { Clock } from '../../../host/clock.ts'
import type { Random } from '../../../host/random.ts'
import type { AttemptLists } from '../attempt-lists.ts'
import { copyRows } from '../copy.ts'
import type { Moving, NewRows, Rows } from '../moving.ts'
import { closedName, peopleTables, placeAfter, type Row, rowOf, selectPage, type Table } from '../tables.ts'
import type { Database, Values } from './connection.ts'
import { acceptRuns } from './former-runs.ts'
import { Listing } from './listing.ts'
import { metaText, setMeta } from './meta.ts'

const arrivedName = 'arrived'

const trigger = (table: string, to: string): string => `
CREATE TRIGGER IF NOT EXISTS moved_${table} BEFORE INSERT ON ${table}
BEGIN SELECT RAISE(ABORT, '${to.replaceAll("'", "''")}'); END`

/** A store in an SQLite file that goes to another place, or is filled from one. */
export class SqliteMoving implements Moving {
  readonly location: string
  readonly #database: Database
  readonly #lists: AttemptLists
  readonly #clock: Clock
  readonly #random: Random

  constructor(database: Database, lists: AttemptLists, { clock, random }: { clock: Clock; random: Random }) {
    this.location = database.location
    this.#database = database
    this.#lists = lists
    this.#clock = clock
    this.#random = random
  }

  async leaving(): Promise<Move | undefined> {
    return this.#leaving()
  }

  async arrived(): Promise<Arrival | undefined> {
    const text = metaText(this.#database, arrivedName)
    return text === undefined ? undefined : (JSON.parse(text) as Arrival)
  }

  async beginToLeave(move: Move): Promise<void> {
    this.#database.transaction(() => {
      const { inFlight } = this.#database.get(
        `SELECT count(*) AS inFlight FROM submissions WHERE state = 'sending'`,
      ) as { inFlight: number }
      requireQuiet(this.location, { inFlight, holder: undefined, isForwarding: false })
      this.#mark(move)
      for (const table of peopleTables) this.#database.exec(trigger(table, move.to))
    })
  }

  async stay(move: Move): Promise<void> {
    this.#database.transaction(() => {
      const now = this.#leaving()
      if (now?.id !== move.id || now.isDone) return
      setMeta(this.#database, closedName, undefined)
      for (const table of peopleTables) this.#database.exec(`DROP TRIGGER IF EXISTS moved_${table}`)
    })
  }

  async leave(move: Move, work: (rows: Rows) => Promise<void>): Promise<void> {
    await this.#database.exclusively(async () => {
      requireStillLeaving(this.location, this.#leaving(), move)
      await work(this.#rows())
      this.#mark({ ...move, isDone: true })
    })
    new Listing(this.#database, this.#lists).leave(move.to)
  }

  async fill(rows: Rows, arriving: Omit<Arrival, 'tables'>): Promise<TableDigest[]> {
    return this.#database.exclusively(async () => {
      requireEmpty(this.location, this.#filled())
      // Of no key: the key of the fingerprints is another from now on.
      this.#database.run('DELETE FROM quota')
      const tables = await copyRows(rows, this.#rows())
      setMeta(this.#database, arrivedName, JSON.stringify({ ...arriving, tables }))
      acceptRuns(this.#database)
      this.#lists.welcome(this.location)
      new Listing(this.#database, this.#lists).give(this.#random.uuid())
      return tables
    })
  }

  #leaving(): Move | undefined {
    const text = metaText(this.#database, closedName)
    return text === undefined ? undefined : (JSON.parse(text) as Closed).move
  }

  #mark(move: Move): void {
    const closed: Closed = { at: this.#clock.now(), by: ['moved'], attempts: [], untold: false, move }
    setMeta(this.#database, closedName, JSON.stringify(closed))
  }

  #filled(): string[] {
    return peopleTables.filter((name) => this.#database.get(`SELECT 1 FROM ${name} LIMIT 1`) !== undefined)
  }

  #rows(): NewRows {
    const database = this.#database
    return {
      async *read(table) {
        let after: Values | undefined
        for (;;) {
          const page = database.all(selectPage(table, 'rowid', after === undefined), after) as Values[]
          const last = page.at(-1)
          if (last === undefined) return
          yield page.map((found) => rowOf(table, found as never))
          after = placeAfter(table, last as never)
        }
      },
      newestEvent: () => Promise.resolve(newestEvent(database)),
      add: async (table, rows) => {
        for (const row of rows) addRow(database, table, row)
      },
      setNewestEvent: async (seq) => {
        if (newestEvent(database) === seq) return
        database.run(`DELETE FROM sqlite_sequence WHERE name = 'events'`)
        database.run(`INSERT INTO sqlite_sequence (name, seq) VALUES ('events', :seq)`, { seq })
      },
    }
  }
}

function newestEvent(database: Database): number {
  const found = database.get(`SELECT seq FROM sqlite_sequence WHERE name = 'events'`) as
    | { seq: number }
    | undefined
  return found?.seq ?? 0
}

/** What a store keeps of itself is there already. */
function addRow(database: Database, { name, columns }: Table, row: Row): void {
  const names = Object.keys(columns)
  const values = names.map((column) => `:${column}`).join(', ')
  const insert = name === 'meta' ? 'INSERT OR REPLACE' : 'INSERT'
  database.run(
    `${insert} INTO ${name} (${names.join(', ')}) VALUES (${values})`,
    Object.fromEntries(names.map((column, at) => [column, row[at] ?? null])),
  )
}
