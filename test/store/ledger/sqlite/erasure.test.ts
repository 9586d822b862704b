import { DatabaseSync } from 'node:sqlite'

import { expect, test } from 'vitest'

import { createTemporaryStores } from '../temporary-stores.ts'
import { erasurePolicy } from '../../../../src/domain/store/erasure.ts'

test('the erasure policy covers every column of the store', async () => {
  const setup = createTemporaryStores()
  await setup.openStore()
  const database = new DatabaseSync(setup.path)
  const namesIn = (table: string): Set<unknown> =>
    new Set(
      database
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => name),
    )
  expect(Object.keys(erasurePolicy).map((table) => [table, namesIn(table)])).toEqual(
    Object.entries(erasurePolicy).map(([table, rules]) => [table, new Set(Object.values(rules).flat())]),
  )
  database.close()
  await setup.remove()
})
