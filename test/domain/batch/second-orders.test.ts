import { expect, test } from 'vitest'

import { idsToRead } from '../../../src/domain/submission/submission.ts'

const createIds = (count: number): string[] => Array.from({ length: count }, (_, at) => `id-${at}`)
const noIds = new Set<string>()

test('idsToRead returns at most 30 ids per hour, and no id that was read before', () => {
  expect(idsToRead(createIds(32), { known: noIds, reads: 0 })).toEqual(createIds(30))
  expect(idsToRead(createIds(32), { known: new Set(createIds(30)), reads: 30 })).toEqual([])
  expect(idsToRead(createIds(32), { known: new Set(createIds(30)), reads: 31 })).toEqual([])
  expect(idsToRead(createIds(32), { known: new Set(createIds(30)), reads: 0 })).toEqual(['id-30', 'id-31'])
  expect(idsToRead(createIds(32), { known: new Set(createIds(29)), reads: 29 })).toEqual(['id-29'])
})

test('the case of an id is ignored', () => {
  expect(idsToRead(['ID-1', 'id-1'], { known: noIds, reads: 0 })).toEqual(['id-1'])
  expect(idsToRead(['ID-1'], { known: new Set(['id-1']), reads: 0 })).toEqual([])
})
