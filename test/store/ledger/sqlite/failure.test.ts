import { DatabaseSync } from 'node:sqlite'

import { expect, test } from 'vitest'

import { UsageError } from '../../../../src/errors/kinds.ts'
import { Database, resultCode, storeFailure } from '../../../../src/store/ledger/sqlite/engine.ts'

/** Returns a real error of SQLite. */
function causeError(...statements: string[]): unknown {
  const database = new DatabaseSync(':memory:')
  try {
    for (const statement of statements) database.exec(statement)
  } catch (error) {
    return error
  } finally {
    database.close()
  }
  throw new Error('nothing failed')
}

const fillTable = 'CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))'

test.each([
  ['a full disk', causeError('PRAGMA max_page_count = 2', fillTable), 'no space is left on the disk'],
  ['a file that can only be read', causeError('PRAGMA query_only = ON', fillTable), 'it is not writable'],
])('the error for %s names the cause and has a hint', (_what, error, why) => {
  const failure = storeFailure('/d/ledger.sqlite', error)
  expect(failure).toMatchObject({ code: 'io', message: `cannot use the store "/d/ledger.sqlite": ${why}` })
  expect(failure).toMatchObject({ hint: expect.stringMatching(/\.$/) as string })
})

test('a violated constraint of the tables is an internal error', () => {
  const error = causeError('CREATE TABLE t (x CHECK (x > 0))', 'INSERT INTO t VALUES (0)')
  expect(storeFailure('/d/ledger.sqlite', error)).toMatchObject({ code: 'internal' })
})

test('an error that has a type already is returned unchanged', () => {
  const error = new UsageError('no')
  expect(storeFailure('/d/ledger.sqlite', error)).toBe(error)
})

test('after the disk has failed once no more statements are run', () => {
  const database = new Database(':memory:', 0)
  database.exec('CREATE TABLE t (x); CREATE TABLE u (x); PRAGMA max_page_count = 3')
  expect(() => database.transaction(() => database.run('INSERT INTO t VALUES (zeroblob(100000))'))).toThrow(
    /no space is left/,
  )
  expect(() => database.get('SELECT 1')).toThrow(/no space is left/)
  expect(() => database.transaction(() => 1)).toThrow(/no space is left/)
  database.close()
})

test('a transaction that fails leaves nothing behind, and the next one works', () => {
  const database = new Database(':memory:', 0)
  database.exec('CREATE TABLE t (x CHECK (x > 0))')
  const insertBoth = (): void => {
    database.run('INSERT INTO t VALUES (1)')
    database.run('INSERT INTO t VALUES (0)')
  }
  expect(() => database.transaction(insertBoth)).toThrow(
    expect.objectContaining({ code: 'internal' }) as Error,
  )
  expect(database.all('SELECT x FROM t')).toEqual([])
  database.transaction(() => database.run('INSERT INTO t VALUES (2)'))
  expect(database.all('SELECT x FROM t')).toEqual([{ x: 2 }])
  database.close()
})

const errorWithCode = (errcode: unknown): Error => Object.assign(new Error('x'), { errcode })

test('an error code without a message is named by its primary code', () => {
  expect(resultCode(errorWithCode(0x0163))).toBe(0x63)
  expect(storeFailure('/d/ledger.sqlite', errorWithCode(0x0163))).toMatchObject({
    code: 'io',
    message: 'cannot use the store "/d/ledger.sqlite": SQLite reported error 99',
  })
})

test('another error is returned unchanged, and a value that is not an error becomes one', () => {
  for (const error of [new Error('x'), errorWithCode('5')])
    expect(storeFailure('/d/ledger.sqlite', error)).toBe(error)
  expect(storeFailure('/d/ledger.sqlite', 'x')).toMatchObject({ code: 'internal' })
})
