import { constantFrom, assert as holds, property, stringMatching } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { phoneNumber } from '../../../src/contract/request.ts'
import { readRecipientField } from '../../../src/domain/form/recipient.ts'

describe('a phone number in E.164', () => {
  test.each([
    ['as it is', '+61400000000'],
    ['with spaces', '+61 400 000 000'],
    ['with brackets, dashes and dots', '+61 (400) 000-0.00'],
    ['with a no-break space', '+61\u00A0400 000 000'],
    ['with white space around it', ' +61400000000 '],
  ])('is accepted %s', (_name, given) => {
    expect(readRecipientField('phone', given)).toEqual({ value: '+61400000000' })
  })

  test('is accepted with 15 digits and refused with 16', () => {
    expect(readRecipientField('phone', '+123456789012345')).toEqual({ value: '+123456789012345' })
    expect(readRecipientField('phone', '+1234567890123456').problem).toBe(
      'has 16 digits; a phone number has at most 15',
    )
  })

  test.each([
    ['6.14E+10', /scientific notation: the spreadsheet has dropped digits/],
    ['+6.14E+10', /scientific notation/],
    ['6,14e10', /scientific notation/],
    ['0400 000 000', /^has no \+; start it with \+ and the country code/],
    ['61400000000', /^has no \+/],
    ['+0400000000', /^has 0 after the \+/],
    ['+61 (0)400 000 000', /^holds \(0, which is not dialled/],
    ['+61 400 000 000 ext 2', /^holds "e"; only digits may follow the \+/],
    ['+61400000000/2', /^holds "\/"/],
    ['++61400000000', /^holds "\+"/],
    ['+', /^has too few digits/],
    ['+6', /^has too few digits/],
    ['', /^is empty, but required/],
    [' ', /^is empty, but required/],
    ['\u202A+61400000000\u202C', /^contains U\+202A, an invisible character/],
    ['+61400\n000000', /^contains U\+000A/],
    ['+61٤٠٠', /^holds "٤"/],
    ['+'.padEnd(70, '1'), /^has 70 characters/],
  ])('%j is refused with its reason', (given, reason) => {
    expect(readRecipientField('phone', given).problem).toMatch(reason)
  })

  test('with 00 is refused, with + as suggestion', () => {
    const reading = readRecipientField('phone', '0061 400 000 000')
    expect(reading.problem).toMatch(/^has no \+/)
    expect(reading.suggestion).toBe('+61400000000')
    expect(readRecipientField('phone', '00').suggestion).toBeUndefined()
  })

  test('is accepted exactly if the result fits the contract, and keeps all its digits', () => {
    const text = stringMatching(/^\+?[\d ().e+-]{0,20}$/)
    holds(
      property(text, (given) => {
        const { value, problem } = readRecipientField('phone', given)
        expect(problem === undefined).toBe(phoneNumber.safeParse(value).success)
        expect(value?.slice(1) ?? '').toBe(value === undefined ? '' : given.replaceAll(/\D/g, ''))
      }),
      { numRuns: 500 },
    )
  })
})

describe('an e-mail address', () => {
  test.each(['ann@example.com', 'ann.lee+checks@mail.example.co.uk', "o'neil@example.com"])(
    'is accepted: %s',
    (given) => {
      expect(readRecipientField('email', given)).toEqual({ value: given })
    },
  )

  test.each([
    ['ann', /^has no @/],
    ['ann@b@example.com', /^has more than one @/],
    ['ann@example', /^is not a valid e-mail address/],
    ['ann lee@example.com', /^holds a space/],
    ['ann@example.com\r\nBcc: eve@example.com', /^contains U\+000D, a line break or control character/],
    ['ann@example.com\n', /^contains U\+000A/],
    ['ann\u0000@example.com', /^contains U\+0000/],
    [`${'a'.repeat(243)}@example.com`, /^has 255 characters; an e-mail address has at most 254/],
    ['', /^is empty, but required/],
  ])('%j is refused with its reason', (given, reason) => {
    expect(readRecipientField('email', given).problem).toMatch(reason)
  })
})

describe('a name', () => {
  test('is trimmed and otherwise unchanged', () => {
    expect(readRecipientField('first_name', '  Zoë-Marie  \n')).toEqual({ value: 'Zoë-Marie' })
    expect(readRecipientField('last_name', "O'Neil 王")).toEqual({ value: "O'Neil 王" })
  })

  test.each(['', '   ', '\n'])('%j is empty', (given) => {
    expect(readRecipientField('last_name', given).problem).toBe('is empty, but required')
  })

  test('with a control character inside is refused', () => {
    expect(readRecipientField('first_name', 'An\u0007n').problem).toMatch(
      /^contains U\+0007, a control character/,
    )
  })
})

test('the reason does not repeat the value', () => {
  holds(
    property(
      constantFrom('email', 'phone', 'first_name'),
      stringMatching(/^[x-z]{6,80}\n?[x-z]$/),
      (name, given) => {
        expect(readRecipientField(name, given).problem ?? '').not.toContain(given)
      },
    ),
  )
})
