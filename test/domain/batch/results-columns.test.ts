import { expect, test } from 'vitest'

import { resultCells, resultColumns, resultsReader } from '../../../src/domain/batch/results.ts'
import { personDigests } from '../../../src/domain/submission/external-results.ts'
import { ann, batchRow } from './rows.ts'

const id = '9d3c1a52-6f0e-4b7d-8a21-5c4e7f90b3d6'
const position = { file: 'people.results.csv', line: 2 }

test('a row written to a results file is read back unchanged', () => {
  const row = batchRow({ state: 'accepted', requestId: id, requestStatus: 'RECEIVED', attemptedAt: 1_000 })
  const readCells = resultsReader(['email', ...resultColumns])
  expect(readCells?.([ann.email, ...resultCells(row, { account: 'acme' })], position)).toEqual({
    ...position,
    state: 'accepted',
    requestId: id,
    requestStatus: 'RECEIVED',
    account: 'acme',
    baseUrl: row.baseUrl,
    packageId: 7,
    at: 1_000,
    batchId: 'b-1',
    row: 1,
    digests: personDigests(ann),
  })
})

test('an erased person has no digests', () => {
  const cells = resultCells(batchRow({ state: 'accepted', requestId: id, recipient: undefined }), {})
  expect(resultsReader(resultColumns)?.(cells, position)?.digests).toBeUndefined()
})

test('a table without the columns of refcheck is not a results file', () => {
  expect(resultsReader(['email', 'refcheck_problem'])).toBeUndefined()
})

test('a results file of version 0.1.0 has only the request id; a row with neither state nor id is not an external result', () => {
  const readCells = resultsReader(['refcheck_state', 'refcheck_request_id'])
  expect(readCells?.(['accepted', id.toUpperCase()], position)).toMatchObject({
    state: 'accepted',
    requestId: id,
    digests: undefined,
    packageId: undefined,
    baseUrl: undefined,
    at: undefined,
  })
  expect(readCells?.(['', id], position)).toMatchObject({ state: 'accepted', requestId: id })
  expect(readCells?.(['', ''], position)).toBeUndefined()
  expect(readCells?.(['no state', 'no id'], position)).toBeUndefined()
})

test('a digest that a spreadsheet program turned into a number is ignored', () => {
  const readCells = resultsReader(resultColumns)
  const cells = resultCells(batchRow({ state: 'pending' }), {})
  cells[resultColumns.indexOf('refcheck_email_digest')] = '1.5E+31'
  expect(readCells?.(cells, position)?.digests).toBeUndefined()
})
