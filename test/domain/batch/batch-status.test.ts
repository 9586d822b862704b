import { expect, test } from 'vitest'

import type { Batch } from '../../../src/domain/batch/batch.ts'
import {
  heldElsewhereError,
  toListedBatch,
  toListedRow,
  summaryOf,
  statusOf,
} from '../../../src/domain/batch/batch-status.ts'
import { batchRow, countsOf } from './rows.ts'

const createBatch = (changes: Partial<Batch> = {}): Batch => ({
  id: 'b-1',
  kind: 'file',
  addedAt: 0,
  changedAt: 1000,
  baseUrl: 'https://api.example.com',
  userEmail: 'owner@example.com',
  name: 'people.csv',
  sha256: '',
  packageId: undefined,
  path: undefined,
  resultsFile: undefined,
  reading: '{}',
  allowDuplicate: false,
  counts: countsOf({ accepted: 1, pending: 1 }),
  halt: undefined,
  queuedAt: undefined,
  holder: undefined,
  ...changes,
})

test('missing values of a summary are null, and times are in ISO 8601', () => {
  expect(summaryOf(createBatch())).toEqual({
    batch_id: 'b-1',
    package_id: null,
    counts: createBatch().counts,
    results_file: null,
  })
  const halt = { at: 2000, code: 'forbidden', message: 'no credits', hint: undefined }
  const status = statusOf(createBatch({ halt, holder: { pid: 9, since: 3000 } }))
  expect(status).toMatchObject({
    added_at: '1970-01-01T00:00:00.000Z',
    changed_at: '1970-01-01T00:00:01.000Z',
    halt: { at: '1970-01-01T00:00:02.000Z', code: 'forbidden' },
    holder: { pid: 9, since: '1970-01-01T00:00:03.000Z' },
  })
  expect(statusOf(createBatch())).toMatchObject({ halt: undefined, holder: undefined })
})

test('the state of a batch is the first that applies of running, unknown, done, halted and stopped', () => {
  const halt = { at: 0, code: 'forbidden', message: 'x', hint: undefined }
  const holder = { pid: 1, since: 0 }
  const unknown = countsOf({ unknown: 1, pending: 1 })
  expect(toListedBatch(createBatch({ holder, halt, counts: unknown })).state).toBe('running')
  expect(toListedBatch(createBatch({ halt, counts: unknown })).state).toBe('unknown')
  expect(toListedBatch(createBatch({ halt, counts: countsOf({ accepted: 1 }) })).state).toBe('done')
  expect(toListedBatch(createBatch({ halt })).state).toBe('halted')
  expect(toListedBatch(createBatch()).state).toBe('stopped')
})

test('a listed row has its own request id or that of its match, and the e-mail that could be read', () => {
  const matches = {
    batchId: 'b-2',
    row: 4,
    requestId: 'r-2',
    state: undefined,
    packageId: undefined,
    orderedAt: undefined,
  }
  expect(toListedRow(batchRow({ state: 'accepted', requestId: 'r-1', matches }))).toMatchObject({
    request_id: 'r-1',
    email: 'ann@example.com',
    error: null,
  })
  expect(toListedRow(batchRow({ state: 'duplicate', matches })).request_id).toBe('r-2')
  expect(toListedRow(batchRow({ recipient: undefined, person: { email: 'a@b.example' } })).email).toBe(
    'a@b.example',
  )
  expect(toListedRow(batchRow({ recipient: undefined })).email).toBeNull()
})

test('the error of a row names its match, or its field once and the reason', () => {
  const errorOfRow = (changes: Parameters<typeof batchRow>[0]) =>
    toListedRow(batchRow({ state: 'rejected', ...changes })).error
  expect(errorOfRow({})).toBeNull()
  expect(errorOfRow({ reason: 'is wrong' })).toBe('is wrong')
  expect(errorOfRow({ reason: 'is wrong', field: 'email' })).toBe('email: is wrong')
  expect(errorOfRow({ reason: 'email is wrong', field: 'email' })).toBe('email is wrong')
  const matchInSameBatch = {
    batchId: 'b-1',
    row: 4,
    requestId: undefined,
    state: undefined,
    packageId: undefined,
    orderedAt: undefined,
  }
  expect(errorOfRow({ matches: matchInSameBatch })).toMatch(/ row 4$/)
  expect(errorOfRow({ matches: { ...matchInSameBatch, batchId: 'b-2' } })).toMatch(/ row 4 of batch b-2$/)
  expect(errorOfRow({ matches: { ...matchInSameBatch, requestId: 'r-9' } })).toMatch(/r-9 \(row 4\)$/)
})

test('the error of a second runner names the process that runs the batch, if it is known', () => {
  const runningError = heldElsewhereError(createBatch({ holder: { pid: 42, since: 0 } }))
  expect(runningError).toMatchObject({ code: 'incomplete' })
  expect(runningError.message).toMatch(/b-1 .*process 42, since 1970/)
  expect(runningError.hint).toContain('refcheck batch status b-1')
  expect(heldElsewhereError(createBatch()).message).toContain('another process')
})
