import {
  type Arrival,
  type Move,
  requireEmpty,
  requireEqual,
  requireUnused,
  requireMoveInProgress,
  type TableDigest,
} from '../../domain/store/moving.ts'
import { all, get, insertRows, metaText, run, setMeta, type Within, type Work } from './engine.ts'
import { fingerprintKeyName, storeIdName } from './fingerprints.ts'
import type { Upkeep } from './maintenance.ts'
import type { RollbackDetection, RollbackParts } from './rollback-detection.ts'
import { beginMovedGeneration, erasureName, readClosing, writeClosing } from './store-state.ts'
import { fieldOf, peopleTables, type Table, tables } from './schema.ts'

/** A row of any table, with the fields of its columns. */
type Row = Readonly<Record<string, string | number | Uint8Array | undefined>>

/**
 * The names of the values in the table meta that are moved with a store. The other values describe its
 * location.
 */
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

/**
 * Returns the statement for a page of a table's rows, after the last row of the page before; it is valid in both
 * engines.
 */
function selectPage({ name, order, columns }: Table, isFirst: boolean): string {
  const orderColumns = order === 'added' ? ['{added}'] : order
  const names = Object.keys(columns)
  const after = `(${orderColumns.join(', ')}) > (${orderColumns.map((_, index) => `:after${index}`).join(', ')})`
  const condition = name === 'meta' ? `name IN (${movedNames.map((each) => `'${each}'`).join(', ')})` : 'TRUE'
  return `SELECT ${names.join(', ')}${order === 'added' ? ', {added} AS added' : ''} FROM ${name}
WHERE ${condition}${isFirst ? '' : ` AND ${after}`} ORDER BY ${orderColumns.join(', ')} LIMIT ${pageRows}`
}

/** The complete content of a store at one moment. */
export interface StoreContent {
  /** Reads a table page by page, in the table's order. */
  read(table: Table): AsyncIterable<readonly Row[]>
  /** Returns the highest number that an event ever had; 0 if there was none. */
  readNewestEvent(): Promise<number>
}

interface MovingParts extends Pick<RollbackParts, 'engine' | 'key' | 'clock' | 'random'> {
  upkeep: Upkeep
  rollbacks: Pick<RollbackDetection, 'recordMove'>
}

/** The move of a store from one location to another. */
export class Moving {
  readonly location: string
  readonly #parts: MovingParts

  constructor(parts: MovingParts) {
    this.location = parts.engine.location
    this.#parts = parts
  }

  /** Returns the move that was begun; undefined if there is none. */
  readMove(): Promise<Move | undefined> {
    return this.#parts.engine.run(readMove())
  }

  /** Returns the move by which this store was filled; undefined if it was not filled by one. */
  async readArrival(): Promise<Arrival | undefined> {
    const text = await this.#parts.engine.run(metaText(arrivedName))
    return text === undefined ? undefined : (JSON.parse(text) as Arrival)
  }

  /**
   * Closes the store for all processes: from then on nothing is added, and an attempt fails with the new location.
   * Throws IoError if an order is in flight.
   */
  closeForMove(move: Move): Promise<void> {
    const { engine, upkeep } = this.#parts
    const close = () => this.#close(move)
    return engine.transaction(function* () {
      const inFlight = (yield* all(`SELECT 1 FROM submissions WHERE state = 'sending' LIMIT 1`)).length
      requireUnused(engine.location, { inFlight, holder: undefined, isForwarding: false })
      yield* close()
      for (const table of peopleTables) yield* upkeep.blockInserts(table, move.to)
    }, 'all tables')
  }

  /** Opens the store again, unless the move was completed meanwhile. */
  cancelMove(move: Move): Promise<void> {
    const { engine, upkeep } = this.#parts
    return engine.transaction(function* () {
      const currentMove = yield* readMove()
      if (currentMove?.id !== move.id || currentMove.isDone) return
      yield* writeClosing(undefined)
      for (const table of peopleTables) yield* upkeep.allowInserts(table)
    }, 'all tables')
  }

