import { expect, test } from 'vitest'

import {
  numberSection,
  sectionsOf,
  showsText,
  displayedNumber,
  findDisplayDifference,
} from '../../../src/domain/sheet/number-format.ts'

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
])('a text is shown unchanged with the format %s', (format) => {
  expect(showsText(format)).toBe(true)
})

test.each([';;;', '"Mr "@', '@" (left)"', '0;0;0;"n/a"', '@@', '[$x-409]@', '@*.', '\\x@'])(
  'a text is hidden or changed with the format %s',
  (format) => {
    expect(showsText(format)).toBe(false)
  },
)

test('a semicolon in quotes or after a backslash does not separate sections', () => {
  expect(sectionsOf('"a;b"0;\\;#')).toEqual([
    { codes: '0', before: 'a;b', after: '', within: '', isConditional: false },
    { codes: '#', before: ';', after: '', within: '', isConditional: false },
  ])
})

test('a number is shown by the section for its sign; a format with conditions has no such section', () => {
  const findSection = (value: number, format: string) => {
    const found = numberSection(value, format)
    return found && [found.section.codes, found.addsMinus]
  }
  expect([5, -5, 0].map((value) => findSection(value, '0;#;?;@'))).toEqual([
    ['0', false],
    ['#', false],
    ['?', false],
  ])
  expect(findSection(-5, '0.0')).toEqual(['0.0', true])
  expect(findSection(5, '@')).toBeUndefined()
  expect(findSection(5, '[>9]0;#')).toBeUndefined()
})

test.each([
  [12, 'General', '12'],
  [0.5, '@', '0.5'],
  [0.5, '0.00', '0.50'],
  [12.6, '0', '13'],
  [1_234_567.5, '#,##0.00', '1,234,567.50'],
  [412_345_678, '"0412 345 678"', '0412 345 678'],
  [0.5, '0%', undefined],
  [-5, '0;0', '5'],
  [-5, '#,##0_);[Red](#,##0)', '(5)'],
  [-5, 'General;-General;;@', '-5'],
  [0, '0;-0;;@', undefined],
  [5, '[<9]0;"more"', undefined],
  [412_345_678, '0000000000', undefined],
])('%d with the format %s is shown as %s', (value, format, shown) => {
  expect(displayedNumber(value, format)).toBe(shown)
})

test.each([
  [12, 'General'],
  [85_000.5, '#,##0.00'],
  [85_000.5, '"$"#,##0.00'],
  [7, '0000'],
  [1234.5, '"1.234,50"'],
  [-5, '"-5,00 €"'],
  [-5, '0;-0;;@'],
  [-85, '_-[$€-407] * #,##0.00_-;-[$€-407] * #,##0.00_-;_-[$€-407] * "-"??_-;_-@_-'],
  [12, '0" years"'],
  [85, '[$EUR] #,##0'],
  [85, '"EUR 85"'],
  [85, '0" Kč"'],
  [85, '[$R$-416] 0'],
])('%d with the format %s is shown as the same number', (value, format) => {
  expect(findDisplayDifference(value, format)).toBeUndefined()
})

test.each([
  [0.5, '0%'],
  [12.5, '0'],
  [1.005, '0.00'],
  [12_000, '0,'],
  [0.5, '# ?/?'],
  [12, ';;;'],
  [0, ';;;'],
  [0, '0;-0;;@'],
  [0, '#,###'],
  [0, '""'],
  [-5, '0;0'],
  [-5, '0" kg";0" kg"'],
  [5, '[<9]0;"more"'],
  [5, '"1"0'],
  [500, '0"."00'],
  [5, '"Mr "@'],
  [1, '"yes";;"no"'],
  [0.1 + 0.2, 'General'],
  [0.5, '"50 %"'],
  [85, '0"k"'],
  [85, '0\\k'],
  [85, '"85k"'],
  [85, '0" M"'],
  [85, '0" Mio."'],
  [85, '0" tsd"'],
  [85, '"<"0'],
  [85, '0"½"'],
  [85, '0"‰"'],
  [85, '"Mr "0'],
])('%d with the format %s is shown as something else', (value, format) => {
  expect(findDisplayDifference(value, format)).toBeDefined()
})
