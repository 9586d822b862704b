import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { all, type Engine, get, run, type Work } from '../../../src/store/ledger/engine.ts'
import { postgresEngine } from '../../../src/store/ledger/postgres/connection.ts'
import { Database, sqliteEngine } from '../../../src/store/ledger/sqlite/engine.ts'
import { queryDatabase, emptyDatabase } from '../../harness/postgres.ts'
import { temporaryFolder } from '../../harness/world.ts'
import { connectTo } from './postgres/connect.ts'
import { backends } from './temporary-stores.ts'

const createTable = 'CREATE TABLE t (id integer PRIMARY KEY, name text)'

/** Opens two engines of one database with a table `t`, like those of two processes. */
async function openTwoEngines(backend: (typeof backends)[number]): Promise<[Engine, Engine]> {
  if (backend === 'PostgreSQL') {
    const url = await emptyDatabase()
    await queryDatabase(url, `CREATE SCHEMA refcheck ${createTable}`)
    return [postgresEngine(connectTo(url)), postgresEngine(connectTo(url))]
  }
  const path = join(temporaryFolder(), 'engine.sqlite')
  const databases = [new Database(path, 50), new Database(path, 50)] as const
  databases[0].exec('PRAGMA journal_mode = WAL')
  databases[0].exec(createTable)
  onTestFinished(() => databases.forEach((each) => each.close()))
  return [sqliteEngine(databases[0]), sqliteEngine(databases[1])]
}

function* insertRow(id: number, name: string): Work<number> {
  return yield* run('INSERT INTO t (id, name) VALUES (:id, :name)', { id, name, unused: 1 })
}

function* countRows(): Work<number> {
  return Number((yield* get<{ n: number }>('SELECT count(*) AS n FROM t'))?.n)
}

for (const backend of backends) {
  test(`${backend}: statements return rows, the first row or the number of changed rows`, async () => {
    const [engine] = await openTwoEngines(backend)
    expect(await engine.run(insertRow(1, 'one'))).toBe(1)
    expect(await engine.run(insertRow(2, 'two'))).toBe(1)
    expect(await engine.run(all('SELECT id, name FROM t ORDER BY id'))).toEqual([
      { id: 1, name: 'one' },
      { id: 2, name: 'two' },
    ])
    expect(await engine.run(get('SELECT name FROM t WHERE id = :id', { id: 2 }))).toEqual({ name: 'two' })
    expect(await engine.run(get('SELECT name FROM t WHERE id = :id', { id: 3 }))).toBeUndefined()
    expect(await engine.run(run('UPDATE t SET name = :name', { name: 'other' }))).toBe(2)
  })

  test(`${backend}: a list can be a parameter, and e-mail addresses are compared case-insensitively`, async () => {
    const [engine] = await openTwoEngines(backend)
    await engine.run(insertRow(1, 'One@example.com'))
    await engine.run(insertRow(2, 'two@example.com'))
    const selectListed = 'SELECT t.id FROM t WHERE {isIn t.name, names} {lockRows t}'
    expect(await engine.run(all(selectListed, { names: ['two@example.com', 'three'] }))).toEqual([{ id: 2 }])
    const selectSameEmail = 'SELECT id FROM t WHERE {sameEmail name, :email}'
    expect(await engine.run(all(selectSameEmail, { email: 'ONE@EXAMPLE.COM' }))).toEqual([{ id: 1 }])
  })

  test(`${backend}: a transaction applies all of its changes or none, and throws the error of its function`, async () => {
    const [engine, other] = await openTwoEngines(backend)
    const failed = engine.transaction(function* () {
      yield* insertRow(1, 'one')
      throw new RangeError('no')
    })
    await expect(failed).rejects.toThrow(new RangeError('no'))
    expect(await engine.run(countRows())).toBe(0)
    await engine.transaction(function* () {
      yield* insertRow(1, 'one')
      yield* insertRow(2, 'two')
    })
    expect(await other.run(countRows())).toBe(2)
  })

  test(`${backend}: the error of a statement is thrown at the call that ran the statement`, async () => {
    const [engine] = await openTwoEngines(backend)
    await engine.run(insertRow(1, 'one'))
    const caught = await engine.run(
      (function* (): Work<string> {
        try {
          yield* insertRow(1, 'again')
          return 'nothing'
        } catch (error) {
          return (error as Error).message
        }
      })(),
    )
    expect(caught).toBe('an internal rule of the store was violated')
  })

  test(`${backend}: a snapshot does not see what another process commits meanwhile`, async () => {
    const [engine, other] = await openTwoEngines(backend)
    let insertion: Promise<number> | undefined
    const counts = await engine.snapshot(function* () {
      const before = yield* countRows()
      insertion ??= other.run(insertRow(1, 'one'))
      const between = yield* get<{ n: number }>(
        backend === 'SQLite' ? 'SELECT count(*) AS n FROM t' : 'SELECT count(*) AS n FROM t, pg_sleep(0.3)',
      )
      return [before, Number(between?.n), yield* countRows()]
    })
    await insertion
    expect(counts).toEqual([0, 0, 0])
    expect(await engine.run(countRows())).toBe(1)
  })
}
