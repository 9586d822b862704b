import { assert, double, maxSafeInteger, property } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { checkFieldValue, readFieldText } from '../../../src/domain/form/field-value.ts'

const createRule = (type: string, description = '', required = true) => ({ type, required, description })

describe('readFieldText', () => {
  test.each<[string, string, unknown]>([
    ['string', ' as it is ', ' as it is '],
    ['integer', '12', 12],
    ['integer', ' -3 ', -3],
    ['integer', '0', 0],
    ['integer', '9007199254740991', 9_007_199_254_740_991],
    ['number', '12.50', 12.5],
    ['number', '1e3', 1000],
    ['number', '-0', 0],
    ['boolean', 'yes', true],
    ['boolean', 'Y', true],
    ['boolean', 'TRUE', true],
    ['boolean', '1', true],
    ['boolean', 'no', false],
    ['boolean', 'n', false],
    ['boolean', 'False', false],
    ['boolean', '0', false],
    ['array', '["a", 1, [null]]', ['a', 1, [null]]],
    ['object', '{"a": {"b": []}}', { a: { b: [] } }],
    ['type_added_later', 'x', 'x'],
  ])('%s: %j', (type, text, value) => {
    expect(readFieldText(createRule(type), text)).toEqual({ value })
  })

  test.each([
    ['string', ' ', /^is empty, but required/],
    ['integer', '1e3', /^is not a whole number/],
    ['integer', '0x10', /^is not a whole number/],
    ['integer', '12abc', /^is not a whole number/],
    ['integer', '1.0', /^is not a whole number/],
    ['integer', '1,000', /^is not a whole number/],
    ['integer', '+1', /^is not a whole number/],
    ['integer', '', /^is empty, but a whole number is expected/],
    ['integer', 'NaN', /^is not a whole number/],
    ['integer', '１２', /^is not a whole number/],
    ['integer', '007', /^starts with a 0/],
    ['integer', '9007199254740992', /^is too large to be sent exactly/],
    ['number', '9007199254740993', /^is too large to be sent exactly/],
    ['integer', '9007199254740993', /^is too large to be sent exactly/],
    ['number', '0x10', /^is not a number/],
    ['number', '1,5', /^is not a number/],
    ['number', '.5', /^is not a number/],
    ['number', 'Infinity', /^is not a number/],
    ['number', '1e999', /^is too large to be sent exactly/],
    ['number', '-01.5', /^starts with a 0/],
    ['boolean', '2', /^is neither yes nor no/],
    ['boolean', 'yess', /^is neither yes nor no/],
    ['boolean', '', /^is neither yes nor no/],
    ['array', 'a, b', /^is not a list in JSON, such as \["first", "second"\], or \[\] for none$/],
    ['array', '["a", b]', /^is not JSON such as \["first", "second"\]: it has "b" .* \(character 7\)/],
    ['object', 'x', /^is not an object in JSON, such as \{"name": "value"\}$/],
    ['array', '{"a": 1}', /^is an object, but an array is expected/],
    ['object', '{"a": 1, "a": 2}', /"a" is given twice/],
    ['object', '["a"]', /^is an array, but an object is expected/],
    ['object', '', /is empty/],
  ])('%s: %j is refused with the reason', (type, text, reason) => {
    expect(readFieldText(createRule(type), text).problem).toMatch(reason)
  })

  test('a number formatted as JSON is read back unchanged', () => {
    assert(
      property(maxSafeInteger(), (value) => {
        expect(readFieldText(createRule('integer'), JSON.stringify(value))).toEqual({ value })
      }),
    )
    assert(
      property(double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        expect(readFieldText(createRule('number'), JSON.stringify(value))).toEqual({ value: value + 0 })
      }),
    )
  })
})

describe('dates', () => {
  const isoDateField = createRule('string', 'Date of birth, as YYYY-MM-DD')
  test.each(['2024-02-29', '2000-02-29', '1990-12-31', '0001-01-01'])('%s exists', (day) => {
    expect(checkFieldValue(isoDateField, day)).toBeUndefined()
  })

  test.each([
    '2026-02-30',
    '2026-02-29',
    '1900-02-29',
    '2026-04-31',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
  ])('%s does not exist', (day) => {
    expect(checkFieldValue(isoDateField, day)).toBe('is a day that does not exist')
  })

  test.each(['1/2/1990', '1990-4-3', '23 April 1990', '1990-04-23T00:00:00Z', '19900423', ''])(
    '%j is refused if the description requires YYYY-MM-DD',
    (text) => {
      expect(checkFieldValue({ ...isoDateField, required: false }, text)).toMatch(
        /^is not a date in the form YYYY-MM-DD/,
      )
    },
  )

  test('if the description only mentions a date, other forms are accepted, and an ISO date has to exist', () => {
    const dateField = createRule('string', 'Expiry date of the licence')
    expect(checkFieldValue(dateField, '30/02/2026')).toBeUndefined()
    expect(checkFieldValue(dateField, '2026-02-30')).toBe('is a day that does not exist')
  })
})

test.each([
  ['undefined', { at: undefined }, 'contains something that JSON does not allow'],
  ['a function', { at: () => 1 }, 'contains something that JSON does not allow'],
  ['NaN', { at: [Number.NaN] }, 'contains a number that JSON does not allow'],
  ['a bigint', { at: 1n }, 'contains something that JSON does not allow'],
])('an object that contains %s is refused', (_name, value, problem) => {
  expect(checkFieldValue(createRule('object'), value)).toBe(problem)
})

test('a value that contains itself is refused', () => {
  const endless: unknown[] = []
  endless.push(endless)
  expect(checkFieldValue(createRule('array'), endless)).toBe('is nested deeper than 100 levels')
})
