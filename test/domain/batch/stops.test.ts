import { expect, test } from 'vitest'

import { noStops, stopsOf } from '../../../src/domain/batch/stops.ts'
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
