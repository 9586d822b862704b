import { expect, test } from 'vitest'

import type { Attempt } from '../../../src/domain/submission/submission.ts'
import {
  type Outcome,
  changeFor,
  outcomeText,
  notRecordedError,
} from '../../../src/domain/submission/outcome.ts'
import { InvalidInputError, ThrottledError, UnavailableError } from '../../../src/errors/kinds.ts'

const accepted = {
  kind: 'accepted',
  requestId: 'r-1',
  requestStatus: 'RECEIVED',
  answerStatus: 201,
} as Outcome
const refusal = new InvalidInputError('email: is wrong', { field: 'email' })
const rejected = { kind: 'rejected', error: refusal, answerStatus: 400 } as Outcome
/** `offeredId`: the request id that the failed answer named. */
const unknown = { kind: 'unknown', reason: 'cut', offeredId: 'r-2', answerStatus: 500 } as Outcome
const unsent = { kind: 'unsent', error: new UnavailableError('refused') } as Outcome
const throttled = { kind: 'throttled', error: new ThrottledError('used up'), answerStatus: 429 } as Outcome
/** Stops the whole batch, not only the row. */
const halted = { kind: 'halted', error: new UnavailableError('gone'), answerStatus: 404 } as Outcome

test('changeFor returns the change of the row for accepted, rejected and unknown outcomes', () => {
  expect(changeFor(accepted, 5)).toEqual({
    to: 'accepted',
    at: 5,
    requestId: 'r-1',
    requestStatus: 'RECEIVED',
    answerStatus: 201,
  })
  expect(changeFor(rejected, 5)).toEqual({
    to: 'rejected',
    at: 5,
    reason: 'email: is wrong',
    field: 'email',
    answerStatus: 400,
  })
  expect(changeFor(unknown, 5)).toEqual({
    to: 'unknown',
    at: 5,
    reason: 'cut',
    offeredId: 'r-2',
    answerStatus: 500,
  })
})

test('a row becomes pending again only if nothing was ordered', () => {
  for (const outcome of [unsent, throttled, halted])
    expect(changeFor(outcome, 5)).toMatchObject({ to: 'pending', at: 5 })
  expect(changeFor(throttled, 5)).toMatchObject({ answerStatus: 429, reason: 'used up' })
})

test('the error for an outcome that could not be recorded has the outcome and the reason', () => {
  expect(outcomeText(accepted)).toContain('r-1')
  expect(outcomeText(unknown)).toContain('cut')
  for (const outcome of [rejected, unsent, throttled, halted])
    expect(outcomeText(outcome)).toMatch(/nothing was ordered/)
  const attempt = { batchId: 'b-1', row: 2 } as Attempt
  const error = notRecordedError({ attempt, outcome: accepted }, new Error('disk full'))
  expect(error).toMatchObject({ code: 'io' })
  expect(error.message).toMatch(/r-1.*disk full/)
  expect(error.hint).toContain('refcheck batch reconcile b-1 --row 2 --request-id r-1')
  expect(notRecordedError({ attempt, outcome: unknown }, 'x').hint).not.toContain('--request-id')
})

test('the reason is "the store failed" if the value that the store threw is not an Error', () => {
  const attempt = { batchId: 'b-1', row: 2 } as Attempt
  expect(notRecordedError({ attempt, outcome: accepted }, 'x').message).toMatch(/: the store failed$/)
})
