import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { beginOne } from '../batches.ts'
import { createTemporaryStores, type TemporaryStores } from '../temporary-stores.ts'
import { systemRandom } from '../../../../src/host/random.ts'
import { Database } from '../../../../src/store/ledger/sqlite/engine.ts'
import { formats, inspect, migrate } from '../../../../src/store/ledger/sqlite/store.ts'

let setup: TemporaryStores
beforeEach(() => {
  setup = createTemporaryStores()
})
afterEach(() => setup.remove())

/** The migration of a later version, which adds a column. */
const laterFormats = [...formats, `ALTER TABLE submissions ADD COLUMN language TEXT NOT NULL DEFAULT 'en'`]

test('a store of format 1 is migrated to a later format without a change to any row', async () => {
  const store = await setup.openStore()
  await beginOne(store.ledger, 'a@example.com')
  const before = await store.ledger.list({})
  await store.close()
  const database = new Database(setup.path, 0)
  migrate(database, systemRandom, undefined, laterFormats)
  expect(database.pragma('user_version')).toBe(2)
  expect(database.all('SELECT email, state, language FROM submissions')).toEqual([
    { email: before[0]?.recipient?.email, state: 'sending', language: 'en' },
  ])
  // A second process finds nothing left to do.
  migrate(database, systemRandom, undefined, laterFormats)
  expect(() => inspect(database)).toThrow(
    `cannot use the store "${setup.path}": it was made by a newer refcheck (format 2; this version supports up to 1)`,
  )
  database.close()
})

test('a migration that fails halfway does not change the store', async () => {
  await (await setup.openStore()).close()
  const database = new Database(setup.path, 0)
  const broken = [...formats, 'ALTER TABLE submissions ADD COLUMN language TEXT; SELECT no_such_function()']
  expect(() => migrate(database, systemRandom, undefined, broken)).toThrow('SQLite')
  expect(database.pragma('user_version')).toBe(1)
  expect(database.all(`SELECT 1 FROM pragma_table_info('submissions') WHERE name = 'language'`)).toEqual([])
  database.close()
})

test('a file from before 1.0.0 is refused in one line and not changed', async () => {
  mkdirSync(dirname(setup.path), { mode: 0o700 })
  const formerStore = new DatabaseSync(setup.path)
  formerStore.exec(`CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
    PRAGMA application_id = 0x5246434c; PRAGMA user_version = 10`)
  formerStore.close()
  const bytes = readFileSync(setup.path)
  await expect(setup.openStore()).rejects.toMatchObject({
    code: 'io',
    message: `cannot use the store "${setup.path}": it was made by a refcheck from before 1.0.0`,
    hint: 'Use the refcheck that made it, or choose another file with REFCHECK_STORE. Nothing was changed.',
  })
  expect(readFileSync(setup.path)).toEqual(bytes)
})

test('the tables refuse a second row in flight for the same person', async () => {
  const store = await setup.openStore()
  await beginOne(store.ledger, 'a@example.com')
  await store.close()
  const database = new DatabaseSync(setup.path)
  const copyRow = `INSERT INTO submissions (batch_id, row_number, state, attempt_id, changed_at, package_id, body_sha256, fingerprint)
    SELECT batch_id, 99, 'sending', 'b', 0, package_id, '', fingerprint`
  expect(() => database.exec(`${copyRow} FROM submissions`)).toThrow(/UNIQUE/)
  database.exec(`${copyRow} || 'of another person' FROM submissions`)
  database.close()
})
