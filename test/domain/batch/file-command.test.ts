import { expect, test } from 'vitest'

import { choicesOf, errorsCommand, fileCommand } from '../../../src/domain/batch/file-command.ts'

const reading = {
  sheet: 'New starters',
  map: { 'Given name': 'first_name' },
  ignore: ['Notes'],
  default_country: 'AU',
  header_row: 3,
  encoding: 'cp850',
  hidden: 'skip',
  accept_lines: [4, 9],
} as const

test('fileCommand contains every flag that changes how the file is read and what is ordered', () => {
  const allowed = {
    allowDuplicate: true,
    allowSimilar: true,
    ignoreResults: true,
    shared: ['hr@example.com'],
  }
  const order = { file: 'my people.xlsx', columns: choicesOf(reading, 102), allowed }
  expect(fileCommand('run', order).split(' --')).toEqual([
    "refcheck batch run 'my people.xlsx'",
    'package 102',
    "sheet 'New starters'",
    'header-row 3',
    'encoding cp850',
    'hidden skip',
    'default-country AU',
    'accept-line 4',
    'accept-line 9',
    "map 'Given name=first_name'",
    'ignore Notes',
    'allow-duplicate',
    'allow-similar',
    'ignore-results',
    'shared hr@example.com',
  ])
})

test('a flag that was not given is left out', () => {
  const emptyReading = { sheet: null, map: {}, ignore: [], default_country: null }
  const columns = choicesOf(emptyReading, null)
  expect(fileCommand('validate', { file: 'people.csv', columns })).toBe('refcheck batch validate people.csv')
  expect(errorsCommand('people.csv', { ...columns, mapping: 'workday' })).toBe(
    'refcheck batch validate people.csv --mapping workday --errors invalid.csv',
  )
  expect(errorsCommand('people.ODS', columns)).toMatch(/ --errors invalid\.xlsx$/)
  expect(errorsCommand('-', columns)).toBeUndefined()
})
