import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { Database, makeDurable } from '../../../../src/store/ledger/sqlite/engine.ts'

test('a commit is flushed before it returns, and deleted text is overwritten', () => {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-journal-'))
  const database = new Database(join(folder, 'x.sqlite'), 0)
  makeDurable(database)
  const synchronousFull = 2
  expect(database.pragma('journal_mode')).toBe('wal')
  expect(database.pragma('synchronous')).toBe(synchronousFull)
  expect(database.pragma('fullfsync')).toBe(1)
  expect(database.pragma('secure_delete')).toBe(1)
  expect(database.pragma('foreign_keys')).toBe(1)
  database.close()
  rmSync(folder, { recursive: true })
})
