import { array, assert, constantFrom, integer, oneof, property } from 'fast-check'
import { expect, test } from 'vitest'

import { sanitize } from '../../src/host/text.ts'
import { jsonText } from '../../src/output/view.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('escapes', 'raw controls')

test.each([
  ['plain text stays', 'Zoë Ní Bhriain, 北京 👩‍👩‍👧', 'Zoë Ní Bhriain, 北京 👩‍👩‍👧'],
  ['colours go', '\u001B[31mred\u001B[0m', 'red'],
  ['a hyperlink goes', '\u001B]8;;https://x.test\u0007here\u001B]8;;\u0007', 'here'],
  ['an escape inside an escape does not survive', '\u001B\u001B[31m[2Jx', '\uFFFD[2Jx'],
  ['an unfinished escape', 'a\u001B[', 'a\uFFFD['],
  ['a hyperlink that never ends', '\u001B]8;;https://x.test here', '\uFFFD]8;;https://x.test here'],
  ['C0, DEL and C1 show', 'a\u0000b\u0008c\u007Fd\u0085e', 'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe'],
  ['a tab is a space', 'a\tb', 'a b'],
  ['line breaks are spaces', 'a\nb\r\nc\rd\u2028e\u2029f', 'a b c d e f'],
  ['overrides show', 'a\u202Eb\u202Cc\u2066d\u2069e', 'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe'],
  ['marks show', 'a\u200Eb\u200Fc\u061Cd', 'a\uFFFDb\uFFFDc\uFFFDd'],
])('harmless: %s', (_name, text, shown) => {
  expect(sanitize(text)).toBe(shown)
})

test('line breaks stay on request, each as one \\n', () => {
  expect(sanitize('a\nb\r\nc\rd\u0007', { lines: true })).toBe('a\nb\nc\nd\uFFFD')
})

test('whatever comes in, no control and no bidi control comes out, and a second pass changes nothing', () => {
  const piece = oneof(
    integer({ min: 0, max: 0x24ff }).map((unit) => String.fromCharCode(unit)),
    constantFrom('\u001B', '\u009B', '[', ']', '31m', '\u0007', ';', '\u202E', '\n'),
  )
  assert(
    property(array(piece), (parts) => {
      const shown = sanitize(parts.join(''))
      expect(/[\p{Cc}\p{Bidi_Control}]/u.test(shown)).toBe(false)
      expect(sanitize(shown)).toBe(shown)
    }),
  )
})

test('a megabyte of openers without a closer, and other knots, ends within the time a test has', () => {
  const knots = ['\u001B]', '\u001B]a;', '\u001B', '\u001B[[]', '\u009B;a', '\u001B]8;;a\u001B']
  for (const knot of knots) {
    const shown = sanitize(knot.repeat(1_000_000 / knot.length))
    expect(shown.includes('\u001B')).toBe(false)
  }
})

test('every character that Unicode says is not seen, or turns the order of a text, is marked or escaped', () => {
  const unseen = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cf}]/u
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const each = String.fromCodePoint(code)
    if (!unseen.test(each)) continue
    expect(sanitize(`a${each}a`)).toBe('a\uFFFDa')
    expect(jsonText(`a${each}a`)).toMatch(/^"a(?:\\u[\da-f]{4})+a"$/)
    expect(JSON.parse(jsonText(`a${each}a`))).toBe(`a${each}a`)
  }
})

test('a mebibyte of blank lines is cleaned in a moment', () => {
  const before = process.cpuUsage()
  sanitize('\n'.repeat(1 << 20), { lines: true })
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
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
])('what hides in a name is visible: %j', (text, shown) => {
  expect(sanitize(text)).toBe(shown)
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
])('what belongs to a script stays: %s', (text) => {
  expect(sanitize(text)).toBe(text)
})
