import { storeMovedError } from '../../../domain/store/moving.ts'
import { InternalError, IoError, StoreBusyError, RefcheckError } from '../../../errors/kinds.ts'
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { type Dialect, type Engine, expandSql, unusableStore, type Values, type Work } from '../engine.ts'
import { columnOf } from '../schema.ts'
import { statSync } from 'node:fs'

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const busyCode = 5
const constraintCode = 19
/**
 * The extended code for a row that a trigger of the store refuses: the store was moved to the location in the
 * message.
 */
const refusedByTrigger = 1811

/** Primary result codes as problems that a user can act on: [the problem, the hint]. */
const reasons: Readonly<Record<number, readonly [string, string]>> = {
  3: ['permission denied', 'Check who owns the file and its folder, or choose another store.'],
  5: ['another process has locked it', 'Wait until the other command has ended, then run it again.'],
  6: ['another process has locked it', 'Wait until the other command has ended, then run it again.'],
  8: ['it is not writable', 'Check who owns the file and its folder, or choose another store.'],
  10: ['the disk reported an error', 'Check that the disk works and has free space, then run it again.'],
  11: ['it is damaged', 'Keep the damaged file, since it may still hold orders, and restore a backup.'],
  13: ['no space is left on the disk', 'Free some space, then run it again.'],
  14: ['it cannot be opened', 'Check the path, and who owns the file and its folder.'],
  26: [
    'it is not a refcheck store, or is damaged',
    'Choose another file with REFCHECK_STORE, or restore a backup.',
  ],
}

/** Returns the primary result code of an SQLite error; undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

/** Returns an error of SQLite as an IoError that names the store, and an error of this program unchanged. */
export function storeFailure(location: string, error: unknown): Error {
  if (error instanceof RefcheckError) return error
  const code = resultCode(error)
  if (code === undefined) return error instanceof Error ? error : new InternalError('unexpected store error')
  if (error instanceof Error && 'errcode' in error && error.errcode === refusedByTrigger) {
    return storeMovedError(location, { to: error.message, isDone: true })
  }
  if (code === constraintCode) {
    return new InternalError('an internal rule of the store was violated', { cause: error })
  }
  const [why, hint] = reasons[code] ?? [
    `SQLite reported error ${code}`,
    'Check the disk before you run it again.',
  ]
  const Failure = code === busyCode ? StoreBusyError : IoError
  return new Failure(`cannot use the store "${location}": ${why}`, { hint, cause: error })
}

type DriverValues = Record<string, SQLInputValue>

/**
 * Returns values as the driver accepts them: SQLite has no booleans and no lists, and the driver refuses
 * undefined.
 */
function toDriverValues(names: readonly string[], values: Values): DriverValues {
  const driverValues: DriverValues = {}
  for (const name of names) {
    const value = (values as Record<string, SQLInputValue | boolean | undefined | object[]>)[name]
    if (Array.isArray(value)) driverValues[name] = JSON.stringify(value)
    else driverValues[name] = typeof value === 'boolean' ? Number(value) : (value ?? null)
  }
  return driverValues
}

/** A statement with the names of its parameters. */
interface PreparedStatement {
  statement: StatementSync
  names: readonly string[]
}

/** Result codes after which the file and SQLite's cache of it may differ, so that nothing more is tried. */
const fatalCodes = new Set<number | undefined>([10, 11, 13, 26])

/** A connection to an SQLite file. It throws errors of this program that name the store. */
export class Database {
  readonly location: string
  readonly #connection: DatabaseSync
  readonly #statements = new Map<string, PreparedStatement>()
  #failure: Error | undefined

  /** `lockWaitMs`: milliseconds to wait for a write of another process. */
  constructor(location: string, lockWaitMs: number) {
    this.location = location
    try {
      this.#connection = new DatabaseSync(location, { timeout: lockWaitMs })
    } catch (error) {
      throw storeFailure(location, error)
    }
  }

  exec(sql: string): void {
    this.#guard(() => this.#connection.exec(expandSql(sqliteDialect, sql)))
  }

  /** Runs a PRAGMA and returns its only value. */
  pragma(name: string): string | number {
    const row = this.#guard(() => this.#connection.prepare(`PRAGMA ${name}`).get())
    const [value] = Object.values(row ?? {})
    return typeof value === 'string' ? value : Number(value)
  }

  get(sql: string, values: Values = {}): unknown {
    return this.#execute('get', sql, values)
  }

  all(sql: string, values: Values = {}): unknown[] {
    return this.#execute('all', sql, values) as unknown[]
  }

