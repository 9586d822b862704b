import { expect, test } from 'vitest'

import { idsToRead } from '../../../src/domain/submission/unmatched.ts'

const createIds = (count: number): string[] => Array.from({ length: count }, (_, at) => `id-${at}`)
const noIds = new Set<string>()

test('idsToRead returns at most 60 ids per hour, and no id that was read before', () => {
  expect(idsToRead(createIds(62), { known: noIds, reads: 0 })).toEqual(createIds(60))
  expect(idsToRead(createIds(62), { known: new Set(createIds(60)), reads: 60 })).toEqual([])
  expect(idsToRead(createIds(62), { known: new Set(createIds(60)), reads: 61 })).toEqual([])
  expect(idsToRead(createIds(62), { known: new Set(createIds(60)), reads: 0 })).toEqual(['id-60', 'id-61'])
  expect(idsToRead(createIds(62), { known: new Set(createIds(59)), reads: 59 })).toEqual(['id-59'])
})

test('the case of an id is ignored', () => {
  expect(idsToRead(['ID-1', 'id-1'], { known: noIds, reads: 0 })).toEqual(['id-1'])
  expect(idsToRead(['ID-1'], { known: new Set(['id-1']), reads: 0 })).toEqual([])
})
