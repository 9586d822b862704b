import { expect, test } from 'vitest'

import { chooseOutputFormat } from '../../../src/domain/sheet/cell.ts'

const formats = ['xlsx', 'csv', 'html'] as const
const chooseFormat = (requested: (typeof formats)[number] | undefined, output: string | undefined) =>
  chooseOutputFormat('a list', formats, { requested, output })

test.each([
  [undefined, undefined, 'csv'],
  [undefined, '-', 'csv'],
  [undefined, 'people', 'csv'],
  [undefined, 'people.txt', 'csv'],
  [undefined, '../march.2026/people', 'csv'],
  [undefined, '.hidden', 'csv'],
  [undefined, 'people.XLSX', 'xlsx'],
  [undefined, 'page.htm', 'html'],
  ['xlsx', undefined, 'xlsx'],
  ['csv', 'people.dat', 'csv'],
] as const)('--format %s --output %s is %s', (requested, output, format) => {
  expect(chooseFormat(requested, output)).toBe(format)
})

test('a file extension without a format is refused, and so is one that contradicts --format', () => {
  expect(() => chooseFormat(undefined, 'people.pdf')).toThrow(
    '--output people.pdf: a list cannot be written as .pdf',
  )
  expect(() => chooseFormat('csv', 'people.xlsx')).toThrow('--format csv contradicts --output people.xlsx')
})
