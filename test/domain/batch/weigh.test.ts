import { expect, test } from 'vitest'

import { noRows, paced, type RunCounters, weigh } from '../../../src/domain/batch/weigh.ts'
import type { Outcome } from '../../../src/domain/submission/outcome.ts'
import {
  ForbiddenError,
  InvalidInputError,
  NotFoundError,
  OutcomeUnknownError,
  ThrottledError,
  UnavailableError,
} from '../../../src/errors/kinds.ts'

const options = { waitBudgetMs: 10_000, fraction: 0 }

const accepted: Outcome = { kind: 'accepted', requestId: 'r', requestStatus: 'RECEIVED', answerStatus: 201 }
const lost: Outcome = {
  kind: 'unknown',
  reason: 'the connection was reset',
  error: undefined,
  offeredId: undefined,
  answerStatus: undefined,
}
const unsent: Outcome = { kind: 'unsent', error: new UnavailableError('connection refused') }

function rejected(field: string, message = `${field}: is wrong`): Outcome {
  return {
    kind: 'rejected',
    error: new InvalidInputError(message, { status: 400, field }),
    answerStatus: 400,
  }
}

function throttled(seconds: number): Outcome {
  return {
    kind: 'throttled',
    error: new ThrottledError('too many calls'),
    seconds,
    understood: true,
    answerStatus: 429,
  }
}

/** The step after the last of several rows. */
function after(...outcomes: readonly Outcome[]): { counters: RunCounters; step: unknown } {
  let last = { counters: noRows, step: undefined as unknown }
  for (const outcome of outcomes) last = weigh(last.counters, outcome, options)
  return last
}

test('an accepted order goes on to the next row', () => {
  expect(after(accepted)).toEqual({ counters: { ...noRows, sent: 1 }, step: { kind: 'go on' } })
})

test('what went out is counted as sent, whatever came of it; a 429 and what never left is not', () => {
  expect(after(accepted, rejected('recipient.phone'), lost, throttled(1), unsent).counters.sent).toBe(3)
})

test('a refusal of the key halts at once', () => {
  const error = new ForbiddenError('the trial has ended', { status: 403 })
  expect(after({ kind: 'halted', error, answerStatus: 403 }).step).toEqual({ kind: 'halt', error })
})

test('a rejected row goes on, and the fifth in succession for one reason halts', () => {
  const one = rejected('recipient.phone')
  expect(after(one, one, one, one).step).toEqual({ kind: 'go on' })
  expect(after(one, one, one, one, one).step).toMatchObject({
    kind: 'halt',
    error: { code: 'incomplete', message: expect.stringContaining('rejected 5 rows in succession') },
  })
})

test('another reason, or an accepted row between them, starts the count of rejections again', () => {
  const [one, other] = [rejected('recipient.phone'), rejected('recipient.email')]
  expect(after(one, one, one, one, other).step).toEqual({ kind: 'go on' })
  expect(after(one, one, one, one, accepted, one).step).toEqual({ kind: 'go on' })
})

test('an unknown outcome between two rejections does not start their count again', () => {
  const one = rejected('recipient.phone')
  expect(after(one, one, one, one, lost, one).step).toMatchObject({ kind: 'halt' })
})

test('a package that is gone is asked about, and halts whatever the list of packages says', () => {
  const error = new NotFoundError('resource not found', { status: 404 })
  expect(after({ kind: 'rejected', error, answerStatus: 404 }).step).toEqual({
    kind: 'ask why',
    package: true,
    schema: false,
    otherwise: { kind: 'halt', error },
  })
})

test('a 400 about additional information reads the schema again, and goes on where the rows still fit', () => {
  expect(after(rejected('additional_information.ncc')).step).toEqual({
    kind: 'ask why',
    package: false,
    schema: true,
    otherwise: { kind: 'go on' },
  })
})

test('after an unknown outcome the service is asked whether it is well, and the third in succession halts', () => {
  expect(after(lost).step).toEqual({ kind: 'ask whether it is well', afterwards: { kind: 'go on' } })
  expect(after(lost, lost).step).toMatchObject({ afterwards: { kind: 'go on' } })
  expect(after(lost, lost, lost).step).toMatchObject({
    kind: 'ask whether it is well',
    afterwards: { kind: 'halt', error: { code: 'outcome_unknown' } },
  })
})

test.each([
  ['an accepted', accepted],
  ['a rejected', rejected('recipient.phone')],
])('%s row starts the count of unknown outcomes again, a 429 does not', (_name, between) => {
  expect(after(lost, lost, between, lost).step).toMatchObject({ afterwards: { kind: 'go on' } })
  expect(after(lost, lost, throttled(1), unsent, lost).step).toMatchObject({ afterwards: { kind: 'halt' } })
})

test('a service that mixes up its answers halts at the first', () => {
  const error = new OutcomeUnknownError('this id is another order’s')
  const { counters, step } = after({ ...lost, error, halts: true })
  expect({ step, unknownsInARow: counters.unknownsInARow }).toEqual({
    step: { kind: 'halt', error },
    unknownsInARow: 0,
  })
})

test('a 429 waits as long as the service says', () => {
  expect(after(throttled(7))).toEqual({
    counters: { ...noRows, waitedMs: 7_000 },
    step: { kind: 'wait', waitMs: 7_000 },
  })
})

test('an unreachable service is waited for twice as long each time, until a row is answered', () => {
  expect(after(unsent).step).toEqual({ kind: 'wait', waitMs: 250 })
  expect(after(unsent, unsent).step).toEqual({ kind: 'wait', waitMs: 500 })
  expect(after(unsent, unsent, throttled(1), unsent).step).toEqual({ kind: 'wait', waitMs: 250 })
})

test('waits add up, those for the quota too, and past the budget the run halts', () => {
  const { counters } = after(throttled(4), throttled(3))
  expect(paced(counters, 3_000, options).step).toEqual({ kind: 'wait', waitMs: 3_000 })
  expect(paced(counters, 3_001, options).step).toMatchObject({
    kind: 'halt',
    error: { code: 'throttled', message: 'the quota is used up for the next 4 s' },
  })
  expect(after(throttled(4), throttled(7)).step).toMatchObject({ kind: 'halt', error: { code: 'throttled' } })
})
