import { expect, test } from 'vitest'

import { NoAnswerError, StoreBusyError, StoreDownError } from '../../../../src/errors/kinds.ts'
import { queryDatabase, emptyDatabase } from '../../../harness/postgres.ts'
import { startProxy } from './filtering-proxy.ts'
import { connectTo } from './connect.ts'

const nameOf = (url: string): string => new URL(url).pathname.slice(1)

async function createDatabaseWithTable(): Promise<string> {
  const url = await emptyDatabase()
  await queryDatabase(url, 'CREATE SCHEMA refcheck CREATE TABLE t (id int PRIMARY KEY)')
  return url
}

test('statements with named values, a repeated name and casts return the expected types', async () => {
  const database = connectTo(await emptyDatabase())
  const sql = `SELECT count(*) AS n, :a::int + :a AS twice, '12:30' AS time, :bytes::bytea AS bytes,
    CAST(:none AS text) AS none, 1.5::numeric AS half, true AS yes`
  expect(await database.get(sql, { a: 4, bytes: Buffer.from([0, 255]), none: null })).toEqual({
    n: 1,
    twice: 8,
    time: '12:30',
    bytes: Buffer.from([0, 255]),
    none: null,
    half: 1.5,
    yes: true,
  })
})

test('characters that PostgreSQL cannot store in a text are replaced', async () => {
  const database = connectTo(await emptyDatabase())
  expect(await database.get('SELECT CAST(:text AS text) AS text', { text: 'a\0b\ud800' })).toEqual({
    text: 'a\uFFFDb\uFFFD',
  })
})

test('a transaction is atomic, and other transactions wait for its end', async () => {
  const database = connectTo(await createDatabaseWithTable())
  const failed = database.transaction(async (sql) => {
    await sql.run('INSERT INTO t VALUES (1)')
    throw new RangeError('no')
  })
  const after = database.get('SELECT count(*) AS n FROM t')
  await expect(failed).rejects.toThrow('no')
  expect(await after).toEqual({ n: 0 })
  expect(await database.transaction((sql) => sql.run('INSERT INTO t VALUES (1), (2)'))).toBe(2)
  expect(await database.run('DELETE FROM t')).toBe(2)
})

test('a statement waits for the lock of another process for a limited time', async () => {
  const url = await emptyDatabase()
  const [one, two] = [connectTo(url), connectTo(url)]
  await one.run('SELECT pg_advisory_lock(7)')
  const error = await two.run('SELECT pg_advisory_lock(7)').catch((each: unknown) => each)
  expect(error).toBeInstanceOf(StoreBusyError)
  expect(error).not.toBeInstanceOf(StoreDownError)
})

test('a connection with a limit for all its work is abandoned at that limit, though each answer comes in time', async () => {
  const database = connectTo(await emptyDatabase(), { answerMs: 2_000, maxConnectionMs: 500 })
  const queries = Array.from({ length: 20 }, () => database.get('SELECT pg_sleep(0.1)'))
  const results = await Promise.allSettled(queries)
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: expect.any(StoreDownError),
  })
})

test('synchronous commits are on, also for a role that switched them off', async () => {
  const url = await emptyDatabase()
  await queryDatabase(url, `ALTER DATABASE ${nameOf(url)} SET synchronous_commit = off`)
  expect(await connectTo(url).get('SHOW synchronous_commit')).toEqual({ synchronous_commit: 'on' })
})

