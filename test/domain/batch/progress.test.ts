import { expect, test } from 'vitest'

import { progressOf } from '../../../src/domain/batch/progress.ts'
import { countsOf } from './rows.ts'

const windows = [{ calls: 60, seconds: 60 }]

test('only rows that are to be sent count, and one in flight is not settled yet', () => {
  const counts = countsOf({
    accepted: 2,
    rejected: 1,
    unknown: 1,
    pending: 3,
    sending: 1,
    invalid: 4,
    duplicate: 5,
    cancelled: 6,
  })
  expect(progressOf(counts, windows, undefined)).toMatchObject({ toSend: 8, settled: 4 })
})

test('the time left is the pace so far, or the quota’s where that is slower', () => {
  const counts = countsOf({ pending: 120 })
  expect(progressOf(counts, windows, undefined).secondsLeft).toBe(120)
  expect(progressOf(counts, windows, 0).secondsLeft).toBe(120)
  expect(progressOf(counts, windows, 10).secondsLeft).toBe(120)
  expect(progressOf(counts, windows, 0.5).secondsLeft).toBe(240)
  expect(progressOf(countsOf({ accepted: 1 }), windows, 0.5).secondsLeft).toBe(0)
})
