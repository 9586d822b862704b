import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { NewRow } from '../../../src/domain/batch/batch.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { fileBatch, orderRow } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let store: Store

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  test('of many orders with the same phone, only those of similar people hold a row', async () => {
    const rowNamed = (row: number, [first_name, email]: readonly [string, string]): NewRow =>
      ({
        ...orderRow(row, email),
        recipient: { first_name, last_name: 'Low', email, phone: '+61400000000' },
      }) as NewRow
    const letters = Array.from('abcdefghijklmnopqrstuvwxyz')
    // 52 first names, none of which is similar to another one.
    const names = letters.flatMap((letter, index) => [
      letter.repeat(8),
      `${letter.repeat(4)}${(letters[index - 1] ?? 'z').repeat(4)}`,
    ])
    const first = fileBatch()
    await store.batches.add(
      first,
      names.map((name, index) => rowNamed(index + 1, [name, `${name}@x.example`])),
    )
    expect(await store.batches.countRows(first.id)).toMatchObject({ total: 52, pending: 52 })
    const laterRows = (
      [
        // The same person; a similar name and the same e-mail; only the same e-mail; and twice only the same phone.
        ['cccccccc', 'cccccccc@x.example'],
        ['cccccccd', 'cccccccc@x.example'],
        ['0123456', 'aaaaaaaa@x.example'],
        ['Low', 'low@x.example'],
        ['0123456', 'other@x.example'],
      ] as const
    ).map((person, index) => rowNamed(index + 1, person))
    const preview = await store.batches.preview(fileBatch(), laterRows)
    const shownConflicts = preview.conflicts.map(({ row, conflict }) => [
      row.row,
      conflict.reason,
      conflict.shares,
      conflict.order.row,
      conflict.moreCount,
    ])
    expect(shownConflicts).toEqual([
      [1, 'same', [], 5, 0],
      [2, 'similar', ['email', 'phone'], 5, 0],
      [3, 'similar', ['email', 'phone'], 1, 0],
    ])
    expect(preview.phoneSharers.map(({ row, order }) => [row.row, order.row])).toEqual([
      [4, 1],
      [5, 1],
    ])
  })
})
