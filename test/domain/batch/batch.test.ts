import { expect, test } from 'vitest'

import { noCounts } from '../../../src/domain/batch/batch.ts'
import { submissionStates } from '../../../src/domain/submission/states.ts'

test('noCounts returns a new object with a zero for every state', () => {
  const counts = noCounts()
  expect(Object.keys(counts).sort()).toEqual(['total', ...submissionStates].sort())
  expect(new Set(Object.values(counts))).toEqual(new Set([0]))
  counts.pending += 1
  expect(noCounts().pending).toBe(0)
})
