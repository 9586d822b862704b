import {
  type Arrival,
  type Move,
  requireEmpty,
  requireEqual,
  requireQuiet,
  requireStillLeaving,
  type TableDigest,
} from '../../domain/store/moving.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'
import {
  all,
  type Engine,
  get,
  insertRows,
  metaText,
  run,
  setMeta,
  type Values,
  type Within,
  type Work,
} from './engine.ts'
import { fingerprintKeyName, type StoreKey, storeIdName } from './fingerprints.ts'
import type { Upkeep } from './maintenance.ts'
import type { RollbackDetection } from './rollback-detection.ts'
import { beginMovedGeneration, erasureName, readClosing, writeClosing } from './store-state.ts'
import { fieldOf, peopleTables, type Table, tables } from './schema.ts'

/** A row, by the fields of its columns. */
type Row = Readonly<Record<string, string | number | Uint8Array | undefined>>

/** What a store keeps of itself under names and takes along; the rest is about the place where it is. */
const movedNames: readonly string[] = [
  fingerprintKeyName,
  storeIdName,
  'generation',
  'former_generations',
  'ignored_logs',
  erasureName,
]

const arrivedName = 'arrived'

const pageRows = 1_000

/** A page of a table's rows after one of them; both engines read it. */
function selectPage({ name, order, columns: known }: Table, isFirst: boolean): string {
  const by = order === 'added' ? ['{added}'] : order
  const names = Object.keys(known)
  const after = `(${by.join(', ')}) > (${by.map((_, at) => `:after${at}`).join(', ')})`
  const condition = name === 'meta' ? `name IN (${movedNames.map((each) => `'${each}'`).join(', ')})` : 'TRUE'
  return `SELECT ${names.join(', ')}${order === 'added' ? ', {added} AS added' : ''} FROM ${name}
WHERE ${condition}${isFirst ? '' : ` AND ${after}`} ORDER BY ${by.join(', ')} LIMIT ${pageRows}`
}

/** All that a store knows at one moment. */
export interface Rows {
  /** Page by page, in the order that the table has. */
  read(table: Table): AsyncIterable<readonly Row[]>
  /** The highest number that an event ever had; 0 for none. */
  newestEvent(): Promise<number>
}

interface MovingParts {
  engine: Engine
  upkeep: Upkeep
  key: StoreKey
  rollbacks: RollbackDetection
  clock: Clock
  random: Random
}

/** A store on its way from one place to another. */
export class Moving {
  readonly location: string
  readonly #parts: MovingParts

  constructor(parts: MovingParts) {
    this.location = parts.engine.location
    this.#parts = parts
  }

  /** Undefined for a store that stays where it is. */
  leaving(): Promise<Move | undefined> {
    return this.#parts.engine.run(readMove())
  }

  /** What it was filled from, if it was. */
  async arrived(): Promise<Arrival | undefined> {
    const text = await this.#parts.engine.run(metaText(arrivedName))
    return text === undefined ? undefined : (JSON.parse(text) as Arrival)
  }

  /**
   * Closes it for all processes: from then on nothing is added, and an attempt fails with the new path. Throws IoError
   * where an order is in flight.
   */
  beginToLeave(move: Move): Promise<void> {
    const { engine, upkeep } = this.#parts
    const close = () => this.#close(move)
    return engine.transaction(function* () {
      const inFlight = (yield* all(`SELECT 1 FROM submissions WHERE state = 'sending' LIMIT 1`)).length
      requireQuiet(engine.location, { inFlight, holder: undefined, isForwarding: false })
      yield* close()
      for (const table of peopleTables) yield* upkeep.fence(table, move.to)
    }, 'all tables')
  }

  /** Takes that back, unless it has left meanwhile. */
  stay(move: Move): Promise<void> {
    const { engine, upkeep } = this.#parts
    return engine.transaction(function* () {
      const now = yield* readMove()
      if (now?.id !== move.id || now.isDone) return
      yield* writeClosing(undefined)
      for (const table of peopleTables) yield* upkeep.removeFence(table)
    }, 'all tables')
  }

