import { expect, test } from 'vitest'

import { noStops, stopsIn, stopsOf } from '../../../src/domain/batch/stops.ts'
import type { Stop } from '../../../src/domain/submission/match.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'
import { batchRow } from './rows.ts'

const stop = (over: Partial<Submission>): Stop => ({
  becomes: 'duplicate',
  reason: 'same',
  shares: [],
  order: { ...batchRow(), packageId: 7, ...over },
  more: 0,
})

test('duplicates of a planned file are counted by what they match', () => {
  const stops = stopsOf([
    stop({ state: 'accepted', attemptedAt: 5 }),
    stop({ state: 'accepted', attemptedAt: 9 }),
    stop({ state: 'unknown', batchId: 'b-2' }),
    stop({ state: 'dropped', batchId: 'b-3' }),
    stop({ state: 'pending', batchId: 'b-4' }),
    stop({ state: 'sending', batchId: 'b-4' }),
  ])
  expect(stops).toEqual({
    ordered: { count: 2, first: 5, last: 9 },
    unknown: { count: 2, batchId: 'b-3' },
    waiting: { count: 2, batchId: 'b-4' },
    held: {},
  })
  expect(stopsOf([])).toEqual(noStops())
})

test('held rows count by what they are held for, and a duplicate of a row of one’s own that waits by nothing', () => {
  const group = { batchId: 'b-1', count: 2, first: undefined, last: undefined }
  const stops = stopsIn(
    [
      { ...group, state: 'accepted', heldFor: 'similar' },
      { ...group, state: 'accepted', heldFor: 'similar' },
      { ...group, state: 'pending' },
      { ...group, state: 'pending', batchId: 'b-2' },
      { ...group, state: undefined, batchId: undefined },
      { ...group, state: 'accepted' },
    ],
    'b-1',
  )
  expect(stops).toEqual({
    unknown: { count: 0, batchId: undefined },
    waiting: { count: 2, batchId: 'b-2' },
    ordered: { count: 2, first: undefined, last: undefined },
    held: { similar: 4 },
  })
})

test('the first and the last of what was ordered, in whatever order they are counted', () => {
  const group = { state: 'accepted' as const, batchId: 'b-1', count: 1 }
  const { ordered } = stopsIn([
    { ...group, first: 5, last: 9 },
    { ...group, first: 6, last: 7 },
    { ...group, first: undefined, last: undefined },
    { ...group, first: 2, last: 3 },
  ])
  expect(ordered).toEqual({ count: 4, first: 2, last: 9 })
})
