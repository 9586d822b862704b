import { expect, test } from 'vitest'

import { isAboutPackage } from '../../../src/domain/batch/halting.ts'
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
