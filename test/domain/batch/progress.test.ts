import { expect, test } from 'vitest'

import { progressOf } from '../../../src/domain/batch/progress.ts'
import { countsOf } from './rows.ts'

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
  expect(progressOf(counts, 9)).toMatchObject({ toSend: 8, settled: 4, secondsLeft: 9 })
})
