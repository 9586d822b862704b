import { expect, test } from 'vitest'

import { checkProfileName } from '../../../src/domain/session/profile-name.ts'

test.each(['default', 'Work-2', 'a', '_', '007', 'toString', 'x'.repeat(64)])(
  '"%s" names a profile',
  (name) => {
    expect(checkProfileName(name)).toBe(name)
  },
)

test.each([
  '',
  '.',
  '..',
  'a.b',
  '../../etc',
  'a/b',
  'a\\b',
  '__proto__',
  'constructor',
  'prototype',
  'a b',
  'a\n',
  'a\0',
  'größe',
  '[0]',
  'x'.repeat(65),
])('%j does not', (name) => {
  expect(() => checkProfileName(name)).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      hint: 'Use letters, digits, - and _, at most 64 characters.',
    }),
  )
})

test('100,000 characters are refused at once and not repeated whole', () => {
  expect(() => checkProfileName('a'.repeat(100_000))).toThrow(/^"…" is not a valid name for a profile$/)
})
