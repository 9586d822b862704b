import { expect, test } from 'vitest'

import { checkEmail } from '../../../src/domain/session/user-email.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'

test('an address is returned as it is', () => {
  expect(checkEmail('ana@example.com')).toBe('ana@example.com')
})

test.each(['', 'a@b.co\r\nX: y', 'nobody', 'a b@example.com', 'a@b@c.example', '\u0000'])(
  '%j is refused',
  (text) => {
    expect(() => checkEmail(text)).toThrow(InvalidInputError)
  },
)

test('an address has 254 characters at most', () => {
  const of = (length: number): string => `a@${'b'.repeat(length - 6)}.com`
  expect(() => checkEmail(of(255))).toThrow(/255/)
  expect(() => checkEmail(of(254))).not.toThrow(/254 are/)
})

test('only what looks like an address is repeated: a key that was pasted in its place is not', () => {
  expect(() => checkEmail('s3cretkeys3cretkey')).toThrow(/^(?!.*s3cret)/)
  expect(() => checkEmail('a@b@c')).toThrow(/"a@b@c"/)
  expect(() => checkEmail('', 'REFCHECK_USER_EMAIL')).toThrow(/^REFCHECK_USER_EMAIL /)
})
