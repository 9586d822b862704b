import { expect, test } from 'vitest'

import { type Batch, createEmptyCounts } from '../../../src/domain/batch/batch.ts'
import type { Attention } from '../../../src/domain/overview/attention.ts'
import { countStatuses, createOverview, requestKey } from '../../../src/domain/overview/overview.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'

const createOrder = (requestId: string, requestStatus: string | undefined, at: number): Submission =>
  ({
    requestId,
    requestStatus,
    requestStatusAt: requestStatus === undefined ? undefined : at,
    changedAt: at,
    packageId: 102,
    baseUrl: 'https://api.example.com',
    recipient: undefined,
  }) as Submission

const emptyInput = {
  organisation: undefined,
  accepted: [],
  batches: [],
  attention: [],
  files: undefined,
  otherBatches: [],
}

test('an empty store needs no attention', () => {
  expect(createOverview(emptyInput, 0)).toEqual({
    read_at: '1970-01-01T00:00:00.000Z',
    organisation: null,
    statuses: {},
    in_flight: { requests: 0, read_since: null, batches: [] },
    attention: [],
    reports: [],
    completed: 0,
    new_reports: null,
    reports_awaited: null,
    other_orders: [],
  })
})

test('a request that was never read counts as RECEIVED', () => {
  expect(
    countStatuses([
      createOrder('a', undefined, 0),
      createOrder('b', 'PARTIAL', 0),
      createOrder('c', 'PARTIAL', 0),
    ]),
  ).toEqual({
    RECEIVED: 1,
    PARTIAL: 2,
  })
})

test('requests without a terminal status are in flight, and read_since is the oldest of their reads', () => {
  const accepted = [
    createOrder('a', 'RECEIVED', 3000),
    createOrder('b', undefined, 2000),
    createOrder('c', 'CANCELLED', 1000),
    createOrder('d', 'COMPLETED', 500),
  ]
  expect(createOverview({ ...emptyInput, accepted }, 9000).in_flight).toEqual({
    requests: 2,
    read_since: '1970-01-01T00:00:02.000Z',
    batches: [],
  })
})

test('the reports are those of the five newest completed requests, with the number of their files', () => {
  const recipient = { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' }
  const accepted = Array.from({ length: 7 }, (_, at) => ({
    ...createOrder(`r${at}`, 'COMPLETED', at),
    recipient: at === 0 ? undefined : recipient,
  }))
  const {
    reports,
    completed,
    new_reports: newReports,
  } = createOverview(
    { ...emptyInput, accepted, files: new Map([[requestKey('https://api.example.com', 'r5'), 2]]) },
    9,
  )
  expect(reports.map(({ request_id: id, files }) => [id, files])).toEqual([
    ['r6', 0],
    ['r5', 2],
    ['r4', 0],
    ['r3', 0],
    ['r2', 0],
  ])
  // The erased person is not counted; new reports exclude the request with files too.
  expect([completed, newReports]).toEqual([6, 5])
  expect(createOverview({ ...emptyInput, accepted }, 9).reports[0]?.files).toBe(null)
})

test('orders of other users are counted by service and account, without groups that have none', () => {
  const createBatch = (baseUrl: string, account: string | undefined, counts: object): Batch =>
    ({ baseUrl, account, counts: { ...createEmptyCounts(), ...counts } }) as Batch
  const otherBatches = [
    createBatch('https://api.example.com', undefined, { accepted: 2, held: 1 }),
    createBatch('https://API.example.com/', '', { accepted: 3, unknown: 1 }),
    createBatch('https://api.example.com', 'north', { accepted: 1 }),
    createBatch('http://127.0.0.1:8080', undefined, { accepted: 4 }),
    createBatch('https://idle.example.com', undefined, { invalid: 5 }),
  ]
  expect(createOverview({ ...emptyInput, otherBatches }, 0).other_orders).toEqual([
    { base_url: 'https://api.example.com', account: '', is_practice: false, orders: 5, needs_person: 2 },
    { base_url: 'https://api.example.com', account: 'north', is_practice: false, orders: 1, needs_person: 0 },
    { base_url: 'http://127.0.0.1:8080', account: '', is_practice: true, orders: 4, needs_person: 0 },
  ])
})

test('a batch is in flight while it has rows to send; a single order is not listed as a batch', () => {
  const createBatch = (id: string, change: object): Batch =>
    ({ id, kind: 'file', name: id, addedAt: 0, counts: createEmptyCounts(), ...change }) as Batch
  const batches = [
    createBatch('open', { counts: { ...createEmptyCounts(), pending: 1 } }),
    createBatch('sending', { counts: { ...createEmptyCounts(), sending: 1 } }),
    createBatch('done', {}),
    createBatch('one', { kind: 'single', counts: { ...createEmptyCounts(), sending: 1 } }),
  ]
  const { in_flight: inFlight } = createOverview({ ...emptyInput, batches }, 9)
  expect(inFlight.batches.map(({ batch_id: id }) => id)).toEqual(['open', 'sending'])
})

test('attention is ordered by precedence', () => {
  const createItem = (kind: Attention['kind']): Attention => ({ kind }) as Attention
  const { attention } = createOverview(
    { ...emptyInput, attention: [createItem('waiting'), createItem('error'), createItem('unknown')] },
    0,
  )
  expect(attention.map(({ kind }) => kind)).toEqual(['unknown', 'error', 'waiting'])
})
