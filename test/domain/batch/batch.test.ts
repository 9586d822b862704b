import { expect, test } from 'vitest'

import { createEmptyCounts } from '../../../src/domain/batch/batch.ts'
import { submissionStates } from '../../../src/domain/submission/states.ts'

test('createEmptyCounts returns a new object with a zero for every state', () => {
  const counts = createEmptyCounts()
  expect(Object.keys(counts).sort()).toEqual(['total', ...submissionStates].sort())
  expect(new Set(Object.values(counts))).toEqual(new Set([0]))
  counts.pending += 1
  expect(createEmptyCounts().pending).toBe(0)
})
