import { expect, test } from 'vitest'

import { createEmptyCounts, type Batch } from '../../../src/domain/batch/batch.ts'
import {
  type Attention,
  findAttention,
  batchAttention,
  maxRejectedDays,
  groupAttention,
  longWaitDays,
  type AttentionRow,
} from '../../../src/domain/overview/attention.ts'

const day = 86_400_000
const now = Date.parse('2026-11-20T12:00:00Z')
const file = { id: 'b1', kind: 'file', name: 'march.csv' } as const
const single = { id: 'b2', kind: 'single', name: 'request create' } as const

const row: AttentionRow = {
  batchId: 'b1',
  row: 3,
  state: 'accepted',
  requestId: 'r1',
  requestStatus: 'IN_PROGRESS',
  requestStatusAt: now,
  recipient: { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' },
  attemptedAt: now - day,
  addedAt: now - day,
  changedAt: now - day,
}

const findKind = (
  change: Partial<AttentionRow>,
  batch: typeof file | typeof single = file,
): string | undefined => findAttention({ ...row, ...change }, batch, null, now)?.kind

test('a row needs no attention if it is in flight, completed, waiting or decided', () => {
  expect(findKind({})).toBe(undefined)
  for (const requestStatus of ['RECEIVED', 'PARTIAL', 'COMPLETED'])
    expect(findKind({ requestStatus })).toBe(undefined)
  for (const state of ['pending', 'sending', 'duplicate', 'cancelled', 'dropped'] as const)
    expect(findKind({ state, requestId: undefined })).toBe(undefined)
})

test('unknown, held and invalid rows need attention however old they are', () => {
  for (const state of ['unknown', 'held', 'invalid'] as const)
    expect(findKind({ state, changedAt: 0 })).toBe(state)
  expect(findKind({ state: 'unknown', changedAt: 0 }, single)).toBe('unknown')
})

test('a request that ended CANCELLED or ERROR is listed until it is acknowledged, however old it is', () => {
  for (const [requestStatus, kind] of [
    ['CANCELLED', 'cancelled'],
    ['ERROR', 'error'],
  ] as const) {
    expect(findKind({ requestStatus, requestStatusAt: 0 })).toBe(kind)
    expect(findKind({ requestStatus, requestStatusAt: 0, acknowledgedAt: 1 })).toBe(undefined)
  }
})

test('a rejected row is listed for 30 days, and a rejected single order is not listed', () => {
  const [recent, old] = [now - maxRejectedDays * day, now - maxRejectedDays * day - 1]
  expect(findKind({ state: 'rejected', changedAt: recent })).toBe('rejected')
  expect(findKind({ state: 'rejected', changedAt: old })).toBe(undefined)
  expect(findKind({ state: 'rejected', changedAt: recent }, single)).toBe(undefined)
})

test('a request that is not completed 7 days after its order needs attention', () => {
  const longAgo = now - longWaitDays * day - 1
  expect(findKind({ attemptedAt: longAgo })).toBe('waiting')
  expect(findKind({ attemptedAt: undefined, addedAt: longAgo })).toBe('waiting')
  expect(findKind({ attemptedAt: now - longWaitDays * day })).toBe(undefined)
  expect(findKind({ attemptedAt: longAgo, requestStatus: 'COMPLETED' })).toBe(undefined)
  expect(findAttention({ ...row, attemptedAt: longAgo }, file, null, now)).toEqual({
    kind: 'waiting',
    batch_id: 'b1',
    batch: 'march.csv',
    row: 3,
    request_id: 'r1',
    first_name: 'Ana',
    last_name: 'Silva',
    email: 'ana@example.com',
    reason: null,
    since: new Date(longAgo).toISOString(),
    command: 'refcheck request get r1',
  })
})

const createBatch = (change: Partial<Batch>): Batch =>
  ({ ...file, counts: { ...createEmptyCounts(), pending: 2 }, changedAt: 5, ...change }) as Batch

test('a batch with rows to send is stopped unless it has a runner or is queued', () => {
  const halt = { at: 7, code: 'forbidden', message: 'no credits remain', hint: undefined }
  expect(batchAttention(createBatch({}))).toMatchObject({
    kind: 'stopped',
    command: 'refcheck batch resume b1',
  })
  expect(batchAttention(createBatch({ halt }))).toMatchObject({ kind: 'halted', reason: 'no credits remain' })
  expect(batchAttention(createBatch({ halt, queuedAt: 6 }))).toMatchObject({ kind: 'halted' })
  expect(batchAttention(createBatch({ queuedAt: 6 }))).toBe(undefined)
  expect(batchAttention(createBatch({ holder: { pid: 1, since: 1 } }))).toBe(undefined)
  expect(batchAttention(createBatch({ counts: createEmptyCounts() }))).toBe(undefined)
  expect(batchAttention(createBatch({ kind: 'single' }))).toBe(undefined)
})

test('rows of one batch have one command, waiting requests have one for all, and groups are ordered by precedence', () => {
  const createItem = (kind: Attention['kind'], batchId: string, requestId: string | null): Attention => ({
    kind,
    batch_id: batchId,
    batch: `${batchId}.csv`,
    row: 1,
    request_id: requestId,
    first_name: null,
    last_name: null,
    email: null,
    reason: null,
    since: '',
    command: '',
  })
  const groups = groupAttention([
    createItem('waiting', 'b1', 'r1'),
    createItem('waiting', 'b2', 'r2'),
    createItem('held', 'b1', null),
    createItem('rejected', 'b1', null),
    createItem('rejected', 'b1', null),
    createItem('rejected', 'b2', null),
    createItem('unknown', 'b2', null),
    createItem('error', 'b1', 'r3'),
    createItem('error', 'b1', 'r4'),
  ])
  expect(groups.map(({ kind, batch: name, items, command }) => [kind, name, items.length, command])).toEqual([
    ['unknown', 'b2.csv', 1, 'refcheck batch reconcile b2'],
    ['error', 'b1.csv', 2, 'refcheck request list --batch b1 --status error'],
    ['rejected', 'b1.csv', 2, 'refcheck batch rows b1 --state rejected'],
    ['rejected', 'b2.csv', 1, 'refcheck batch rows b2 --state rejected'],
    ['held', 'b1.csv', 1, 'refcheck batch release b1'],
    ['waiting', null, 2, 'refcheck request list --refresh --sort ordered_at'],
  ])
})
