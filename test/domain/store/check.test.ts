import { expect, test } from 'vitest'

import type { Closed } from '../../../src/domain/store/age.ts'
import { findingsOf, unsound } from '../../../src/domain/store/check.ts'

const closed: Closed = { at: 0, by: ['backup'], attempts: [], untold: false }

test('a sound store has no findings, and fails nothing', () => {
  expect(findingsOf([], undefined, [])).toEqual([])
  expect(unsound('/l', [], undefined)).toBeUndefined()
})

test('why it is closed comes first, then what was put back, then the damage', () => {
  const found = findingsOf(['a page is torn'], closed, ['row 2 was put back'])
  expect(found).toHaveLength(3)
  expect(found.slice(1)).toEqual(['row 2 was put back', 'a page is torn'])
})

test('damage is graver than being closed, since nothing is to be ordered with it', () => {
  expect(unsound('/l', ['a page is torn'], closed)?.message).toMatch(/"\/l".*a page is torn/)
  const error = unsound('/l', [], closed)
  expect(error).toMatchObject({ code: 'io' })
  expect(error?.hint).toContain('refcheck store check --accept-older')
})

test('where nothing tells who was ordered since, that is said', () => {
  expect(unsound('/l', [], { ...closed, untold: true })?.hint).not.toBe(unsound('/l', [], closed)?.hint)
})
