import { randomUUID } from 'node:crypto'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { memoryStore, createRunner, addBatch } from './runner.ts'
import { orderRow, orderRows } from '../../store/ledger/files.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { findBatch, listStoppedRows } from '../../../src/usecases/batch/read-batch.ts'

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

const createIdFrom = (start: string): string => `${start}${randomUUID().slice(start.length)}`
const findIdOrError = (id: string) =>
  findBatch(createRunner(store).ports, id).then(
    ({ id: foundId }) => foundId,
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  )

test('a batch is found by its id or a unique start of it', async () => {
  const [one, two, other] = ['aaaa1', 'aaaa2', 'bbbb1'].map(createIdFrom) as [string, string, string]
  for (const [at, id] of [one, two, other].entries())
    await addBatch(store, { id, identity: id, rows: orderRows(1, at + 1) })
  expect(await findIdOrError(one)).toBe(one)
  expect(await findIdOrError('bbbb')).toBe(other)
  expect(await findIdOrError('aaaa')).toBe('usage: 2 batches of this store start with "aaaa"')
  expect(await findIdOrError('cccc')).toBe('not_found: no batch cccc in this store')
  const unknownId = createIdFrom('aaaa3')
  expect(await findIdOrError(unknownId)).toBe(`not_found: no batch ${unknownId} in this store`)
})

test('listStoppedRows returns the rows with conflicts in the order of the file', async () => {
  const { ports } = createRunner(store)
  const listStopped = async (id: string) => {
    const batch = await store.batches.find(id)
    return batch && (await listStoppedRows(ports, batch)).map(({ row, state }) => [row, state])
  }
  const first = await addBatch(store)
  expect(await listStopped(first.id)).toEqual([])
  const second = await addBatch(store, {
    rows: [
      orderRow(1, 'new@example.com'),
      ...orderRows(2).map((row) => Object.assign(row, { row: row.row + 1 })),
    ],
  })
  expect(await listStopped(second.id)).toEqual([
    [2, 'duplicate'],
    [3, 'duplicate'],
  ])
})
