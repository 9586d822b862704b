import { afterEach, beforeEach, expect, test } from 'vitest'

import { beginOne } from '../batches.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { connectTo } from './connect.ts'
import { allowWithoutLog, createStore } from '../../../harness/create-store.ts'
import { queryDatabase, emptyDatabase } from '../../../harness/postgres.ts'
import { systemRandom } from '../../../../src/host/random.ts'
import { migrateStore } from '../../../../src/store/ledger/open.ts'
import { readFormat, formats, inspect, migrate } from '../../../../src/store/ledger/postgres/store.ts'

let setup: TemporaryStores

beforeEach(() => {
  setup = createTemporaryStores()
})
afterEach(() => setup.remove())

const readRefusal = (url: string): Promise<unknown> => setup.openStore(url).catch((error: unknown) => error)

test('a database without a store is refused with the command that creates one, and is not changed', async () => {
  const url = await emptyDatabase()
  expect(await readRefusal(url)).toMatchObject({
    code: 'io',
    message: expect.stringMatching(
      /^cannot use the store "postgres:.*": the database has no tables of refcheck$/,
    ) as string,
    hint: 'Make them with: refcheck store migrate',
  })
  expect(await queryDatabase(url, `SELECT to_regnamespace('refcheck') AS schema`)).toEqual([{ schema: null }])
})

test('several processes create the store at once: one creates it, and all succeed', async () => {
  const url = await emptyDatabase()
  const databases = Array.from({ length: 3 }, () => connectTo(url, { lockWaitMs: 5_000 }))
  const results = await Promise.all(databases.map((database) => migrate(database, systemRandom)))
  expect(results.map(({ from }) => from).sort((one, other) => one - other)).toEqual([
    0,
    formats.length,
    formats.length,
  ])
  expect(await Promise.all(databases.map((database) => readFormat(database, url)))).toEqual([1, 1, 1])
  await allowWithoutLog(url)
  await beginOne((await setup.openStore(url)).ledger, 'a@example.com')
})

test('a store that is created in place of a dropped one has the same fingerprint key', async () => {
  const url = await emptyDatabase()
  const createAndReadKey = async () => {
    await migrateStore({ ...setup.options, chosenAddress: url })
    return queryDatabase(
      url,
      `SELECT encode(value, 'hex') AS key FROM refcheck.meta WHERE name = 'fingerprint_key'`,
    )
  }
  const formerKey = await createAndReadKey()
  await allowWithoutLog(url)
  await beginOne((await setup.openStore(url)).ledger, 'a@example.com')
  await queryDatabase(url, 'DROP SCHEMA refcheck CASCADE')
  expect(await createAndReadKey()).toEqual(formerKey)
})

/** The migration of a later version, which adds a column. */
const laterFormats = [...formats, `ALTER TABLE submissions ADD COLUMN language text NOT NULL DEFAULT 'en'`]

test('a store of format 1 is migrated to a later format without a change to any row', async () => {
  const url = await emptyDatabase()
  const database = connectTo(url)
  await migrate(database, systemRandom)
  await allowWithoutLog(url)
  await beginOne((await setup.openStore(url)).ledger, 'a@example.com')
  await expect(inspect(database, 'here', laterFormats)).rejects.toMatchObject({
    message: 'cannot use the store "here": it is of format 1, and this refcheck uses 2',
    hint: expect.stringMatching(/with: refcheck store migrate$/) as string,
  })
  expect(await migrate(database, systemRandom, undefined, laterFormats)).toEqual({ from: 1, to: 2 })
  expect(await queryDatabase(url, 'SELECT email, state, language FROM refcheck.submissions')).toEqual([
    { email: 'a@example.com', state: 'sending', language: 'en' },
  ])
  expect(await migrate(database, systemRandom, undefined, laterFormats)).toEqual({ from: 2, to: 2 })
})

test('a migration that fails halfway does not change the store', async () => {
  const url = await emptyDatabase()
  const database = connectTo(url)
  await migrate(database, systemRandom)
  const broken = [...formats, 'ALTER TABLE submissions ADD COLUMN language text; SELECT no_such_function()']
  await expect(migrate(database, systemRandom, undefined, broken)).rejects.toMatchObject({ code: 'io' })
  expect(await readFormat(database, url)).toBe(1)
})

test('a database with a store from before 1.0.0 is refused in one line and not changed', async () => {
  const url = await emptyDatabase()
  await queryDatabase(
    url,
    `CREATE SCHEMA refcheck; CREATE TABLE refcheck.meta (name text PRIMARY KEY, value bytea NOT NULL);
     INSERT INTO refcheck.meta VALUES ('format', '2')`,
  )
  const refusal = {
    code: 'io',
    message: expect.stringMatching(
      /^cannot use the store "postgres:.*": it was made by a refcheck from before 1.0.0$/,
    ) as string,
    hint: 'Use the refcheck that made it, or choose another store with REFCHECK_STORE. Nothing was changed.',
  }
  expect(await readRefusal(url)).toMatchObject(refusal)
  await expect(migrateStore({ ...setup.options, chosenAddress: url })).rejects.toMatchObject(refusal)
  expect(
    await queryDatabase(
      url,
      `SELECT relname FROM pg_class WHERE relnamespace = 'refcheck'::regnamespace AND relkind = 'r'`,
    ),
  ).toEqual([{ relname: 'meta' }])
})

test.each([
  [99, /made by a newer refcheck \(format 99; this version supports up to 1\)/, /^Update refcheck/],
  ['0', /has no tables of refcheck/, /store migrate$/],
])('format %s is refused', async (format, message, hint) => {
  const url = await emptyDatabase()
  await migrate(connectTo(url), systemRandom)
  await queryDatabase(url, `UPDATE refcheck.meta SET value = '${format}' WHERE name = 'format'`)
  expect(await readRefusal(url)).toMatchObject({
    code: 'io',
    message: expect.stringMatching(message) as string,
    hint: expect.stringMatching(hint) as string,
  })
})

test('a database user who may only read and write rows can order', async () => {
  const url = await emptyDatabase()
  await createStore(url)
  const user = `clerk_${new URL(url).pathname.slice(1)}`
  await queryDatabase(
    url,
    `CREATE ROLE ${user} LOGIN PASSWORD 'secret'; GRANT USAGE ON SCHEMA refcheck TO ${user};
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA refcheck TO ${user}`,
  )
  const userUrl = new URL(url)
  userUrl.username = user
  userUrl.password = 'secret'
  const store = await setup.openStore(userUrl.href)
  expect(await beginOne(store.ledger, 'a@example.com')).toMatchObject({ state: 'sending' })
  expect(await store.ledger.recover(1)).toHaveLength(1)
  await store.close()
  await queryDatabase(url, `DROP OWNED BY ${user}; DROP ROLE ${user}`)
})
