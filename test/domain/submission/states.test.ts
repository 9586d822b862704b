import { expect, test } from 'vitest'

import {
  leftByDecision,
  leftByRetry,
  type SubmissionState,
  submissionStates,
  transitions,
  unsettledStates,
  waitingStates,
} from '../../../src/domain/submission/states.ts'

/** Every state that can come after this one, in any number of steps. */
function after(state: SubmissionState, found = new Set<SubmissionState>()): Set<SubmissionState> {
  for (const next of transitions[state]) {
    if (found.has(next)) continue
    found.add(next)
    after(next, found)
  }
  return found
}

test('every state has its ways on', () => {
  expect(Object.keys(transitions).sort()).toEqual([...submissionStates].sort())
})

test('an order is sent from pending alone', () => {
  expect(submissionStates.filter((state) => transitions[state].includes('sending'))).toEqual(['pending'])
})

test('what was accepted stays accepted: nobody is ordered twice by a change of state', () => {
  expect([...after('accepted')]).toEqual([])
})

test('an order in flight ends as one of the answers, or goes back where nothing was sent', () => {
  expect([...transitions.sending].sort()).toEqual(['accepted', 'pending', 'rejected', 'unknown'])
})

test('the whole table of the ordering protocol', () => {
  expect(transitions).toEqual({
    pending: ['sending', 'duplicate', 'held', 'cancelled', 'accepted'],
    sending: ['pending', 'accepted', 'rejected', 'unknown'],
    unknown: ['accepted', 'pending', 'dropped', 'cancelled'],
    dropped: ['accepted', 'pending', 'cancelled'],
    rejected: ['pending', 'duplicate', 'held'],
    held: ['pending', 'duplicate', 'cancelled'],
    duplicate: ['pending', 'held', 'cancelled'],
    accepted: [],
    invalid: [],
    cancelled: [],
  })
})

test('which states a person’s word leaves, which may still become an order, and which wait', () => {
  expect({ leftByRetry, leftByDecision, unsettledStates, waitingStates }).toEqual({
    leftByRetry: ['rejected'],
    leftByDecision: ['unknown', 'dropped'],
    unsettledStates: ['pending', 'sending', 'unknown', 'dropped', 'held'],
    waitingStates: ['pending', 'held', 'duplicate'],
  })
})