  /** Reads it while no other process writes; it has left once `work` is done. Throws IoError where the move was taken back. */
  async leave(move: Move, work: (rows: Rows) => Promise<void>): Promise<void> {
    await this.#parts.engine.exclusively(async (within) => {
      requireStillLeaving(this.location, await within(readMove()), move)
      await work(this.#rows(within))
      await within(this.#close({ ...move, isDone: true }))
    })
    await this.#parts.rollbacks.leave(move.to)
  }

  /**
   * Fills it with all of another store, or with nothing: what both places then read is compared before it counts. Its list
   * of attempts is begun too.
   */
  async fill(rows: Rows, arriving: Omit<Arrival, 'tables'>): Promise<TableDigest[]> {
    const filled = await this.#parts.engine.exclusively(async (within) => {
      requireEmpty(this.location, await within(filledTables()))
      // Of no key: the key of the fingerprints is another from now on.
      await within(run('DELETE FROM quota'))
      const read = await digestTables(rows, (table, page) => within(addRows(table, page)))
      await within(this.#parts.upkeep.continueNumbers(await rows.newestEvent()))
      requireEqual(read, await digestTables(this.#rows(within)))
      await within(setMeta(arrivedName, JSON.stringify({ ...arriving, tables: read })))
      await within(beginMovedGeneration(this.#parts.random.uuid()))
      return read
    })
    await this.#parts.engine.run(this.#parts.key.loadKey())
    return filled
  }

  *#close(move: Move): Work<void> {
    yield* writeClosing({ id: move.id, at: this.#parts.clock.now(), reasons: ['moved'], recovered: [], move })
  }

  #rows(within: Within): Rows {
    return {
      async *read(table) {
        let after: Values | undefined
        for (;;) {
          const page = await within(all<Row>(selectPage(table, after === undefined), after))
          const last = page.at(-1)
          if (last === undefined) return
          yield page
          after = positionAfter(table, last)
        }
      },
      newestEvent: () => within(this.#parts.upkeep.newestEvent()),
    }
  }
}

function* readMove(): Work<Move | undefined> {
  return (yield* readClosing())?.move
}

function* filledTables(): Work<string[]> {
  const found: string[] = []
  for (const name of peopleTables) {
    if ((yield* get(`SELECT 1 FROM ${name} LIMIT 1`)) !== undefined) found.push(name)
  }
  return found
}

/** In their order, which the numbers of their adding follow. What a store says of itself is there already. */
function* addRows({ name }: Table, rows: readonly Row[]): Work<void> {
  const ending = name === 'meta' ? 'ON CONFLICT (name) DO UPDATE SET value = excluded.value' : ''
  const counted = rows.map((row) => {
    // Their order is counted anew.
    const { added: _, ...columns } = row
    return columns
  })
  yield* insertRows(name, counted, ending)
}

/** Of each table, whatever its engine: its rows in their order, each as a line of JSON. */
async function digestTables(
  rows: Rows,
  each?: (table: Table, page: readonly Row[]) => Promise<void>,
): Promise<TableDigest[]> {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const found: TableDigest[] = []
  for (const table of tables) {
    const hash = createHash('sha256')
    let count = 0
    for await (const page of rows.read(table)) {
      for (const row of page) hash.update(`${canonical(table, row)}\n`)
      count += page.length
      await each?.(table, page)
    }
    found.push({ table: table.name, rows: count, sha256: hash.digest('hex') })
  }
  return found
}

/** PostgreSQL stores no NUL in a text. */
function canonical({ columns }: Table, row: Row): string {
  return JSON.stringify(
    Object.keys(columns).map((column) => {
      const value = row[fieldOf(column)] ?? null
      if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD')
      return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value
    }),
  )
}

/** What the page after this one begins behind. */
function positionAfter({ order }: Table, last: Row): Row {
  const by = order === 'added' ? ['added'] : order
  return Object.fromEntries(by.map((column, at) => [`after${at}`, last[fieldOf(column)]]))
}
