import { expect, test } from 'vitest'

import { fileIdentity, newRow, readingText, PackedRows } from '../../../src/domain/batch/new-row.ts'
import { ann, problem, rowReading } from './rows.ts'
import type { NewRow } from '../../../src/domain/batch/batch.ts'
import type { ExternalResult } from '../../../src/domain/submission/external-results.ts'

const base = 'https://api.example.com'

test('a valid row stores the bytes of its request body', () => {
  const row = newRow(rowReading({ row: 4 }))
  expect(row).toMatchObject({
    row: 4,
    state: 'pending',
    packageId: 7,
    recipient: ann,
  })
  expect(row.state === 'pending' && new TextDecoder().decode(row.body)).toBe(
    JSON.stringify({ package_id: 7, recipient: ann }),
  )
})

test('an invalid row stores its problems, the first field and the person as far as it could be read', () => {
  const problems = [problem(1, 'last_name', '', 'is required'), problem(1, 'phone', 'x', 'has no +')]
  const reading = rowReading({ body: undefined, problems })
  expect(newRow(reading)).toEqual({
    row: 1,
    state: 'invalid',
    packageId: 7,
    person: ann,
    reason: 'last_name is required; phone has no +',
    field: 'last_name',
    matchesRow: undefined,
  })
})

test('an invalid row for the same person as an earlier one is a duplicate', () => {
  // A valid row is stored in full, because the store compares it, and it may be sent if the earlier row is not.
  expect(newRow(rowReading({ row: 5, duplicateOf: 2 }))).toMatchObject({ state: 'pending' })
  const problems = [problem(5, 'phone', 'x', 'has no +')]
  const both = rowReading({ row: 5, duplicateOf: 2, body: undefined, problems })
  expect(newRow(both)).toMatchObject({ state: 'duplicate', reason: 'phone has no +' })
})

test('the identity of a file depends on account, service, bytes and package, and not on its path', () => {
  const identity = (baseUrl: string, account: string, sha256: string, packageId: number | undefined) =>
    fileIdentity({ account, baseUrl }, sha256, packageId)
  const one = identity(base, '', 'ab', 7)
  expect(identity(`${base}/`, '', 'ab', 7)).toBe(one)
  for (const other of [
    identity('https://other.example.com', '', 'ab', 7),
    identity(`${base}/staging`, '', 'ab', 7),
    identity(base, 'acme', 'ab', 7),
    identity(base, '', 'ac', 7),
    identity(base, '', 'ab', 8),
    identity(base, '', 'ab', undefined),
  ]) {
    expect(other).not.toBe(one)
  }
})
test('readingText does not depend on the order of the flags', () => {
  const one = readingText({ sheet: null, map: { b: 'x', a: 'y' }, ignore: ['n', 'm'], default_country: 'au' })
  const other = readingText({
    sheet: null,
    map: { a: 'y', b: 'x' },
    ignore: ['m', 'n'],
    default_country: 'AU',
  })
  expect(one).toBe(other)
  expect(readingText({ sheet: 'S', map: {}, ignore: [], default_country: null })).not.toBe(one)
})

test('accepted lines are part of readingText, in ascending order', () => {
  const read = (accept_lines?: number[]) =>
    readingText({
      sheet: null,
      map: {},
      ignore: [],
      default_country: null,
      ...(accept_lines && { accept_lines }),
    })
  expect(read([10, 9])).toBe(read([9, 10]))
  expect(JSON.parse(read([10, 9]))).toMatchObject({ accept_lines: [9, 10] })
  expect(read([])).toBe(read())
  expect(read()).not.toContain('accept_lines')
})

test('a valid duplicate row names the row that it repeats', () => {
  const reading = rowReading({ row: 5, duplicateOf: 2, body: undefined })
  expect(newRow(reading)).toMatchObject({ reason: 'is the same order as row 2', matchesRow: 2 })
})

test('the reading is part of the identity of a file; without a reading the identity has no such part', () => {
  const read = { sheet: null, map: {}, ignore: [], default_country: null }
  const identityWithoutReading = fileIdentity({ account: '', baseUrl: base }, 'ab', 7)
  const identityWithReading = fileIdentity({ account: '', baseUrl: base }, 'ab', 7, read)
  expect(JSON.parse(identityWithoutReading)).toEqual(['file', '', base, 'ab', 7])
  expect(JSON.parse(identityWithReading)).toEqual(['file', '', base, 'ab', 7, readingText(read)])
})

test('readingText contains every given setting and omits those that are null', () => {
  const text = readingText({
    sheet: 'S',
    map: { b: 'x', c: 'z', a: 'y' },
    ignore: ['n'],
    default_country: 'au',
    header_row: 3,
    encoding: 'UTF-16LE',
    hidden: 'skip',
    accept_lines: [2],
  })
  expect(text).toBe(
    '{"sheet":"S","map":{"a":"y","b":"x","c":"z"},"ignore":["n"],"default_country":"AU","header_row":3,"encoding":"utf-16le","hidden":"skip","accept_lines":[2]}',
  )
  expect(
    readingText({ sheet: null, map: {}, ignore: [], default_country: null, header_row: null, hidden: null }),
  ).toBe('{"sheet":null,"map":{},"ignore":[],"default_country":null}')
})

const long = 'x'.repeat(300_000)

/** First names: among them a lone surrogate, characters of several bytes, and a text longer than a page. */
const names = ['Ann', 'Zoë', '\uD800', long, '伟']

const orders = names.map((first_name, at): NewRow => {
  const reading = rowReading({ row: at * 3 + 1 })
  if (reading.body === undefined) throw new Error('the row is invalid')
  const body = { ...reading.body, recipient: { ...reading.body.recipient, first_name } }
  return newRow({ ...reading, body })
})

const invalid: NewRow = {
  row: 99,
  state: 'invalid',
  packageId: undefined,
  person: { first_name: 'Ann', last_name: 'Low', email: 'ann@x.example', phone: '' },
  reason: 'phone is missing',
  field: 'phone',
  matchesRow: undefined,
}

test('packed rows are returned unchanged and in order, each time they are iterated', () => {
  const all = [orders[0], invalid, ...orders.slice(1)] as NewRow[]
  const rows = new PackedRows()
  for (const row of all) rows.push(row)
  expect([...rows]).toEqual(all)
  expect([...rows]).toEqual(all)
  expect(rows.at(1)).toBe(invalid)
  expect(rows.at(2)).toEqual(orders[1])
  expect(rows.at(all.length)).toBeUndefined()
})

const result: ExternalResult = {
  file: 'people.results.csv',
  line: 2,
  state: 'accepted',
  requestId: '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55',
  requestStatus: 'RECEIVED',
  account: '',
  baseUrl: undefined,
  packageId: undefined,
  at: 0,
  person: 'same',
  shares: [],
}

test('a packed row has its external results, which are marked if results files are ignored', () => {
  const [first, second] = orders as [NewRow, NewRow]
  const rows = new PackedRows()
  for (const row of [first, second]) rows.push(row)
  rows.setResults(1, [result])
  expect([...rows]).toEqual([first, { ...second, externalResults: [result] }])
  const rowsIgnoringResults = new PackedRows({ ignoresResults: true })
  rowsIgnoringResults.push(first)
  rowsIgnoringResults.push(invalid)
  rowsIgnoringResults.setResults(0, [result])
  expect([...rowsIgnoringResults]).toEqual([
    { ...first, externalResults: [{ ...result, isIgnored: true }] },
    invalid,
  ])
})
