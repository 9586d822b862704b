import { expect, test } from 'vitest'

import { mostSevere, isUnread } from '../../../src/domain/request/result.ts'
import {
  IncompleteError,
  InterruptedError,
  NotFoundError,
  ThrottledError,
  TimedOutError,
} from '../../../src/errors/kinds.ts'

test('the most severe error is the first that applies of interrupted, throttled, not found, timed out and incomplete', () => {
  const errors = [
    new IncompleteError('ended CANCELLED'),
    new TimedOutError('timed out'),
    new NotFoundError('not found'),
    new ThrottledError('the quota is used up'),
    new InterruptedError('interrupted'),
  ]
  for (let length = 1; length <= errors.length; length += 1) {
    expect(mostSevere(errors.slice(0, length))).toBe(errors[length - 1])
    expect(mostSevere(errors.slice(0, length).reverse())).toBe(errors[length - 1])
  }
})

test('of two equally severe errors the first is returned, and undefined without errors', () => {
  const [first, second] = [new NotFoundError('one'), new NotFoundError('two')]
  expect(mostSevere([undefined, first, second])).toBe(first)
  expect(mostSevere([undefined])).toBeUndefined()
})

test('a result with an error is unread', () => {
  expect(isUnread({ requestId: 'r', error: new NotFoundError('gone') })).toBe(true)
})
