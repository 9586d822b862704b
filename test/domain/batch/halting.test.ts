import { expect, test } from 'vitest'

import { isAboutPackage, manyUnknown, refusedAlike, usedUp } from '../../../src/domain/batch/halting.ts'
import { InvalidInputError, NotFoundError } from '../../../src/errors/kinds.ts'

test.each([
  ['a 404', new NotFoundError('resource not found', { status: 404 }), true],
  [
    'a 400 that names the package',
    new InvalidInputError('package_id: not ACTIVE', { status: 400, field: 'package_id' }),
    true,
  ],
  ['a 400 that says so in words', new InvalidInputError('the package is not ACTIVE', { status: 400 }), true],
  [
    'a 400 about a field that speaks of packages',
    new InvalidInputError('reference.x: no such package', { status: 400, field: 'reference.x' }),
    false,
  ],
  ['a 400 about the person', new InvalidInputError('recipient.phone: x', { status: 400 }), false],
])('%s is about the package, so the batch halts: %s %s', (_name, error, expected) => {
  expect(isAboutPackage(error)).toBe(expected)
})

test('a refusal that repeats halts with the reason of the last, and keeps its status and field', () => {
  const error = new InvalidInputError('recipient.phone: no', { status: 400, field: 'recipient.phone' })
  const halt = refusedAlike(error, 5)
  expect(halt).toMatchObject({ code: 'incomplete', status: 400, field: 'recipient.phone', cause: error })
  expect(halt.message).toMatch(/5 .*recipient\.phone: no/)
})

test('many unknown outcomes halt as unknown', () => {
  expect(manyUnknown('cut', 3)).toMatchObject({ code: 'outcome_unknown' })
  expect(manyUnknown('cut', 3).message).toMatch(/^3 .*cut$/)
})

test('a wait is told in whole seconds, rounded up', () => {
  expect(usedUp(1)).toMatchObject({ code: 'throttled', retryAfter: 1 })
  expect(usedUp(1000).retryAfter).toBe(1)
  expect(usedUp(1001).retryAfter).toBe(2)
})