test('a read-only database refuses orders', async () => {
  const url = await emptyDatabase()
  await queryDatabase(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`)
  await expect(connectTo(url).get('SELECT 1')).rejects.toThrow(/: the database is read-only$/)
})

test('a connection that the server ended is opened again, and its session is set up again', async () => {
  const url = await emptyDatabase()
  const database = connectTo(url, { reconnectMs: 5_000 })
  database.onSession(async (sql) => {
    await sql.run('SELECT pg_advisory_lock(1)')
  })
  const readPid = async () => (await database.get('SELECT pg_backend_pid() AS pid')) as { pid: number }
  const before = await readPid()
  expect(database.connectionNumber).toBe(1)
  await queryDatabase(url, `SELECT pg_terminate_backend(${before.pid})`)
  expect(await readPid()).not.toEqual(before)
  expect(database.connectionNumber).toBe(2)
  const countLocks = `SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`
  expect(await database.get(countLocks)).toEqual({ n: 1 })
})

test('if the server ends the session during a statement, the next statement opens a new connection', async () => {
  const url = await emptyDatabase()
  const database = connectTo(url)
  for (let session = 1; session <= 20; session += 1) {
    const { pid } = (await database.get('SELECT pg_backend_pid() AS pid')) as { pid: number }
    const failure = database.get('SELECT pg_sleep(60)').catch((error: unknown) => error)
    const isRunning = `SELECT 1 FROM pg_stat_activity WHERE pid = ${pid} AND query LIKE 'SELECT pg_sleep%'`
    await expect.poll(() => queryDatabase(url, isRunning)).toHaveLength(1)
    await queryDatabase(url, `SELECT pg_terminate_backend(${pid})`)
    expect(await failure).toBeInstanceOf(StoreDownError)
    expect(await database.get('SELECT 1 AS one')).toEqual({ one: 1 })
    expect(database.connectionNumber).toBe(session + 1)
  }
})

test('if a change fails and ends its session, the next statement opens a new connection', async () => {
  const url = await createDatabaseWithTable()
  const database = connectTo(url)
  for (let session = 1; session <= 3; session += 1) {
    await database.run('SET transaction_timeout = 100')
    await expect(database.run('INSERT INTO t SELECT 1 FROM pg_sleep(60)')).rejects.toThrow('25P04')
    expect(await database.get('SELECT count(*) AS n FROM t')).toEqual({ n: 0 })
    expect(database.connectionNumber).toBe(session + 1)
  }
})

const insert = 'INSERT INTO t VALUES (1)'

test.each(['before', 'after'])(
  'if the connection is cut %s the server receives the COMMIT, the error is a NoAnswerError',
  async (when) => {
    const proxyUrl = await startProxy(await createDatabaseWithTable(), (text, [client, upstream]) => {
      if (!text.includes('COMMIT')) return true
      if (when === 'after') upstream.write(Buffer.from(text, 'latin1'))
      setImmediate(() => client.destroy())
      return false
    })
    const database = connectTo(proxyUrl, { reconnectMs: 5_000 })
    await expect(database.transaction((sql) => sql.run(insert))).rejects.toBeInstanceOf(NoAnswerError)
  },
)

test('if the connection is cut during a change without a transaction, the error is a NoAnswerError', async () => {
  const proxyUrl = await startProxy(await createDatabaseWithTable(), (text, [client]) => {
    if (text.includes('INSERT')) client.destroy()
    return !text.includes('INSERT')
  })
  await expect(connectTo(proxyUrl, { reconnectMs: 5_000 }).run(insert)).rejects.toBeInstanceOf(NoAnswerError)
})

test('if the connection is cut before the COMMIT, the transaction is repeated', async () => {
  let cuts = 0
  const proxyUrl = await startProxy(await createDatabaseWithTable(), (text, [client]) => {
    if (!text.includes('INSERT') || cuts > 1) return true
    cuts += 1
    client.destroy()
    return false
  })
  const messages: string[] = []
  const database = connectTo(proxyUrl, { reconnectMs: 5_000, onMessage: (message) => messages.push(message) })
  expect(await database.transaction((sql) => sql.run(insert))).toBe(1)
  expect(cuts).toBe(2)
  expect(messages.map((each) => each.replaceAll(/"[^"]*"/g, 'S'))).toEqual([
    'Waiting for the store S: the connection broke.',
    'The store S can be used again.',
  ])
})

const cannotUse = (why: string): RegExp => new RegExp(`^cannot use the store "postgres://[^"]*": ${why}$`)

test.each([
  ['the password', [/owner:[^@]*@/, 'owner:hunter2@'], cannotUse('the server refused the password')],
  ['no password', [/:[^:@/]*@/, '@'], cannotUse('a password is needed')],
  ['the database', [/[^/]*$/, 'nowhere'], cannotUse('there is no such database')],
  ['the port', [/:\d+\//, ':1/'], cannotUse('connection refused')],
  ['TLS', [/$/, '?sslmode=verify-full'], cannotUse('the server does not offer TLS')],
  [
    'the authority',
    [/$/, '?sslmode=verify-full&sslrootcert=/nowhere.pem'],
    /^cannot read sslrootcert "\/nowhere.pem": there is no such file/,
  ],
] as const)(
  'the error for a wrong setting is one line with a hint: %s',
  async (_, [part, replacement], message) => {
    const url = (await emptyDatabase()).replace(part, replacement)
    const error: unknown = await connectTo(url)
      .get('SELECT 1')
      .catch((each: unknown) => each)
    expect(error).toMatchObject({
      code: 'io',
      message: expect.stringMatching(message) as string,
      hint: expect.stringMatching(/./) as string,
    })
  },
)

test('a transaction in which a statement failed is an error, even if the failure was caught', async () => {
  const database = connectTo(await createDatabaseWithTable())
  const transaction = database.transaction(async (sql) => {
    await sql.run('INSERT INTO t VALUES (1)')
    await sql.run('SELECT 1/0').catch(() => undefined)
  })
  await expect(transaction).rejects.toMatchObject({ code: 'internal' })
  expect(await database.get('SELECT count(*) AS n FROM t')).toEqual({ n: 0 })
})

test('a notification without a text is delivered, and a closed store refuses statements', async () => {
  const url = await emptyDatabase()
  const database = connectTo(url)
  const { promise, resolve } = Promise.withResolvers<string>()
  await database.listen('news', resolve)
  await queryDatabase(url, 'NOTIFY news')
  expect(await promise).toBe('')
  await database.close()
  expect(database.connectionNumber).toBe(0)
  await expect(database.get('SELECT 1')).rejects.toMatchObject({ code: 'internal' })
})

test('two transactions in a deadlock are both completed, one after the other', async () => {
  const url = await createDatabaseWithTable()
  await queryDatabase(url, 'INSERT INTO refcheck.t VALUES (1), (2)')
  const locks = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const transactions = [1, 2].map(async (first, index) =>
    connectTo(url, { lockWaitMs: 20_000 }).transaction(async (sql) => {
      const lock = 'SELECT id FROM t WHERE id = :id FOR UPDATE'
      await sql.get(lock, { id: first })
      locks[index]?.resolve()
      await locks[1 - index]?.promise
      return sql.get(lock, { id: 3 - first })
    }),
  )
  expect(await Promise.all(transactions)).toEqual([{ id: 2 }, { id: 1 }])
})
