import { expect, test } from 'vitest'

import { readRecipientField } from '../../../src/domain/form/recipient.ts'
import { createPhoneRepair } from '../../../src/usecases/form/phone-repair.ts'

test.each([
  ['DE', '030 123456', '+4930123456'],
  ['AU', '0412 345 678', '+61412345678'],
  ['AU', '412345678', '+61412345678'],
  ['AU', '61 412 345 678', '+61412345678'],
  ['US', '(415) 555-2671', '+14155552671'],
  ['FR', '06.12.34.56.78', '+33612345678'],
])('%s: %s is %s', async (country, text, number) => {
  expect((await createPhoneRepair(country))(text)).toBe(number)
})

test.each([
  ['DE', '61412345678', 'it has the 61 of Australia in front'],
  ['DE', '030 12345 / 6789', 'an extension'],
  ['DE', '12.03.2026', 'a date'],
  ['DE', '2026-03-12', 'a date'],
  ['AU', '0412 345 678 ext 5', 'a word'],
  ['AU', '12/03/2026', 'a date'],
])('the number is not repaired for %s: %s (%s)', async (country, text) => {
  expect((await createPhoneRepair(country))(text)).toBeUndefined()
})

test.each([
  ['+61412345678.0', 'ends in .0'],
  ['+61 (0412) 345 678', 'holds (0'],
  ['+61 (0) 412 345 678', 'holds (0'],
  ['+61 0412 345 678', 'has a 0 after the country calling code +61'],
  ['+49 30 12345 / 6789', 'holds "/"'],
  ['+49 30 12345 ext. 6', 'holds "e"'],
])('%s is refused, because digits would be lost or added: %s', (text, words) => {
  expect(readRecipientField('phone', text).problem).toContain(words)
})

test('an Italian number keeps its leading 0', () => {
  expect(readRecipientField('phone', '+39 06 1234 5678')).toEqual({ value: '+390612345678' })
})

test.each([
  ['Ann Lee <ann@example.com>', 'a name beside the address', 'ann@example.com'],
  ['mailto:ann@example.com', 'begins with mailto:', 'ann@example.com'],
  ['ann\u200B@example.com', 'contains U+200B', undefined],
])('%j is refused with the reason', (text, words, suggestion) => {
  const reading = readRecipientField('email', text)
  expect(reading.problem).toContain(words)
  expect(reading.suggestion).toBe(suggestion)
})
