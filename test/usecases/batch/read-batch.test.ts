import { randomUUID } from 'node:crypto'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { memoryStore, runnerOf, addBatch } from './runner.ts'
import { orderRow, orderRows } from '../../store/ledger/files.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { findBatch, listStoppedRows } from '../../../src/usecases/batch/read-batch.ts'

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

const idAfter = (start: string): string => `${start}${randomUUID().slice(start.length)}`
const found = (id: string) =>
  findBatch(runnerOf(store).ports, id).then(
    ({ id: own }) => own,
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  )

test('a batch is found by its id or a unique start of it', async () => {
  const [one, two, other] = ['aaaa1', 'aaaa2', 'bbbb1'].map(idAfter) as [string, string, string]
  for (const [at, id] of [one, two, other].entries())
    await addBatch(store, { id, identity: id, rows: orderRows(1, at + 1) })
  expect(await found(one)).toBe(one)
  expect(await found('bbbb')).toBe(other)
  expect(await found('aaaa')).toBe('usage: 2 batches of this store start with "aaaa"')
  expect(await found('cccc')).toBe('not_found: no batch cccc in this store')
  const nobodys = idAfter('aaaa3')
  expect(await found(nobodys)).toBe(`not_found: no batch ${nobodys} in this store`)
})

test('listStoppedRows returns the rows with conflicts in the order of the file', async () => {
  const { ports } = runnerOf(store)
  const stopped = async (id: string) => {
    const batch = await store.batches.find(id)
    return batch && (await listStoppedRows(ports, batch)).map(({ row, state }) => [row, state])
  }
  const first = await addBatch(store)
  expect(await stopped(first.id)).toEqual([])
  const second = await addBatch(store, {
    rows: [
      orderRow(1, 'new@example.com'),
      ...orderRows(2).map((row) => Object.assign(row, { row: row.row + 1 })),
    ],
  })
  expect(await stopped(second.id)).toEqual([
    [2, 'duplicate'],
    [3, 'duplicate'],
  ])
})
