import { expect, test } from 'vitest'

import { idsToRead } from '../../../src/domain/submission/unmatched.ts'

const createIds = (count: number): string[] => Array.from({ length: count }, (_, at) => `id-${at}`)
const noIds = new Set<string>()

test('idsToRead returns at most ten ids per hour, and no id that was read before', () => {
  expect(idsToRead(createIds(12), { known: noIds, reads: 0 })).toEqual(createIds(10))
  expect(idsToRead(createIds(12), { known: new Set(createIds(10)), reads: 10 })).toEqual([])
  expect(idsToRead(createIds(12), { known: new Set(createIds(10)), reads: 11 })).toEqual([])
  expect(idsToRead(createIds(12), { known: new Set(createIds(10)), reads: 0 })).toEqual(['id-10', 'id-11'])
  expect(idsToRead(createIds(12), { known: new Set(createIds(9)), reads: 9 })).toEqual(['id-9'])
})

test('the case of an id is ignored', () => {
  expect(idsToRead(['ID-1', 'id-1'], { known: noIds, reads: 0 })).toEqual(['id-1'])
  expect(idsToRead(['ID-1'], { known: new Set(['id-1']), reads: 0 })).toEqual([])
})
