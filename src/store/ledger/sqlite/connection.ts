import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

import type { Query, Work } from '../engine.ts'
import { resultCode, storeFailure } from './failure.ts'

export type Values = Record<string, SQLInputValue>

/** After one of these the disk and SQLite's idea of it may differ, so nothing more is tried. */
const fatal = new Set<number | undefined>([10, 11, 13, 26])

/** A connection whose failures are the program's own, named by the store they happened in. */
export class Database {
  readonly location: string
  readonly #connection: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #failed: Error | undefined

  /** `busyMs`: how long to wait for another process's write. */
  constructor(location: string, busyMs: number) {
    this.location = location
    try {
      this.#connection = new DatabaseSync(location, { timeout: busyMs })
    } catch (error) {
      throw storeFailure(location, error)
    }
  }

  exec(sql: string): void {
    this.#guard(() => this.#connection.exec(sql))
  }

  /** A PRAGMA's only value. */
  pragma(name: string): string | number {
    const row = this.#guard(() => this.#connection.prepare(`PRAGMA ${name}`).get())
    const [value] = Object.values(row ?? {})
    return typeof value === 'string' ? value : Number(value)
  }

  get(sql: string, values: Values = {}): unknown {
    return this.#guard(() => this.#statement(sql).get(values))
  }

  all(sql: string, values: Values = {}): unknown[] {
    return this.#guard(() => this.#statement(sql).all(values))
  }

  /** How many rows it changed. */
  run(sql: string, values: Values = {}): number {
    return this.#guard(() => Number(this.#statement(sql).run(values).changes))
  }

  /** All statements of `work`, in the transaction that is open or each by itself. */
  runSync<T>(work: Work<T>): T {
    let step = work.next()
    while (step.done !== true) {
      let answer: unknown
      try {
        answer = this.#answer(step.value)
      } catch (error) {
        step = work.throw(error)
        continue
      }
      step = work.next(answer)
    }
    return step.value
  }

  /** All of `work` or none of it; from its first read on no other process writes. Committed with an fsync. */
  transaction<T>(work: () => T): T {
    return this.#within('BEGIN IMMEDIATE', work)
  }

  /** The same over work that waits; this connection is used for nothing else meanwhile. */
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

  /** All reads of `work` see the store at one moment, whatever other processes write meanwhile. */
  snapshot<T>(work: () => T): T {
    return this.#within('BEGIN', work)
  }

  /** For what needs the connection itself, such as SQLite's own way to copy a database. */
  async copyTo(copy: (connection: DatabaseSync) => Promise<unknown>): Promise<void> {
    await copy(this.#connection)
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

  #answer({ kind, sql, values }: Query): unknown {
    return this[kind](sql, values as Values)
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#connection.prepare(sql)
    statement.setAllowUnknownNamedParameters(true)
    this.#statements.set(sql, statement)
    return statement
  }

  /** The failure that led here is the one to tell; what a rollback adds to it is not. */
  #rollBack(): void {
    try {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK')
    } catch (error) {
      this.#failed ??= storeFailure(this.location, error)
    }
  }

  #guard<T>(work: () => T): T {
    if (this.#failed !== undefined) throw this.#failed
    try {
      return work()
    } catch (error) {
      const failure = storeFailure(this.location, error)
      if (fatal.has(resultCode(error))) this.#failed = failure
      throw failure
    }
  }
}
