import { expect, test } from 'vitest'

import { requireSendable, requireUnsettled } from '../../../src/domain/batch/decision.ts'
import { UsageError } from '../../../src/errors/kinds.ts'
import { batchRow } from './rows.ts'

const minute = 60_000
const unknown = batchRow({ state: 'unknown', attemptedAt: minute })

test('a row may be decided on from fifteen minutes after its attempt, to the millisecond', () => {
  expect(() => requireSendable(unknown, 16 * minute - 1)).toThrow(UsageError)
  expect(() => requireSendable(unknown, 16 * minute)).not.toThrow()
})

test('the wait that is left is told in whole minutes', () => {
  const hintAt = (now: number): string => {
    try {
      requireSendable(unknown, now)
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
  expect(() => requireSendable(row, 15 * minute - 1)).toThrow(UsageError)
  expect(() => requireSendable(row, 15 * minute)).not.toThrow()
})

test.each(['pending', 'sending', 'accepted', 'rejected', 'invalid', 'duplicate', 'cancelled'] as const)(
  'about a row that is %s there is nothing to decide',
  (state) => {
    expect(() => requireSendable({ ...unknown, state }, 60 * minute)).toThrow(UsageError)
    expect(() => requireUnsettled({ ...unknown, state })).toThrow(/row 1 is /)
  },
)

test('a row without its person waits as long, and can be decided on then', () => {
  const row = { ...unknown, recipient: undefined }
  expect(() => requireSendable(row, 16 * minute - 1)).toThrow(UsageError)
  expect(() => requireSendable(row, 16 * minute)).not.toThrow()
})

test('recording what the provider has, and leaving a row, wait for nothing', () => {
  expect(() => requireUnsettled({ ...unknown, recipient: undefined })).not.toThrow()
})
