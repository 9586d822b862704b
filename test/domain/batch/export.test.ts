import { expect, test } from 'vitest'

import { toExportedRow, chooseExportFormat, exportTable } from '../../../src/domain/batch/results.ts'
import { ann, batchRow } from './rows.ts'

test.each([
  [undefined, false, 'csv'],
  [undefined, true, 'json'],
  ['-', true, 'json'],
  ['-', false, 'csv'],
  ['people.XLSX', false, 'xlsx'],
  ['people.xlsx', true, 'xlsx'],
  ['page.htm', false, 'html'],
  ['page.html', false, 'html'],
  ['people.txt', false, 'csv'],
  ['people', false, 'csv'],
] as const)('the format for %s (--json: %s) is %s', (file, json, format) => {
  expect(chooseExportFormat(undefined, file, json)).toBe(format)
})

test('a file extension that contradicts the format is refused; --format html accepts .htm', () => {
  expect(() => chooseExportFormat(undefined, 'march.pdf', false)).toThrow(
    'an export cannot be written as .pdf',
  )
  expect(() => chooseExportFormat('csv', 'march.xlsx', false)).toThrow(
    '--format csv contradicts --output march.xlsx',
  )
  expect(chooseExportFormat('html', 'march.htm', false)).toBe('html')
  expect(chooseExportFormat('csv', 'march.pdf', false)).toBe('csv')
})

const body = {
  package_id: 7,
  recipient: ann,
  additional_information: [{ code: 'licence', fields: { number: 'A', points: 2, issuer: { name: 'S' } } }],
}

test('an exported row has the status, the time of the order and every field of the request', () => {
  const row = batchRow({ state: 'accepted', attemptedAt: 0, requestId: 'r-1', requestStatus: 'PARTIAL' })
  const exportedRow = toExportedRow(row, new TextEncoder().encode(JSON.stringify(body)))
  expect(exportedRow).toMatchObject({
    listed: { status: 'PARTIAL' },
    ordered_at: '1970-01-01T00:00:00.000Z',
    package_id: 7,
  })
  expect([...exportedRow.values]).toEqual([
    ...Object.entries(ann),
    ['licence.number', 'A'],
    ['licence.points', 2],
    ['licence.issuer', { name: 'S' }],
  ])
})

test('a row without a recipient is exported with the values that it still has', () => {
  const rowWithoutBody = toExportedRow(
    batchRow({ recipient: undefined, person: { email: 'a@b.example' }, packageId: undefined }),
    undefined,
  )
  expect([...rowWithoutBody.values]).toEqual([['email', 'a@b.example']])
  expect(rowWithoutBody).toMatchObject({ listed: { status: null }, ordered_at: null, package_id: null })
})

test('an export has the columns of all rows, then the package and the columns of refcheck; values keep their types', () => {
  const completeRow = toExportedRow(batchRow(), new TextEncoder().encode(JSON.stringify(body)))
  const rowWithoutBody = toExportedRow(batchRow({ row: 2, recipient: undefined }), undefined)
  const { columns, rows } = exportTable([rowWithoutBody, completeRow])
  expect(columns.slice(0, 8)).toEqual([
    ...Object.keys(ann),
    'licence.number',
    'licence.points',
    'licence.issuer',
    'package_id',
  ])
  expect(columns.slice(8).every((column) => column.startsWith('refcheck_'))).toBe(true)
  expect(rows[0]?.slice(0, 7)).toEqual(['', '', '', '', '', '', ''])
  expect(rows[1]?.slice(4, 8)).toEqual([
    'A',
    { kind: 'json', text: '2', value: 2 },
    { kind: 'json', text: '{"name":"S"}', value: { name: 'S' } },
    { kind: 'json', text: '7', value: 7 },
  ])
  expect(exportTable([]).columns.slice(0, 4)).toEqual(Object.keys(ann))
})
