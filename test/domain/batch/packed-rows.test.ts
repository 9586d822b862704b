import { expect, test } from 'vitest'

import type { NewRow } from '../../../src/domain/batch/batch.ts'
import { PackedRows } from '../../../src/domain/batch/packed-rows.ts'
import { newRow } from '../../../src/domain/batch/new-row.ts'
import type { Witness } from '../../../src/domain/submission/witness.ts'
import { rowReading } from './rows.ts'

const long = 'x'.repeat(300_000)

/** With a letter that UTF-8 cannot hold, one of several bytes, and a text longer than a page. */
const names = ['Ann', 'Zoë', '\uD800', long, '伟']

const orders = names.map((first_name, at): NewRow => {
  const reading = rowReading({ row: at * 3 + 1 })
  if (reading.body === undefined) throw new Error('it is valid')
  const body = { ...reading.body, recipient: { ...reading.body.recipient, first_name } }
  return newRow({ ...reading, body })
})

const invalid: NewRow = {
  row: 99,
  state: 'invalid',
  packageId: undefined,
  email: 'ann@x.example',
  reason: 'phone is missing',
  field: 'phone',
  matchesRow: undefined,
}

test('every row is read again as it was, in its order, as often as asked', () => {
  const all = [orders[0], invalid, ...orders.slice(1)] as NewRow[]
  const rows = new PackedRows()
  for (const row of all) rows.push(row)
  expect([...rows]).toEqual(all)
  expect([...rows]).toEqual(all)
  expect(rows.at(1)).toBe(invalid)
  expect(rows.at(2)).toEqual(orders[1])
  expect(rows.at(all.length)).toBeUndefined()
})

const result: Witness = {
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

test('what results files say of a row comes with it; nothing does where they are ignored', () => {
  const [first, second] = orders as [NewRow, NewRow]
  const rows = new PackedRows()
  for (const row of [first, second]) rows.push(row)
  rows.setResults(1, [result])
  expect([...rows]).toEqual([first, { ...second, witnesses: [result] }])
  const ignoring = new PackedRows({ ignoresResults: true })
  ignoring.push(first)
  ignoring.push(invalid)
  expect([...ignoring]).toEqual([{ ...first, witnesses: [] }, invalid])
})
