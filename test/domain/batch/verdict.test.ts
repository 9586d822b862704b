import { expect, test } from 'vitest'

import {
  noConflicts,
  type ConflictCounts,
  countConflictGroups,
  countConflicts,
} from '../../../src/domain/batch/conflict-counts.ts'
import { nothingSentError, runError } from '../../../src/domain/batch/verdict.ts'
import type { RunEnd } from '../../../src/domain/batch/run-policy.ts'
import { ForbiddenError, InternalError, ThrottledError } from '../../../src/errors/kinds.ts'
import { countsOf, batchRow } from './rows.ts'
import type { Conflict } from '../../../src/domain/submission/conflicts.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'

const done: RunEnd = { kind: 'done' }
const interrupted: RunEnd = { kind: 'interrupted' }
const halted: RunEnd = { kind: 'halted', error: new ForbiddenError('no credits', { hint: 'Buy some' }) }
const errorOf = (states: Parameters<typeof countsOf>[0], end: RunEnd = done, leftOut?: string) =>
  runError('b-1', countsOf(states), end, noConflicts(), { leftOut })

test('a batch with only accepted rows has no error', () => {
  expect(errorOf({ accepted: 3 })).toBeUndefined()
})

test('the error of a batch is the first that applies of interrupted, unknown, halted, nothing sent and incomplete', () => {
  const all = { accepted: 1, unknown: 1, pending: 1, rejected: 1 }
  expect(errorOf(all, interrupted)?.code).toBe('interrupted')
  expect(errorOf(all, halted)?.code).toBe('outcome_unknown')
  expect(errorOf({ ...all, unknown: 0 }, halted)?.code).toBe('forbidden')
  expect(errorOf({ ...all, unknown: 0 })?.code).toBe('incomplete')
  expect(errorOf({ duplicate: 2 })?.code).toBe('duplicate')
  expect(errorOf({ invalid: 2 })?.code).toBe('invalid_input')
})

test('the hint contains batch resume if rows are pending, and only then', () => {
  const resumeCommand = 'refcheck batch resume b-1'
  expect(errorOf({ accepted: 1, pending: 1 }, interrupted)?.hint).toContain(resumeCommand)
  expect(errorOf({ accepted: 1 }, interrupted)?.hint).toBeUndefined()
  expect(errorOf({ accepted: 1, pending: 1 }, halted)?.hint).toContain(resumeCommand)
  expect(errorOf({ accepted: 1 }, halted)?.hint).toBe('Buy some')
  expect(errorOf({ accepted: 1, pending: 1 })?.hint).toContain(resumeCommand)
  expect(errorOf({ accepted: 1, rejected: 1 })?.hint).toContain('refcheck batch rows b-1')
  expect(errorOf({ accepted: 1, cancelled: 1 }, done, 'Ana Row')?.hint).toContain(
    'refcheck batch export b-1 --state cancelled',
  )
})

test('the error of unknown rows also names the halt, and its hint starts with batch reconcile', () => {
  const one = errorOf({ unknown: 1, accepted: 1 })
  expect(one?.message).toMatch(/^1 row /)
  expect(one?.hint).toContain('it with: refcheck batch reconcile b-1')
  const two = errorOf({ unknown: 2, pending: 3 }, halted)
  expect(two?.message).toMatch(/^2 rows .*3 not sent yet.*no credits/)
  expect(two?.hint).toContain('them with: refcheck batch reconcile b-1')
})

test('the error of a halt has the code, status and wait of its cause; an internal error becomes incomplete', () => {
  const throttled = new ThrottledError('used up', { retryAfter: 9, status: 429 })
  expect(errorOf({ pending: 1 }, { kind: 'halted', error: throttled })).toMatchObject({
    code: 'throttled',
    retryAfter: 9,
    status: 429,
  })
  expect(errorOf({ pending: 1 }, { kind: 'halted', error: new InternalError('a bug') })?.code).toBe(
    'incomplete',
  )
})

const createConflictCounts = (changes: Partial<ConflictCounts>): ConflictCounts => ({
  ...noConflicts(),
  ...changes,
})

