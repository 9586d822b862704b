import { expect, test } from 'vitest'

import {
  statesNeedingDecision,
  statesNeedingRetry,
  submissionStates,
  transitions,
  openStates,
  waitingStates,
} from '../../../src/domain/submission/states.ts'

test('every state has its transitions', () => {
  expect(Object.keys(transitions).sort()).toEqual([...submissionStates].sort())
})

test('only a pending order can be sent', () => {
  expect(submissionStates.filter((state) => transitions[state].includes('sending'))).toEqual(['pending'])
})

test('an accepted order can only become unknown, which only a decision changes, so that no person is ordered twice', () => {
  expect(transitions.accepted).toEqual(['unknown'])
  expect(statesNeedingDecision).toContain('unknown')
})

test('an order in flight becomes accepted, rejected or unknown, or pending again if nothing was sent', () => {
  expect([...transitions.sending].sort()).toEqual(['accepted', 'pending', 'rejected', 'unknown'])
})

test('the transitions are those of the table in src/docs/ordering.md, section 1', () => {
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

test('the states that a retry or a decision changes, that may still become an order, and that wait', () => {
  expect({
    statesNeedingRetry,
    statesNeedingDecision,
    openStates,
    waitingStates,
  }).toEqual({
    statesNeedingRetry: ['rejected'],
    statesNeedingDecision: ['unknown', 'dropped'],
    openStates: ['pending', 'sending', 'unknown', 'dropped', 'held'],
    waitingStates: ['pending', 'held', 'duplicate'],
  })
})
