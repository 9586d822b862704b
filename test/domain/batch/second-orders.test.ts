import { expect, test } from 'vitest'

import { idsToRead, type RequestRead } from '../../../src/domain/submission/submission.ts'

const minute = 60_000
const createIds = (count: number): string[] => Array.from({ length: count }, (_, at) => `id-${at}`)
/** Requests that were found. */
const found = (count: number): RequestRead[] =>
  createIds(count).map((requestId) => ({ requestId, reader: '', readAt: 0, createdAt: 0 }))
const missing = (requestId: string, readAt: number): RequestRead => ({
  requestId,
  reader: 'key',
  readAt,
  createdAt: 0,
})

test('idsToRead returns at most 30 ids per hour, and no id that was read before', () => {
  const select = (reads: RequestRead[], recentReadCount: number) =>
    idsToRead(createIds(32), { reads, recentReadCount, now: 0 })
  expect(select([], 0)).toEqual(createIds(30))
  expect(select(found(30), 30)).toEqual([])
  expect(select(found(30), 31)).toEqual([])
  expect(select(found(30), 0)).toEqual(['id-30', 'id-31'])
  expect(select(found(29), 29)).toEqual(['id-29'])
})

test('idsToRead returns requests that were not found last, once the age of the event has doubled', () => {
  const reads = [missing('a', 9 * minute), missing('b', 8 * minute), missing('c', 60 * minute)]
  const select = (now: number) =>
    idsToRead(['a', 'b', 'c', 'd'], { reads, recentReadCount: 0, now: now * minute })
  expect(select(15)).toEqual(['d'])
  expect(select(17)).toEqual(['d', 'b'])
  expect(select(600)).toEqual(['d', 'b', 'a'])
})
