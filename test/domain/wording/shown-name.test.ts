import { expect, test } from 'vitest'

import { personName, personWithEmail, shownName } from '../../../src/domain/wording/text.ts'

test.each([
  ['Zoë', 'Zoë'],
  [' Ann \u00A0\u3000\n Lee ', 'Ann Lee'],
  ['x'.repeat(100), 'x'.repeat(100)],
  ['x'.repeat(101), `${'x'.repeat(100)}…`],
  // A name is never cut within a character or after a space.
  [`${'x'.repeat(99)}👩 Lee`, `${'x'.repeat(99)}…`],
  [`${'x'.repeat(98)}👩‍👩‍👧 Lee`, `${'x'.repeat(98)}…`],
  [`${'x'.repeat(99)}e\u0301 Lee`, `${'x'.repeat(99)}…`],
  [`${'x'.repeat(98)}e\u0301 Lee`, `${'x'.repeat(98)}e\u0301…`],
  [`a${'\u0301'.repeat(2000)}`, `a${'\u0301'.repeat(99)}…`],
  [`${'x'.repeat(99)} Lee`, `${'x'.repeat(99)}…`],
  [`Ann${'\u00A0'.repeat(2000)}Lee`, 'Ann Lee'],
])('the name %j is shown as %j', (name, shown) => {
  expect(shownName(name)).toBe(shown)
})

test('a person is shown with both names, each cut separately, and the e-mail', () => {
  const person = { first_name: 'x'.repeat(200), last_name: 'Lee', email: 'x@example.com' }
  expect(personName(person)).toBe(`${'x'.repeat(100)}… Lee`)
  expect(personWithEmail(person)).toBe(`${'x'.repeat(100)}… Lee (x@example.com)`)
  expect(personName({ first_name: '', last_name: 'Lee' })).toBe('Lee')
})
