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

const kindOf = (
  change: Partial<AttentionRow>,
  batch: typeof file | typeof single = file,
): string | undefined => findAttention({ ...row, ...change }, batch, null, now)?.kind

test('a row needs no attention if it is in flight, completed, waiting or decided', () => {
  expect(kindOf({})).toBe(undefined)
  for (const requestStatus of ['RECEIVED', 'PARTIAL', 'COMPLETED'])
    expect(kindOf({ requestStatus })).toBe(undefined)
  for (const state of ['pending', 'sending', 'duplicate', 'cancelled', 'dropped'] as const)
    expect(kindOf({ state, requestId: undefined })).toBe(undefined)
})

test('unknown, held and invalid rows need attention however old they are', () => {
  for (const state of ['unknown', 'held', 'invalid'] as const)
    expect(kindOf({ state, changedAt: 0 })).toBe(state)
  expect(kindOf({ state: 'unknown', changedAt: 0 }, single)).toBe('unknown')
})

test('a request that ended CANCELLED or ERROR is listed until it is acknowledged, however old it is', () => {
  for (const [requestStatus, kind] of [
    ['CANCELLED', 'cancelled'],
    ['ERROR', 'error'],
  ] as const) {
    expect(kindOf({ requestStatus, requestStatusAt: 0 })).toBe(kind)
    expect(kindOf({ requestStatus, requestStatusAt: 0, acknowledgedAt: 1 })).toBe(undefined)
  }
})

test('a rejected row is listed for 30 days, and a rejected single order is not listed', () => {
  const [recent, old] = [now - maxRejectedDays * day, now - maxRejectedDays * day - 1]
  expect(kindOf({ state: 'rejected', changedAt: recent })).toBe('rejected')
  expect(kindOf({ state: 'rejected', changedAt: old })).toBe(undefined)
  expect(kindOf({ state: 'rejected', changedAt: recent }, single)).toBe(undefined)
})

test('a request that is not completed 7 days after its order needs attention', () => {
  const long = now - longWaitDays * day - 1
  expect(kindOf({ attemptedAt: long })).toBe('waiting')
  expect(kindOf({ attemptedAt: undefined, addedAt: long })).toBe('waiting')
  expect(kindOf({ attemptedAt: now - longWaitDays * day })).toBe(undefined)
  expect(kindOf({ attemptedAt: long, requestStatus: 'COMPLETED' })).toBe(undefined)
  expect(findAttention({ ...row, attemptedAt: long }, file, null, now)).toEqual({
    kind: 'waiting',
    batch_id: 'b1',
    batch: 'march.csv',
    row: 3,
    request_id: 'r1',
    first_name: 'Ana',
    last_name: 'Silva',
    email: 'ana@example.com',
    reason: null,
    since: new Date(long).toISOString(),
    command: 'refcheck request get r1',
  })
})

const batch = (change: Partial<Batch>): Batch =>
  ({ ...file, counts: { ...createEmptyCounts(), pending: 2 }, changedAt: 5, ...change }) as Batch

test('a batch with rows to send is stopped unless it has a runner or is queued', () => {
  const halt = { at: 7, code: 'forbidden', message: 'no credits remain', hint: undefined }
  expect(batchAttention(batch({}))).toMatchObject({ kind: 'stopped', command: 'refcheck batch resume b1' })
  expect(batchAttention(batch({ halt }))).toMatchObject({ kind: 'halted', reason: 'no credits remain' })
  expect(batchAttention(batch({ halt, queuedAt: 6 }))).toMatchObject({ kind: 'halted' })
  expect(batchAttention(batch({ queuedAt: 6 }))).toBe(undefined)
  expect(batchAttention(batch({ holder: { pid: 1, since: 1 } }))).toBe(undefined)
  expect(batchAttention(batch({ counts: createEmptyCounts() }))).toBe(undefined)
  expect(batchAttention(batch({ kind: 'single' }))).toBe(undefined)
})

test('rows of one batch have one command, waiting requests have one for all, and groups are ordered by precedence', () => {
  const of = (kind: Attention['kind'], batchId: string, requestId: string | null): Attention => ({
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
    of('waiting', 'b1', 'r1'),
    of('waiting', 'b2', 'r2'),
    of('held', 'b1', null),
    of('rejected', 'b1', null),
    of('rejected', 'b1', null),
    of('rejected', 'b2', null),
    of('unknown', 'b2', null),
    of('error', 'b1', 'r3'),
    of('error', 'b1', 'r4'),
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
