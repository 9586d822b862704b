import { array, assert, constantFrom, integer, oneof, property } from 'fast-check'
import { expect, test } from 'vitest'

import { sanitize } from '../../src/host/text.ts'
import { jsonText } from '../../src/output/view.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `escapes` of the fault table (test/resilience/rows.ts).
recordForFaultTable('escapes', { mustNotHappen: 'raw controls' })

test.each([
  ['plain text is unchanged', 'Zoë Ní Bhriain, 北京 👩‍👩‍👧', 'Zoë Ní Bhriain, 北京 👩‍👩‍👧'],
  ['colours are removed', '\u001B[31mred\u001B[0m', 'red'],
  ['a hyperlink is replaced by its text', '\u001B]8;;https://x.test\u0007here\u001B]8;;\u0007', 'here'],
  ['an escape inside an escape is marked', '\u001B\u001B[31m[2Jx', '\uFFFD[2Jx'],
  ['an unfinished escape is marked', 'a\u001B[', 'a\uFFFD['],
  ['an unfinished hyperlink is marked', '\u001B]8;;https://x.test here', '\uFFFD]8;;https://x.test here'],
  ['C0, DEL and C1 characters are marked', 'a\u0000b\u0008c\u007Fd\u0085e', 'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe'],
  ['a tab becomes a space', 'a\tb', 'a b'],
  ['line breaks become spaces', 'a\nb\r\nc\rd\u2028e\u2029f', 'a b c d e f'],
  ['bidi overrides are marked', 'a\u202Eb\u202Cc\u2066d\u2069e', 'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe'],
  ['bidi marks are marked', 'a\u200Eb\u200Fc\u061Cd', 'a\uFFFDb\uFFFDc\uFFFDd'],
])('sanitize: %s', (_name, text, sanitized) => {
  expect(sanitize(text)).toBe(sanitized)
})

test('with the option lines, each line break becomes one \\n', () => {
  expect(sanitize('a\nb\r\nc\rd\u0007', { keepsLines: true })).toBe('a\nb\nc\nd\uFFFD')
})

test('sanitized text has no control and no bidi control, and sanitizing it again changes nothing', () => {
  const piece = oneof(
    integer({ min: 0, max: 0x24ff }).map((unit) => String.fromCharCode(unit)),
    constantFrom('\u001B', '\u009B', '[', ']', '31m', '\u0007', ';', '\u202E', '\n'),
  )
  assert(
    property(array(piece), (parts) => {
      const sanitized = sanitize(parts.join(''))
      expect(/[\p{Cc}\p{Bidi_Control}]/u.test(sanitized)).toBe(false)
      expect(sanitize(sanitized)).toBe(sanitized)
    }),
  )
})

test('a megabyte of unfinished escape sequences is sanitized before the test times out', () => {
  const repeatedParts = ['\u001B]', '\u001B]a;', '\u001B', '\u001B[[]', '\u009B;a', '\u001B]8;;a\u001B']
  for (const part of repeatedParts) {
    const sanitized = sanitize(part.repeat(1_000_000 / part.length))
    expect(sanitized.includes('\u001B')).toBe(false)
  }
})

test('every character that is invisible or changes the direction of a text, according to Unicode, is marked or escaped', () => {
  const invisible = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cf}]/u
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code)
    if (!invisible.test(character)) continue
    expect(sanitize(`a${character}a`)).toBe('a\uFFFDa')
    expect(jsonText(`a${character}a`)).toMatch(/^"a(?:\\u[\da-f]{4})+a"$/)
    expect(JSON.parse(jsonText(`a${character}a`))).toBe(`a${character}a`)
  }
})

test('a mebibyte of blank lines is sanitized in less than a second of processor time', () => {
  const startUsage = process.cpuUsage()
  sanitize('\n'.repeat(1 << 20), { keepsLines: true })
  expect(process.cpuUsage(startUsage).user).toBeLessThan(1_000_000)
})

test.each([
  ['An\u200Ba', 'An\uFFFDa'],
  ['An\u00ADa', 'An\uFFFDa'],
  ['\uFEFFAna', '\uFFFDAna'],
  ['An\u200Da', 'An\uFFFDa'],
  ['\u200CAna', '\uFFFDAna'],
  ['Ana\u{E0041}\u{E007F}', 'Ana\uFFFD\uFFFD'],
  ['\u3164', '\uFFFD'],
  ...[
    '\uFE00',
    '\uFE0F',
    '\u{E0100}',
    '\u{E01EF}',
    '\u034F',
    '\u2065',
    '\u206A',
    '\u206F',
    '\uFFF9',
    '\uFFFB',
    '\u180B',
  ].map((each): [string, string] => [`An${each}a`, 'An\uFFFDa']),
  ['\u845B\u{E0100}', '\u845B\uFFFD'],
  ['7\uFE0F', '7\uFFFD'],
  ['e\u0301\u200D', 'e\u0301\uFFFD'],
  ['👩\u200D\u200D💻', '👩\u200D\uFFFD💻'],
  ['❤\uFE0F\uFE0F', '❤\uFE0F\uFFFD'],
])('an invisible character in a name is marked: %j', (text, sanitized) => {
  expect(sanitize(text)).toBe(sanitized)
})

test.each([
  'نیم\u200Cفاصله',
  'क्\u200Dष',
  '👩\u200D💻',
  '👩🏽\u200D💻',
  '👁\uFE0F\u200D🗨\uFE0F',
  '❤\uFE0F',
  '7\uFE0F\u20E3',
  '\u1820\u180B',
  'Zoë',
  'e\u0301',
])('an invisible character that its script or emoji needs is unchanged: %s', (text) => {
  expect(sanitize(text)).toBe(text)
})
