import { expect, test } from 'vitest'

import { requireDecidable } from '../../../src/domain/batch/decision.ts'
import { DuplicateError, UsageError } from '../../../src/errors/kinds.ts'
import { batchRow } from './rows.ts'

const minute = 60_000
const unknown = batchRow({ state: 'unknown', attemptedAt: minute })

test('a row may be decided on from fifteen minutes after its attempt, to the millisecond', () => {
  expect(() => requireDecidable(unknown, 16 * minute - 1)).toThrow(UsageError)
  expect(() => requireDecidable(unknown, 16 * minute)).not.toThrow()
})

test('the wait that is left is told in whole minutes', () => {
  const hintAt = (now: number): string => {
    try {
      requireDecidable(unknown, now)
    } catch (error) {
      return (error as UsageError).hint ?? ''
    }
    return ''
  }
  expect(hintAt(minute)).toContain('15 min')
  expect(hintAt(16 * minute - 1)).toContain('1 min')
})

test('without the moment of an attempt the last change counts', () => {
  const row = { ...unknown, attemptedAt: undefined, changedAt: 0 }
  expect(() => requireDecidable(row, 15 * minute - 1)).toThrow(UsageError)
  expect(() => requireDecidable(row, 15 * minute)).not.toThrow()
})

test.each(['pending', 'sending', 'accepted', 'rejected', 'invalid', 'duplicate', 'cancelled'] as const)(
  'about a row that is %s there is nothing to decide',
  (state) => {
    expect(() => requireDecidable({ ...unknown, state }, 60 * minute)).toThrow(UsageError)
  },
)

test('a person that was removed cannot be sent again', () => {
  expect(() => requireDecidable({ ...unknown, recipient: undefined }, 60 * minute)).toThrow(DuplicateError)
})
