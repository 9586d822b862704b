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
import type { AttemptLists } from '../attempt-lists.ts'
import { copyRows } from '../copy.ts'
import type { Moving, NewRows, Rows } from '../moving.ts'
import {
  closedName,
  type ColumnKind,
  peopleTables,
  placeAfter,
  type Row,
  rowOf,
  selectPage,
  type Table,
} from '../tables.ts'
import type { Database, Sql } from './connection.ts'
import { movedState } from './failure.ts'
import type { Listing } from './listing.ts'
import { metaText, setMeta } from './meta.ts'

const arrivedName = 'arrived'

/** Nobody else writes until the transaction ends, however long the other place takes. */
const lockAll = `
LOCK TABLE meta, quota, ${peopleTables.join(', ')} IN SHARE ROW EXCLUSIVE MODE;
SET LOCAL idle_in_transaction_session_timeout = 0`

const makeFence = `
CREATE OR REPLACE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION USING ERRCODE = '${movedState}', MESSAGE = (
  SELECT convert_from(value, 'UTF8')::json -> 'move' ->> 'to' FROM meta WHERE name = '${closedName}'
); END $$`

const fence = (table: string): string => `
CREATE OR REPLACE TRIGGER moved BEFORE INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION moved()`

const arrays: Readonly<Record<ColumnKind, string>> = {
  text: 'text[]',
  number: 'bigint[]',
  real: 'double precision[]',
  bytes: 'bytea[]',
}

/** A store in a PostgreSQL database that goes to another place, or is filled from one. */
export class PostgresMoving implements Moving {
  readonly location: string
  readonly #database: Database
  readonly #listing: Listing
  readonly #lists: AttemptLists
  readonly #clock: Clock

  constructor(
    database: Database,
    { listing, lists, clock }: { listing: Listing; lists: AttemptLists; clock: Clock },
  ) {
    this.location = database.location
    this.#database = database
    this.#listing = listing
    this.#lists = lists
    this.#clock = clock
  }

  leaving(): Promise<Move | undefined> {
    return leaving(this.#database)
  }

  async arrived(): Promise<Arrival | undefined> {
    const text = await metaText(this.#database, arrivedName)
    return text === undefined ? undefined : (JSON.parse(text) as Arrival)
  }

  async beginToLeave(move: Move): Promise<void> {
    await this.#database.transaction(async (sql) => {
      await sql.run(lockAll)
      const { in_flight: inFlight } = (await sql.get(
        `SELECT count(*) AS in_flight FROM submissions WHERE state = 'sending'`,
      )) as { in_flight: number }
      requireQuiet(this.location, { inFlight, holder: undefined, isForwarding: false })
      await this.#mark(sql, move)
      await sql.run(makeFence)
      for (const table of peopleTables) await sql.run(fence(table))
    })
  }

  async stay(move: Move): Promise<void> {
    await this.#database.transaction(async (sql) => {
      await sql.run(lockAll)
      const now = await leaving(sql)
      if (now?.id !== move.id || now.isDone) return
      await setMeta(sql, closedName, undefined)
      for (const table of peopleTables) await sql.run(`DROP TRIGGER IF EXISTS moved ON ${table}`)
    })
  }

  async leave(move: Move, work: (rows: Rows) => Promise<void>): Promise<void> {
    await this.#database.transaction(async (sql) => {
      await sql.run(lockAll)
      requireStillLeaving(this.location, await leaving(sql), move)
      await work(rowsOf(sql))
      await this.#mark(sql, { ...move, isDone: true })
    })
    this.#listing.leave(move.to)
  }

  async fill(rows: Rows, arriving: Omit<Arrival, 'tables'>): Promise<TableDigest[]> {
    return this.#database.transaction(async (sql) => {
      await sql.run(lockAll)
      requireEmpty(this.location, await filled(sql))
      // Of no key: the key of the fingerprints is another from now on.
      await sql.run('DELETE FROM quota')
      const tables = await copyRows(rows, rowsOf(sql))
      await sql.run(
        `SELECT setval(pg_get_serial_sequence('decisions', 'id'), max(id)) FROM decisions HAVING count(*) > 0`,
      )
      await setMeta(sql, arrivedName, JSON.stringify({ ...arriving, tables }))
      this.#lists.welcome(this.location)
      return tables
    })
  }

  #mark(sql: Sql, move: Move): Promise<void> {
    const closed: Closed = { at: this.#clock.now(), by: ['moved'], attempts: [], untold: false, move }
    return setMeta(sql, closedName, JSON.stringify(closed))
  }
}

async function leaving(sql: Sql): Promise<Move | undefined> {
  const text = await metaText(sql, closedName)
  return text === undefined ? undefined : (JSON.parse(text) as Closed).move
}

async function filled(sql: Sql): Promise<string[]> {
  const found: string[] = []
  for (const name of peopleTables) {
    if ((await sql.get(`SELECT 1 FROM ${name} LIMIT 1`)) !== undefined) found.push(name)
  }
  return found
}

type Found = Parameters<typeof rowOf>[1]

function rowsOf(sql: Sql): NewRows {
  return {
    async *read(table) {
      let after: Found | undefined
      for (;;) {
        const page = (await sql.all(selectPage(table, 'serial', after === undefined), after)) as Found[]
        const last = page.at(-1)
        if (last === undefined) return
        yield page.map((found) => rowOf(table, found))
        after = placeAfter(table, last)
      }
    },
    async newestEvent() {
      const found = (await sql.get(
        'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS newest FROM events_id_seq',
      )) as { newest: number }
      return found.newest
    },
    add: (table, rows) => addRows(sql, table, rows),
    async setNewestEvent(number) {
      if (number > 0) await sql.get(`SELECT setval('events_id_seq', CAST(:number AS bigint))`, { number })
    },
  }
}

/** In their order, which the numbers of their adding follow. What a store keeps of itself is there already. */
async function addRows(sql: Sql, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  const names = Object.keys(columns)
  const values = names.map((column) => `CAST(:${column} AS ${arrays[columns[column] ?? 'text']})`)
  const replaced = name === 'meta' ? 'ON CONFLICT (name) DO UPDATE SET value = excluded.value' : ''
  await sql.run(
    `INSERT INTO ${name} (${names.join(', ')})
SELECT ${names.join(', ')} FROM unnest(${values.join(', ')}) WITH ORDINALITY AS came (${names.join(', ')}, place)
ORDER BY place ${replaced}`,
    Object.fromEntries(names.map((column, at) => [column, rows.map((row) => storedValue(row[at] ?? null))])),
  )
}

const storedValue = (value: Row[number]): string | number | Buffer | null =>
  value instanceof Uint8Array ? Buffer.from(value) : value
