import { expect, test } from 'vitest'

import { processorMs } from '../../harness/processor-time.ts'
import { findDamage, findNameDamage } from '../../../src/domain/sheet/loss.ts'

test.each([
  ['6.14E+10', 'is in scientific notation'],
  ['#N/A', 'is the error #N/A'],
  ['#REF!', 'is the error #REF!'],
  ['#DIV/0!', 'is the error #DIV/0!'],
  ['#NAME?', 'is the error #NAME?'],
  ['#BEZUG!', 'is the error #BEZUG!'],
  ['#NV', 'is the error #NV'],
  ['######', 'is the error ######'],
  ['Err:502', 'is the error Err:502'],
  ['="00045678"', 'is a formula that a spreadsheet shows as "00045678"'],
  ['#REFUSED! 1990-07-05', 'was refused when it was read before'],
  ['Jos\uFFFD', 'holds \uFFFD'],
])('%s is reported as damaged by a spreadsheet program', (text, words) => {
  expect(findDamage(text)).toContain(words)
})

test.each(['Zoë', '#1 Street', '= 5', 'Err on the side', '007', '+61412345678', '', '#hashtag', 'what? yes'])(
  '%j is not reported as damaged',
  (text) => {
    expect(findDamage(text)).toBeUndefined()
  },
)

test.each([
  ['?ukasz', 'holds ?', undefined],
  ['??', 'holds ?', undefined],
  ['JosÃ©', 'looks like UTF-8', 'José'],
  ['DvoÅ™Ã¡k', 'looks like UTF-8', 'Dvořák'],
  ['Oâ€™Neil', 'looks like UTF-8', 'O’Neil'],
  ['Jürgen JosÃ©', 'looks like UTF-8', 'Jürgen José'],
  ['JosĂ©', 'looks like UTF-8', 'José'],
  ['Jos√©', 'looks like UTF-8', 'José'],
  ['Ann\u202EBob', 'holds U+202E', undefined],
  ['An\u200Bn', 'holds U+200B', undefined],
  ['Ann\u2028Lee', 'holds U+2028', undefined],
  ['\uFEFFAnn', 'holds U+FEFF', undefined],
])('%j is a damaged name', (text, words, suggestion) => {
  const found = findNameDamage(text)
  expect(found?.problem).toContain(words)
  expect(found?.suggestion).toBe(suggestion)
})

test.each([
  'Zoë',
  'Łukasz Żółć',
  'João Ântonio',
  'Ångström',
  'ÅÄÖ',
  'Þórður',
  'İbrahim Şahin',
  'ÃO',
  'SÃO',
  'CONCEIÇÃO',
  'Βασίλης',
  'Дмитрий',
  '李小龍',
  'علی\u200Cرضا',
  'O’Neil',
  'Ñandú',
  'Ștefan',
  'Đặng Văn',
])('%s is not a damaged name', (text) => {
  expect(findNameDamage(text)).toBeUndefined()
})

test('texts of 100,000 characters are checked within half a second', () => {
  const texts = [
    'Ã'.repeat(100_000),
    'Ã©'.repeat(50_000),
    '='.repeat(100_000),
    '#'.repeat(100_000),
    `="${'x'.repeat(100_000)}`,
  ]
  const durationMs = processorMs(() => {
    for (const text of texts) {
      findDamage(text)
      findNameDamage(text)
    }
  })
  expect(durationMs).toBeLessThan(500)
})

test('a lone surrogate and a NUL are damage in any field', () => {
  expect(findDamage('Nurse \uD83D')).toBe('holds half of a letter')
  expect(findDamage('Nurse\0')).toBe('holds a NUL character')
  expect(findDamage('Nurse \u{1F642}')).toBeUndefined()
})
