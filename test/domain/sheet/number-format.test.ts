import { expect, test } from 'vitest'

import { numberSection, sectionsOf, showsText } from '../../../src/domain/sheet/number-format.ts'

test.each([
  'General',
  '@',
  '0',
  ';;',
  '0.00;-0.00',
  '"TRUE";"TRUE";"FALSE"',
  '_-@_-',
  '0;-0;;@',
  '@* ',
  '"a;b"0',
])('a text is shown as it is in %s', (format) => {
  expect(showsText(format)).toBe(true)
})

test.each([';;;', '"Mr "@', '@" (left)"', '0;0;0;"n/a"', '@@', '[$x-409]@', '@*.', '\\x@'])(
  'a text is hidden or changed in %s',
  (format) => {
    expect(showsText(format)).toBe(false)
  },
)

test('a semicolon in quotes, after a backslash or in brackets parts nothing', () => {
  expect(sectionsOf('"a;b"0;\\;#')).toEqual([
    { codes: '0', before: 'a;b', after: '', within: '', conditional: false },
    { codes: '#', before: ';', after: '', within: '', conditional: false },
  ])
})

test('a number is shown by the section of its sign, unless conditions say', () => {
  const shownBy = (value: number, format: string) => {
    const found = numberSection(value, format)
    return found && [found.section.codes, found.signed]
  }
  expect([5, -5, 0].map((value) => shownBy(value, '0;#;?;@'))).toEqual([
    ['0', false],
    ['#', false],
    ['?', false],
  ])
  expect(shownBy(-5, '0.0')).toEqual(['0.0', true])
  expect(shownBy(5, '@')).toBeUndefined()
  expect(shownBy(5, '[>9]0;#')).toBeUndefined()
})