  /** Returns the number of rows that the statement changed. */
  run(sql: string, values: Values = {}): number {
    return Number((this.#execute('run', sql, values) as { changes: number | bigint }).changes)
  }

  /** Runs all statements of `work`, in the open transaction or each in its own. */
  runSync<T>(work: Work<T>): T {
    let step = work.next()
    while (step.done !== true) {
      let answers: unknown[]
      try {
        answers = step.value.queries.map(({ kind, sql, values }) => {
          if (kind === 'shared') return undefined
          if (kind !== 'insert') return this[kind](sql, values)
          // Without a network in between, adding several rows with one statement would gain nothing.
          return (values as { rows: Values[] }).rows.flatMap((row) => this.all(sql, row))
        })
      } catch (error) {
        step = work.throw(error)
        continue
      }
      step = work.next(answers)
    }
    return step.value
  }

  /** Makes all changes of `work` or none. No other process writes meanwhile. The commit is flushed to the disk. */
  transaction<T>(work: () => T): T {
    return this.#within('BEGIN IMMEDIATE', work)
  }

  /** As `transaction`, for asynchronous work; this connection must not be used for anything else meanwhile. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.exec('BEGIN IMMEDIATE')
    try {
      const result = await work()
      this.exec('COMMIT')
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  /** All reads of `work` see the store at one moment, also if other processes write meanwhile. */
  snapshot<T>(work: () => T): T {
    return this.#within('BEGIN', work)
  }

  /** Copies the whole database to a file by SQLite's own means. */
  async backup(path: string): Promise<void> {
    await backup(this.#connection, path)
  }

  close(): void {
    this.#statements.clear()
    if (this.#connection.isOpen) this.#connection.close()
  }

  #within<T>(begin: string, work: () => T): T {
    this.exec(begin)
    try {
      const result = work()
      this.exec('COMMIT')
      return result
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #execute(kind: 'all' | 'get' | 'run', sql: string, values: Values): unknown {
    return this.#guard(() => {
      const { statement, names } = this.#prepare(sql)
      return statement[kind](toDriverValues(names, values))
    })
  }

  #prepare(sql: string): PreparedStatement {
    const cached = this.#statements.get(sql)
    if (cached !== undefined) return cached
    const text = expandSql(sqliteDialect, sql)
    const statement = this.#connection.prepare(text)
    statement.setAllowUnknownNamedParameters(true)
    const names = Array.from(text.matchAll(/(?<![:\w]):([a-z_]\w*)/gi), ([, name = '']) => name)
    const prepared = { statement, names: [...new Set(names)] }
    this.#statements.set(sql, prepared)
    return prepared
  }

  /**
   * Rolls the transaction back. The caller throws the error that caused the rollback; an error of the
   * rollback itself makes only later statements fail.
   */
  #rollBack(): void {
    try {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK')
    } catch (error) {
      this.#failure ??= storeFailure(this.location, error)
    }
  }

  #guard<T>(work: () => T): T {
    if (this.#failure !== undefined) throw this.#failure
    try {
      return work()
    } catch (error) {
      const failure = storeFailure(this.location, error)
      if (fatalCodes.has(resultCode(error))) this.#failure = failure
      throw failure
    }
  }
}

/**
 * Makes each commit flush to the disk before it returns, overwrites deleted data, and keeps temporary data in memory.
 * With `synchronous = NORMAL` instead of FULL, a request could be sent before its attempt is on the disk.
 */
export function makeDurable(database: Database): void {
  const mode = database.pragma('journal_mode')
  if (mode !== 'memory' && mode !== 'wal' && database.pragma('journal_mode = WAL') !== 'wal') {
    const why = 'its disk does not support a write-ahead log'
    throw unusableStore(database.location, why, 'Choose a file on a local disk with REFCHECK_STORE.')
  }
  for (const setting of [
    'synchronous = FULL',
    'fullfsync = ON',
    'foreign_keys = ON',
    'secure_delete = ON',
    'temp_store = MEMORY',
    'trusted_schema = OFF',
  ]) {
    database.exec(`PRAGMA ${setting}`)
  }
}

const fieldsOf = (columns: readonly string[]): string[] => columns.map((column) => column.split(' ')[0] ?? '')

export const sqliteDialect: Dialect = {
  text: 'TEXT',
  integer: 'INTEGER',
  real: 'REAL',
  bytes: 'BLOB',
  serial: '',
  newNumber: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  end: ' STRICT',
  submissionColumns: '',
  foldedEmail: 'email COLLATE NOCASE',
  added: 'rowid',
  lockRows: () => '',
  addressOf: (alias) => `${alias}.rowid`,
  isAtAddress: 'rowid = :rowAddress',
  pendingOrder: (column) => column,
  json: (expression) => expression,
  isIn: (expression, parameter) => `${expression} IN (SELECT value FROM json_each(:${parameter}))`,
  sameEmail: (column, other) => `${column} = ${other} COLLATE NOCASE`,
  clock: 'NULL',
  epoch: 'NULL',
  isReplicated: '0',
  rows(parameter, ...columns) {
    const names = fieldsOf(columns).map((field) => `value ->> '${field}' AS ${columnOf(field)}`)
    return `(SELECT ${names.join(', ')}, key AS place FROM json_each(:${parameter})) AS came`
  },
  values(...columns) {
    const names = fieldsOf(columns).map((field) => `:${field}`)
    return `VALUES (${names.join(', ')})`
  },
  shared: () => '',
  sharedValue: () => 'NULL',
}

/** Runs each work to its end synchronously, so that no other use of the connection comes between its statements. */
export function sqliteEngine(database: Database): Engine {
  const { location } = database
  const file = fileAt(location)
  return {
    location,
    allowsSeveralRunners: false,
    /** Returns the device and inode of the open file. Throws an IoError if another file is at the path now. */
    session() {
      if (fileAt(location) === file) return file
      throw new IoError(`the store "${location}" was replaced while it was in use`, {
        hint: 'Nothing more was sent. See what is known: refcheck store check',
      })
    },
    run: async (work) => database.runSync(work),
    transaction: async (work) => database.transaction(() => database.runSync(work())),
    snapshot: async (work) => database.snapshot(() => database.runSync(work())),
    exclusively: (work) => database.exclusively(() => work(async (each) => database.runSync(each))),
  }
}

function fileAt(location: string): string {
  if (location === ':memory:') return ''
  const status = statSync(location, { throwIfNoEntry: false })
  return status === undefined ? 'none' : `${status.dev} ${status.ino}`
}
