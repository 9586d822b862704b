import { expect, test } from 'vitest'

import { ambiguousStart, isWholeId } from '../../../src/domain/request/id-start.ts'

test('the error for the ambiguous start of an id lists at most five candidates', () => {
  const twoCandidates = [
    ['3f2b8c1e', 'Ana Silva, COMPLETED'],
    ['3f2b9999', 'Bo Nguyen'],
  ] as const
  expect(ambiguousStart('request', '3f2b', twoCandidates)).toEqual([
    '2 requests of this store start with "3f2b"',
    { hint: 'Give more of the id:\n  3f2b8c1e  Ana Silva, COMPLETED\n  3f2b9999  Bo Nguyen' },
  ])
  const sevenCandidates = Array.from({ length: 7 }, (_, index) => [`3f2b${index}`, 'a.csv'] as const)
  const [message, { hint }] = ambiguousStart('batch', '3f2b', sevenCandidates)
  expect(message).toBe('7 batches of this store start with "3f2b"')
  expect(hint.split('\n')).toHaveLength(7)
  expect(hint).toMatch(/\n {2}and 2 more$/)
})

test('a complete id has 36 characters', () => {
  expect(isWholeId('3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55')).toBe(true)
  expect(isWholeId('3f2b8c1e')).toBe(false)
})