  /**
   * Passes the content of the store to `work` while no other process writes; the move is complete once `work` is
   * done. Throws IoError if the move was cancelled.
   */
  async copyAndCloseAsMoved(move: Move, work: (content: StoreContent) => Promise<void>): Promise<void> {
    await this.#parts.engine.exclusively(async (within) => {
      requireMoveInProgress(this.location, await within(readMove()), move)
      await work(this.#createContent(within))
      await within(this.#close({ ...move, isDone: true }))
    })
    await this.#parts.rollbacks.recordMove(move.to)
  }

  /**
   * Fills this empty store with the content of another one, in one transaction: if the contents of the two stores
   * differ afterwards, nothing is stored. Begins the attempt log of this store too.
   */
  async fillFrom(content: StoreContent, arrival: Omit<Arrival, 'tables'>): Promise<TableDigest[]> {
    const tableDigests = await this.#parts.engine.exclusively(async (within) => {
      requireEmpty(this.location, await within(listFilledTables()))
      // The names in this table are fingerprints under the old key, which is replaced.
      await within(run('DELETE FROM quota'))
      const digests = await digestTables(content, (table, page) => within(addRows(table, page)))
      await within(this.#parts.upkeep.continueNumbers(await content.readNewestEvent()))
      requireEqual(digests, await digestTables(this.#createContent(within)))
      await within(setMeta(arrivedName, JSON.stringify({ ...arrival, tables: digests })))
      await within(beginMovedGeneration(this.#parts.random.uuid()))
      return digests
    })
    await this.#parts.engine.run(this.#parts.key.loadKey())
    return tableDigests
  }

  *#close(move: Move): Work<void> {
    yield* writeClosing({ id: move.id, at: this.#parts.clock.now(), reasons: ['moved'], recovered: [], move })
  }

  #createContent(within: Within): StoreContent {
    return {
      async *read(table) {
        let after: Row | undefined
        for (;;) {
          const page = await within(all<Row>(selectPage(table, after === undefined), after))
          const lastRow = page.at(-1)
          if (lastRow === undefined) return
          yield page
          after = positionAfter(table, lastRow)
        }
      },
      readNewestEvent: () => within(this.#parts.upkeep.newestEvent()),
    }
  }
}

function* readMove(): Work<Move | undefined> {
  return (yield* readClosing())?.move
}

function* listFilledTables(): Work<string[]> {
  const filledTables: string[] = []
  for (const name of peopleTables) {
    if ((yield* get(`SELECT 1 FROM ${name} LIMIT 1`)) !== undefined) filledTables.push(name)
  }
  return filledTables
}

/**
 * Adds rows in their order, so that their new insertion numbers are in the same order. Values of the table meta may
 * exist already and are replaced.
 */
function* addRows({ name }: Table, rows: readonly Row[]): Work<void> {
  const onConflict = name === 'meta' ? 'ON CONFLICT (name) DO UPDATE SET value = excluded.value' : ''
  const withoutNumbers = rows.map((row) => {
    // The insertion numbers are assigned again.
    const { added: _, ...columns } = row
    return columns
  })
  yield* insertRows(name, withoutNumbers, onConflict)
}

/**
 * Returns the digest of each table, which is the same in both engines: of its rows in their order, each as a line of
 * JSON.
 */
async function digestTables(
  content: StoreContent,
  onPage?: (table: Table, page: readonly Row[]) => Promise<void>,
): Promise<TableDigest[]> {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const digests: TableDigest[] = []
  for (const table of tables) {
    const hash = createHash('sha256')
    let count = 0
    for await (const page of content.read(table)) {
      for (const row of page) hash.update(`${canonicalJson(table, row)}\n`)
      count += page.length
      await onPage?.(table, page)
    }
    digests.push({ table: table.name, rows: count, sha256: hash.digest('hex') })
  }
  return digests
}

/** Returns a row as JSON, with NUL in texts replaced, because PostgreSQL cannot store it. */
function canonicalJson({ columns }: Table, row: Row): string {
  return JSON.stringify(
    Object.keys(columns).map((column) => {
      const value = row[fieldOf(column)] ?? null
      if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD')
      return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value
    }),
  )
}

/** Returns the parameters of the next page: the values of the order columns in the last row of this page. */
function positionAfter({ order }: Table, lastRow: Row): Row {
  const orderColumns = order === 'added' ? ['added'] : order
  return Object.fromEntries(orderColumns.map((column, index) => [`after${index}`, lastRow[fieldOf(column)]]))
}