test('a duplicate of an unknown row has the code outcome_unknown; waiting rows are incomplete; earlier orders have their dates', () => {
  const first = runError(
    'b-1',
    countsOf({ accepted: 1, duplicate: 1 }),
    halted,
    createConflictCounts({ unknown: countOne('b-2') }),
  )
  expect(first?.code).toBe('outcome_unknown')
  expect(first?.hint).toContain('refcheck batch reconcile b-2')
  expect(errorOf({ held: 2 })).toMatchObject({
    code: 'incomplete',
    hint: expect.stringContaining('rows b-1 --state held') as string,
  })
  expect(
    runError('b-1', countsOf({ held: 2 }), done, noConflicts(), {
      held: {
        row: 3,
        rowText: 'Ana Row3 (line 4)',
        heldFor: 'similar',
        matches: { batchId: 'other', row: 1, state: 'accepted' },
      },
    })
      ?.hint?.split('\n')
      .slice(1),
  ).toEqual([
    'Ana Row3 (line 4) is another person: refcheck batch release b-1 --row 3',
    'Ana Row3 (line 4) is the same person: refcheck batch cancel b-1 --row 3',
  ])
  const waits = runError(
    'b-1',
    countsOf({ duplicate: 1 }),
    done,
    createConflictCounts({ waiting: countOne('b-2') }),
  )
  expect(waits).toMatchObject({ code: 'incomplete', hint: expect.stringContaining('resume b-2') as string })
  const before = { ...noConflicts().orderedBefore, count: 2, firstSentAt: 0, lastSentAt: 86_400_000 }
  expect(
    nothingSentError(undefined, countsOf({ duplicate: 2 }), createConflictCounts({ orderedBefore: before }))
      .message,
  ).toMatch(/every row was ordered before \(1970-01-01 .* to 1970-01-02 /)
  expect(nothingSentError(undefined, countsOf({ duplicate: 2 })).message).not.toContain('ordered before')
})

const countOne = (batchId: string) => ({ count: 1, batchId })

test('the message counts the rows that were not accepted, without states that have no rows', () => {
  expect(errorOf({ accepted: 1, rejected: 3, duplicate: 1 })?.message).toMatch(
    /^1 of 5 .*\(3 rejected, 1 duplicate\)/,
  )
})

test('nothingSentError tells left-out, duplicate and invalid rows apart; without a batch the hint has no batch rows', () => {
  expect(nothingSentError('b-1', countsOf({ cancelled: 2, duplicate: 1 }))).toMatchObject({
    code: 'invalid_input',
  })
  expect(nothingSentError('b-1', countsOf({ cancelled: 2, duplicate: 1 })).message).toContain('2 of 3')
  expect(nothingSentError('b-1', countsOf({ duplicate: 2 })).code).toBe('duplicate')
  expect(nothingSentError('b-1', countsOf({ duplicate: 2, invalid: 1 })).message).toMatch(/2 .* 1 /)
  expect(nothingSentError('b-1', countsOf({ invalid: 1 })).code).toBe('invalid_input')
  expect(nothingSentError('b-1', countsOf({ invalid: 1 })).hint).toContain('refcheck batch rows b-1')
  expect(nothingSentError(undefined, countsOf({ invalid: 1 })).hint ?? '').not.toContain('batch rows')
})

const createConflict = (changes: Partial<Submission>): Conflict => ({
  becomes: 'duplicate',
  reason: 'same',
  shares: [],
  order: { ...batchRow(), packageId: 7, ...changes },
  moreCount: 0,
})

test('the conflicts of a planned file are counted by the state of the earlier order', () => {
  const conflicts = countConflicts([
    createConflict({ state: 'accepted', attemptedAt: 5 }),
    createConflict({ state: 'accepted', attemptedAt: 9, row: 2 }),
    createConflict({ state: 'accepted', attemptedAt: 9, row: 2 }),
    createConflict({ state: 'unknown', batchId: 'b-2' }),
    createConflict({ state: 'dropped', batchId: 'b-3' }),
    createConflict({ state: 'pending', batchId: 'b-4' }),
    createConflict({ state: 'sending', batchId: 'b-4', row: 2 }),
  ])
  expect(conflicts).toEqual({
    orderedBefore: {
      ...noConflicts().orderedBefore,
      count: 3,
      repeatCounts: { ordered: 1, all: 1 },
      firstSentAt: 5,
      lastSentAt: 9,
    },
    unknown: { count: 2, batchId: 'b-3', droppedRow: 1, droppedCount: 1 },
    waiting: { count: 2, batchId: 'b-4' },
    held: {},
  })
  expect(countConflicts([])).toEqual(noConflicts())
})

test('held rows are counted by reason, and duplicates of rows of the same batch are no earlier orders', () => {
  const group = { batchId: 'b-1', count: 2, first: undefined, last: undefined }
  const conflicts = countConflictGroups(
    [
      { ...group, state: 'accepted', heldFor: 'similar' },
      { ...group, state: 'accepted', heldFor: 'similar' },
      { ...group, state: 'pending', repeats: 2 },
      { ...group, state: 'pending', batchId: 'b-2' },
      { ...group, state: undefined, batchId: undefined },
      { ...group, state: 'accepted', requestStatus: 'ERROR', repeats: 2, first: 1, last: 1 },
    ],
    'b-1',
  )
  expect(conflicts).toEqual({
    unknown: { count: 0, batchId: undefined },
    waiting: { count: 2, batchId: 'b-2' },
    orderedBefore: { ...noConflicts().orderedBefore, count: 2, repeatCounts: { ordered: 2, all: 4 } },
    held: { similar: 4 },
  })
})

test('the earliest and the latest earlier order do not depend on the order of the groups', () => {
  const group = { state: 'accepted' as const, batchId: 'b-1', count: 1 }
  const { orderedBefore } = countConflictGroups([
    { ...group, first: 5, last: 9 },
    { ...group, first: 6, last: 7 },
    { ...group, first: undefined, last: undefined },
    { ...group, first: 2, last: 3 },
  ])
  expect(orderedBefore).toEqual({ ...noConflicts().orderedBefore, count: 4, firstSentAt: 2, lastSentAt: 9 })
})

test('duplicates of accepted orders cause no error; rows that the user left out are incomplete by choice of the user', () => {
  const ordered = createConflictCounts({
    orderedBefore: { ...noConflicts().orderedBefore, count: 2, firstSentAt: 0, lastSentAt: 0 },
  })
  expect(runError('b-1', countsOf({ accepted: 1, duplicate: 2 }), done, ordered)).toBeUndefined()
  expect(runError('b-1', countsOf({ duplicate: 2 }), done, ordered)).toBeUndefined()
  expect(errorOf({ accepted: 1, invalid: 1, cancelled: 1, dropped: 1 })).toMatchObject({
    code: 'incomplete',
    isUserChoice: true,
  })
  for (const remainingState of ['rejected', 'held', 'pending', 'duplicate'] as const)
    expect(errorOf({ accepted: 1, invalid: 1, [remainingState]: 1 })?.isUserChoice).toBe(false)
  expect(errorOf({ invalid: 2 })?.isUserChoice).toBe(false)
})
