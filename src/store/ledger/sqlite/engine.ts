import { statSync } from 'node:fs'

import { IoError } from '../../../errors/kinds.ts'
import type { Dialect, Engine, Within, Work } from '../engine.ts'
import type { Database } from './connection.ts'
import { sqliteInsert, sqliteRows } from './rows.ts'

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  isShared: false,
  serial: 'rowid',
  lockRows: () => '',
  rowPlace: { of: (alias) => `${alias}.rowid`, is: 'rowid = :place' },
  pendingOrder: (alias) => `${alias}.row_number`,
  json: (expression) => expression,
  isIn: (expression, parameter) => `${expression} IN (SELECT value FROM json_each(:${parameter}))`,
  list: (values) => JSON.stringify(values),
  sameEmail: (column, other) => `${column} = ${other} COLLATE NOCASE`,
  bytewise: '',
  clock: 'NULL',
  epoch: 'NULL',
  isReplicated: '0',
  rows: sqliteRows,
  insert: sqliteInsert,
  notify: undefined,
}

/** Runs work to its end before a method first awaits, so that no other use of the connection comes between. */
export class SqliteEngine implements Engine {
  readonly location: string
  readonly dialect = sqliteDialect
  readonly #database: Database
  /** Device and inode of the file that is open. */
  readonly #file: string

  constructor(database: Database) {
    this.location = database.location
    this.#database = database
    this.#file = fileAt(database.location)
  }

  /** Throws where the path does not lead to the file that is open. */
  session(): string {
    if (fileAt(this.location) === this.#file) return this.#file
    throw new IoError(`the store "${this.location}" was replaced while it was in use`, {
      hint: 'Nothing more was sent. See what is known: refcheck store check',
    })
  }

  async run<T>(work: Work<T>): Promise<T> {
    return this.#database.runSync(work)
  }

  async transaction<T>(work: () => Work<T>): Promise<T> {
    return this.#database.transaction(() => this.#database.runSync(work()))
  }

  async snapshot<T>(work: () => Work<T>): Promise<T> {
    return this.#database.snapshot(() => this.#database.runSync(work()))
  }

  exclusively<T>(work: (within: Within) => Promise<T>): Promise<T> {
    return this.#database.exclusively(() => work(async (each) => this.#database.runSync(each)))
  }
}

function fileAt(location: string): string {
  if (location === ':memory:') return ''
  const status = statSync(location, { throwIfNoEntry: false })
  return status === undefined ? 'none' : `${status.dev} ${status.ino}`
}
