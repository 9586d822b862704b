import { array, assert, constantFrom, integer, json, nat, oneof, property, string, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { lineAndColumn, readJson } from '../../../src/domain/form/json-text.ts'

/** Returns the value, or the fault as "LINE:COLUMN REASON". */
function readOutcome(text: string): unknown {
  const { value, fault } = readJson(text)
  if (fault === undefined) return value
  const { line, column } = lineAndColumn(text, fault.offset)
  return `${String(line)}:${String(column)} ${fault.reason}`
}

test.each([
  ['', '1:1 is empty'],
  ['  ', '1:3 is empty'],
  ['{', '1:2 ends before it is complete'],
  ['{"a": 1,\n "b": }', '2:7 has "}" where a value is expected'],
  ['{"a": 1,\n}', '2:1 has "}" where a name in double quotes is expected'],
  ['[1, 2,]', '1:7 has "]" where a value is expected'],
  ["{'a': 1}", `1:2 has "'" where a name in double quotes is expected`],
  ['{a: 1}', '1:2 has "a" where a name in double quotes is expected'],
  ['{"a" 1}', '1:6 has "1" where a colon after the name is expected'],
  ['{"a": 1 "b": 2}', '1:9 has "\\"" where a comma or } is expected'],
  ['[1 2]', '1:4 has "2" where a comma or ] is expected'],
  ['{} {}', '1:4 has "{" where nothing more is expected'],
  ['// no\n{}', '1:1 has "/" where a value is expected'],
  ['[True]', '1:2 has "T" where a value is expected'],
  ['[NaN]', '1:2 has "N" where a value is expected'],
  ['[01]', '1:3 has "1" where a comma or ] is expected'],
  ['["a]', '1:2 has a string without a closing quote'],
  ['["a\nb"]', '1:4 has a line break or control character inside a string'],
  [String.raw`["\x"]`, '1:3 has a backslash that JSON does not allow'],
  [String.raw`["\u12G4"]`, '1:3 has a backslash that JSON does not allow'],
  ['["\\', '1:3 has a backslash that JSON does not allow'],
  ['😀', '1:1 has "😀" where a value is expected'],
  ['["😀", x]', '1:7 has "x" where a value is expected'],
  ['{"a": 1, "b": {"a": 1}, "a": 2}', '1:25 "a" is given twice (first at line 1, column 2)'],
  [String.raw`{"a": 1, "\u0061": 2}`, '1:10 "a" is given twice (first at line 1, column 2)'],
  ['{"__proto__": 1, "__proto__": 2}', '1:18 "__proto__" is given twice (first at line 1, column 2)'],
  ['[12345678901234567890]', '1:2 has a number too large to be sent exactly; give it as a string'],
  ['[1e999]', '1:2 has a number too large to be sent exactly; give it as a string'],
])('%j: %s', (text, fault) => {
  expect(readOutcome(text)).toBe(fault)
})

test('a carriage return, alone or with a line feed, ends a line', () => {
  expect(readOutcome('[\r\n\r\n x]')).toBe('3:2 has "x" where a value is expected')
  expect(readOutcome('[\r x]')).toBe('2:2 has "x" where a value is expected')
})

test('a number is accepted if a double represents it exactly', () => {
  expect(readOutcome('[9007199254740992, 1180591620717411303424, 1e21, 0.1]')).toEqual([
    2 ** 53,
    2 ** 70,
    1e21,
    0.1,
  ])
  expect(readOutcome('[9007199254740993]')).toMatch(/too large/)
})

test('the same name in two objects is not a duplicate', () => {
  expect(readOutcome('[{"a": 1}, {"a": {"a": 2}}]')).toEqual([{ a: 1 }, { a: { a: 2 } }])
})

test('up to 100 levels of nesting are read, and a million open brackets are one fault', () => {
  expect(readJson('['.repeat(100) + ']'.repeat(100)).fault).toBeUndefined()
  expect(readOutcome('['.repeat(101) + ']'.repeat(101))).toBe('1:101 is nested deeper than 100 levels')
  expect(readOutcome('['.repeat(1_000_000))).toBe('1:101 is nested deeper than 100 levels')
})

test('a megabyte of quotes, escapes or digits is read within the time limit of a test', () => {
  expect(readOutcome(`["${'\\"'.repeat(500_000)}`)).toBe('1:2 has a string without a closing quote')
  expect(readOutcome('"'.repeat(1_000_000))).toBe('1:3 has "\\"" where nothing more is expected')
  expect(readOutcome(`[${'1'.repeat(1_000_000)}]`)).toMatch(/too large/)
})

describe('compared with JSON.parse', () => {
  const isValidJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }

  test('readJson returns the same value for valid JSON, unless a name is repeated or a number is too large', () => {
    assert(
      property(json(), (text) => {
        const { value, fault } = readJson(text)
        const isStricter = fault !== undefined && /given twice|too large/.test(fault.reason)
        expect(JSON.stringify(value)).toBe(JSON.stringify(isStricter ? value : JSON.parse(text)))
      }),
      { numRuns: 300 },
    )
  })

  test('readJson refuses every invalid text, and of valid ones only those with repeated names, large numbers or deep nesting', () => {
    const token = oneof(
      constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '"',
        '\\',
        'true',
        'null',
        ' ',
        '\n',
        '-',
        '1',
        '.5',
        'e3',
      ),
      string({ maxLength: 2 }),
    )
    const editedJson = tuple(json(), nat(), integer({ min: 0, max: 2 }), token).map(
      ([text, at, removedCount, insertedToken]) => {
        const position = at % (text.length + 1)
        return text.slice(0, position) + insertedToken + text.slice(position + removedCount)
      },
    )
    const randomTokens = array(token, { maxLength: 12 }).map((tokens) => tokens.join(''))
    assert(
      property(oneof(editedJson, randomTokens), (text) => {
        const { fault } = readJson(text)
        const isRefusedMoreStrictly = fault !== undefined && /given twice|too large|nested/.test(fault.reason)
        expect(fault === undefined || isRefusedMoreStrictly).toBe(isValidJson(text) || isRefusedMoreStrictly)
      }),
      { numRuns: 2000 },
    )
  })
})
