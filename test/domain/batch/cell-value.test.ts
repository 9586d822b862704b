import { expect, test } from 'vitest'

import {
  cellText,
  cellValue,
  isEmpty,
  isoSuggestion,
  packageIdOf,
  textOfCell,
} from '../../../src/domain/batch/cell-value.ts'
import type { Cell } from '../../../src/domain/sheet/cell.ts'

const createField = (type: string, description = '') => ({ type, required: false, description })
const dayField = createField('string', 'Date of birth (YYYY-MM-DD)')
const numberCell = (value: number, format = 'General'): Cell => ({
  kind: 'number',
  text: String(value),
  value,
  format,
})
const dateCell = (text: string, format: string): Cell => ({ kind: 'date', text, serial: 1, format })
const trueCell: Cell = { kind: 'boolean', text: 'TRUE', value: true }

/** Returns the value of the cell, or `refused`. */
const readCell = (type: string, cell: Cell): unknown => {
  const { value, problem } = cellValue(createField(type), cell)
  return problem === undefined ? value : 'refused'
}

test('a number in a text column is read as its visible digits, up to fifteen of them', () => {
  expect(cellText('Ann')).toEqual({ text: 'Ann' })
  expect(cellText(numberCell(61_400_000_000))).toEqual({ text: '61400000000' })
  expect(cellText(numberCell(999_999_999_999_999)).problem).toBeUndefined()
  expect(cellText(numberCell(1e15)).problem).toBeDefined()
  expect(cellText(numberCell(0.5, '0%')).problem).toBeDefined()
})

test.each([dateCell('1990-04-23', 'yyyy-mm-dd'), trueCell, { kind: 'json', text: '1', value: 1 } as Cell])(
  'a text that a spreadsheet program converted is refused and not converted back: %j',
  (cell) => {
    expect(cellText(cell).problem).toBeDefined()
  },
)

test('a cell is read if its value has the type of the field, and refused otherwise', () => {
  expect(readCell('string', 'x')).toBe('x')
  expect(readCell('number', numberCell(1.5))).toBe(1.5)
  expect(readCell('boolean', trueCell)).toBe(true)
  expect(readCell('string', trueCell)).toBe('refused')
  expect(readCell('number', numberCell(0.5, '0%'))).toBe('refused')
})

test('a number with two possible readings is refused', () => {
  expect(readCell('number', '52.000')).toBe('refused')
  expect(readCell('number', '1e5')).toBe('refused')
  expect(readCell('number', '52.00')).toBe(52)
  expect(readCell('number', '1234.5')).toBe(1234.5)
})

test('a list is JSON or texts separated by ";"; "none" is the empty list, and similar words such as "nil" are refused', () => {
  expect(readCell('array', '["a"]')).toEqual(['a'])
  expect(readCell('array', 'a; b')).toEqual(['a', 'b'])
  expect(readCell('array', 'a, b')).toEqual(['a, b'])
  expect(readCell('array', 'None')).toEqual([])
  for (const text of ['nil', 'N/A', '-', 'a;;b', '{"a":1}']) expect(readCell('array', text)).toBe('refused')
})

test('a date cell is read as a day if its number format shows exactly the day', () => {
  expect(cellValue(dayField, dateCell('1990-04-23', 'dd/mm/yyyy'))).toEqual({ value: '1990-04-23' })
  expect(cellValue(dayField, dateCell('1990-04-23', 'mmm yyyy')).problem).toBeDefined()
  expect(cellValue(dayField, dateCell('1990-04-23T10:00', 'dd/mm/yyyy')).problem).toBeDefined()
  expect(readCell('string', dateCell('1990-04-23', 'dd/mm/yyyy'))).toBe('refused')
})

test('a date is suggested only if the text can be read as exactly one day', () => {
  expect(isoSuggestion(dayField, '30/04/1990')).toBe('1990-04-30')
  expect(isoSuggestion(dayField, '04-30-1990')).toBe('1990-04-30')
  expect(isoSuggestion(dayField, '4.4.1990')).toBe('1990-04-04')
  expect(isoSuggestion(dayField, '04/05/1990')).toBeUndefined()
  expect(isoSuggestion(dayField, '31/31/1990')).toBeUndefined()
  expect(isoSuggestion(createField('string'), '30/04/1990')).toBeUndefined()
})

test.each<[Cell, number | 'none' | 'wrong']>([
  ['102', 102],
  [' 102 ', 102],
  [numberCell(102), 102],
  [{ kind: 'number', text: '102', value: 102, format: '"Nurses"' }, 'wrong'],
  [{ kind: 'number', text: '102', value: 102, format: '0000' }, 'wrong'],
  ['', 'none'],
  ['  ', 'none'],
  ['0', 'wrong'],
  ['0102', 'wrong'],
  ['1.0', 'wrong'],
  ['1234567890123456', 'wrong'],
  [trueCell, 'wrong'],
])('packageIdOf(%j) returns %s', (cell, id) => {
  expect(packageIdOf(cell)).toBe(id)
})

test('a cell with nothing but white space of any kind is empty', () => {
  expect(['', ' ', '\t', '\u00A0', '\u3000'].map(isEmpty)).toEqual([true, true, true, true, true])
  expect(['0', ' x', 'é'].map(isEmpty)).toEqual([false, false, false])
  expect(isEmpty(numberCell(0))).toBe(false)
})

test('textOfCell returns the text of a cell unchanged', () => {
  expect([textOfCell('a'), textOfCell(numberCell(5))]).toEqual(['a', '5'])
})

test('a date cell is refused if its format shows another calendar or other digits', () => {
  const birthField = { type: 'string', required: true, description: 'Date of birth (YYYY-MM-DD)' }
  const findProblem = (format: string) =>
    cellValue(birthField, { kind: 'date', text: '2020-06-18', serial: 44_000, format }).problem
  for (const format of ['[$-409]d-mmm-yyyy', '[$-F800]dddd, mmmm dd, yyyy', '[$-1010409]d/m/yyyy']) {
    expect(findProblem(format)).toBeUndefined()
  }
  for (const format of [
    '[$-107041E]d mmm yyyy',
    '[$-1060000]d/m/yyyy',
    'b2dd/mm/yyyy',
    'ggge"年"m"月"d"日"',
  ]) {
    expect(findProblem(format)).toMatch(/^is a date shown as/)
  }
})
