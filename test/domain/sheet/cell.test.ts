import { expect, test } from 'vitest'

import {
  columnName,
  positionOf,
  plainDialect,
  textOf,
  isBooleanWord,
} from '../../../src/domain/sheet/cell.ts'

test.each([
  [0, 'A'],
  [25, 'Z'],
  [26, 'AA'],
  [51, 'AZ'],
  [52, 'BA'],
  [701, 'ZZ'],
  [702, 'AAA'],
  [16_383, 'XFD'],
])('column %i is %s', (column, name) => {
  expect(columnName(column)).toBe(name)
})

test('the position of a cell has the form that fits the format of the file', () => {
  expect(positionOf({ ...plainDialect, format: 'xlsx' }, 5, 2)).toBe('C5')
  expect(positionOf(plainDialect, 5, 2)).toBe('line 5, column 3')
  expect(positionOf({ ...plainDialect, format: 'jsonl' }, 5, 2)).toBe('line 5')
})

test('textOf returns the text of a cell of any kind', () => {
  expect(textOf('a')).toBe('a')
  expect(textOf({ kind: 'number', text: '1.5', value: 1.5, format: '0' })).toBe('1.5')
})

test.each([
  ['TRUE', 'FALSE'],
  ['WAHR', 'FALSCH'],
  ['VRAI', 'FAUX'],
  ['PRAWDA', 'FAŁSZ'],
  ['DOĞRU', 'YANLIŞ'],
  ['ИСТИНА', 'ЛОЖЬ'],
])('%s is a word for true, and %s is a word for false', (yes, no) => {
  expect([isBooleanWord(yes, true), isBooleanWord(no, false)]).toEqual([true, true])
  expect([isBooleanWord(yes, false), isBooleanWord(no, true)]).toEqual([false, false])
})

test('other words are neither true nor false', () => {
  for (const word of ['Yes', 'No', 'k', '', '1', 'TRUE!']) {
    expect([isBooleanWord(word, true), isBooleanWord(word, false)]).toEqual([false, false])
  }
})
