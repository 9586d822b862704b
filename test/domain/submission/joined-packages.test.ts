import { expect, test } from 'vitest'

import { joinedTo } from '../../../src/domain/submission/joined-packages.ts'

test('a package is one with all that moves join it to, however long the chain and in whatever order', () => {
  const pairs = [
    [1, 2],
    [6, 7],
    [5, 6],
    [4, 5],
  ] as const
  expect([...joinedTo(4, pairs)].toSorted((a, b) => a - b)).toEqual([4, 5, 6, 7])
  expect([...joinedTo(7, pairs)].toSorted((a, b) => a - b)).toEqual([4, 5, 6, 7])
  expect([...joinedTo(2, pairs)].toSorted((a, b) => a - b)).toEqual([1, 2])
})

test('one that nothing was moved to or from is alone', () => {
  expect([...joinedTo(3, [[1, 2]])]).toEqual([3])
})
