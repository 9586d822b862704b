import { expect, test } from 'vitest'

import {
  refuseImpossible,
  leavesByDecision,
  leavesByRetry,
  type SubmissionState,
  submissionStates,
  transitions,
} from '../../../src/domain/submission/states.ts'

const waysTo = (from: SubmissionState, to: SubmissionState): string[] =>
  (['call', 'decision', 'comparing', 'retry'] as const).filter((by) => {
    try {
      refuseImpossible(from, to, by)
      return true
    } catch {
      return false
    }
  })

test('a change is possible where the table has it, and nowhere else', () => {
  for (const from of submissionStates) {
    const possible = submissionStates.filter((to) => waysTo(from, to).length > 0)
    expect(possible.toSorted()).toEqual([...transitions[from]].toSorted())
  }
})

test('unknown, dropped and accepted are left by a decision, and no other state by one but pending with proof', () => {
  for (const from of submissionStates) {
    for (const to of transitions[from]) {
      const isEvidence = from === 'pending' && to === 'accepted'
      const decided = leavesByDecision.includes(from) || from === 'accepted' || isEvidence
      expect(waysTo(from, to).includes('decision'), `${from} to ${to}`).toBe(decided)
    }
  }
})

test('rejected is left by a retry, and no other state by one', () => {
  for (const from of submissionStates) {
    for (const to of transitions[from]) {
      expect(waysTo(from, to).includes('retry'), `${from} to ${to}`).toBe(leavesByRetry.includes(from))
    }
  }
})
