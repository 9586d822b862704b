import { expect, test } from 'vitest'

import {
  refuseImpossible,
  statesNeedingDecision,
  statesNeedingRetry,
  type SubmissionState,
  submissionStates,
  transitions,
} from '../../../src/domain/submission/states.ts'

const listActors = (from: SubmissionState, to: SubmissionState): string[] =>
  (['call', 'decision', 'comparing', 'retry'] as const).filter((by) => {
    try {
      refuseImpossible(from, to, by)
      return true
    } catch {
      return false
    }
  })

test('a change is possible exactly if the table of transitions has it', () => {
  for (const from of submissionStates) {
    const possible = submissionStates.filter((to) => listActors(from, to).length > 0)
    expect(possible.toSorted()).toEqual([...transitions[from]].toSorted())
  }
})

test('a decision changes only unknown, dropped and accepted, and pending to accepted by evidence', () => {
  for (const from of submissionStates) {
    for (const to of transitions[from]) {
      const isEvidence = from === 'pending' && to === 'accepted'
      const decided = statesNeedingDecision.includes(from) || from === 'accepted' || isEvidence
      expect(listActors(from, to).includes('decision'), `${from} to ${to}`).toBe(decided)
    }
  }
})

test('a retry changes only rejected', () => {
  for (const from of submissionStates) {
    for (const to of transitions[from]) {
      expect(listActors(from, to).includes('retry'), `${from} to ${to}`).toBe(
        statesNeedingRetry.includes(from),
      )
    }
  }
})
