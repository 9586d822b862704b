import { expect, test } from 'vitest'

import { type Change, refuseImpossible } from '../../../src/domain/submission/change.ts'
import { type SubmissionState, submissionStates, transitions } from '../../../src/domain/submission/states.ts'

const from = (state: SubmissionState) => ({ batchId: 'b-1', row: 1, state, attemptId: undefined })
const decision = { by: 'o@example.com', why: 'they have it' }
const to = (state: SubmissionState, over: object = {}) =>
  ({ to: state, at: 0, reason: '', ...over }) as Change

test('a change is possible where the table has it, and nowhere else', () => {
  const possible = (state: SubmissionState, next: SubmissionState): boolean => {
    try {
      refuseImpossible(from(state), to(next, state === 'unknown' ? { decision } : {}))
      return true
    } catch {
      return false
    }
  }
  for (const state of submissionStates) {
    expect(submissionStates.filter((next) => possible(state, next)).sort()).toEqual(
      [...transitions[state]].sort(),
    )
  }
})

test('unknown is left by a decision, and no other state by one', () => {
  expect(() => refuseImpossible(from('unknown'), to('cancelled'))).toThrow(/decision/)
  expect(() => refuseImpossible(from('unknown'), to('cancelled', { decision }))).not.toThrow()
  expect(() => refuseImpossible(from('pending'), to('cancelled', { decision }))).toThrow(/decision/)
})
