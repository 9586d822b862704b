import { expect, test } from 'vitest'

import {
  leavesByDecision,
  leavesByRetry,
  submissionStates,
  transitions,
  openStates,
  waitingStates,
} from '../../../src/domain/submission/states.ts'

test('every state has its ways on', () => {
  expect(Object.keys(transitions).sort()).toEqual([...submissionStates].sort())
})

test('an order is sent from pending alone', () => {
  expect(submissionStates.filter((state) => transitions[state].includes('sending'))).toEqual(['pending'])
})

test('what was accepted is unknown at most, which a decision alone leaves: no person is ordered twice by a change of state', () => {
  expect(transitions.accepted).toEqual(['unknown'])
  expect(leavesByDecision).toContain('unknown')
})

test('an order in flight ends as one of the answers, or goes back where nothing was sent', () => {
  expect([...transitions.sending].sort()).toEqual(['accepted', 'pending', 'rejected', 'unknown'])
})

test('the table of states of src/docs/ordering.md, section 1', () => {
  expect(transitions).toEqual({
    pending: ['sending', 'duplicate', 'held', 'cancelled', 'accepted'],
    sending: ['pending', 'accepted', 'rejected', 'unknown'],
    unknown: ['accepted', 'pending', 'dropped', 'cancelled'],
    dropped: ['accepted', 'pending', 'cancelled'],
    rejected: ['pending', 'duplicate', 'held'],
    held: ['pending', 'duplicate', 'cancelled'],
    duplicate: ['pending', 'held', 'cancelled'],
    accepted: ['unknown'],
    invalid: [],
    cancelled: [],
  })
})

test('which states a person’s word leaves, which may still become an order, and which wait', () => {
  expect({
    leavesByRetry,
    leavesByDecision,
    openStates,
    waitingStates,
  }).toEqual({
    leavesByRetry: ['rejected'],
    leavesByDecision: ['unknown', 'dropped'],
    openStates: ['pending', 'sending', 'unknown', 'dropped', 'held'],
    waitingStates: ['pending', 'held', 'duplicate'],
  })
})
