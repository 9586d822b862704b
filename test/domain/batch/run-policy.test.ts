import { expect, test } from 'vitest'

import {
  initialCounters,
  waitForQuota,
  type RunCounters,
  nextStep,
  isAboutPackage,
  manyUnknownError,
  equalRejectionsError,
  quotaUsedUpError,
  progressOf,
  findOrderingProfile,
  nextQueuedStep,
} from '../../../src/domain/batch/run-policy.ts'
import type { Outcome } from '../../../src/domain/submission/outcome.ts'
import {
  ForbiddenError,
  InvalidInputError,
  NotFoundError,
  OutcomeUnknownError,
  ThrottledError,
  UnavailableError,
} from '../../../src/errors/kinds.ts'
import { countsOf } from './rows.ts'
import { type Batch, createEmptyCounts } from '../../../src/domain/batch/batch.ts'

const options = { waitBudgetMs: 10_000, fraction: 0 }

const accepted: Outcome = { kind: 'accepted', requestId: 'r', requestStatus: 'RECEIVED', answerStatus: 201 }
const unknownOutcome: Outcome = {
  kind: 'unknown',
  reason: 'the connection was reset',
  error: undefined,
  offeredId: undefined,
  answerStatus: undefined,
}
const unsentOutcome: Outcome = { kind: 'unsent', error: new UnavailableError('connection refused') }

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
    isStated: true,
    answerStatus: 429,
  }
}

/** Returns the counters and the step after the last of the outcomes. */
function runOutcomes(...outcomes: readonly Outcome[]): { counters: RunCounters; step: unknown } {
  let last = { counters: initialCounters, step: undefined as unknown }
  for (const outcome of outcomes) last = nextStep(last.counters, outcome, options)
  return last
}

test('after an accepted order the run continues with the next row', () => {
  expect(runOutcomes(accepted)).toEqual({
    counters: { ...initialCounters, sent: 1 },
    step: { kind: 'continue' },
  })
})

test('every request that was sent counts as sent, except those answered with 429', () => {
  expect(
    runOutcomes(accepted, rejected('recipient.phone'), unknownOutcome, throttled(1), unsentOutcome).counters
      .sent,
  ).toBe(3)
})

test('a 403 for the key halts the run at once', () => {
  const error = new ForbiddenError('the trial has ended', { status: 403 })
  expect(runOutcomes({ kind: 'halted', error, answerStatus: 403 }).step).toEqual({ kind: 'halt', error })
})

test('the run continues after a rejected row, and halts after the fifth in succession with the same reason', () => {
  const rejection = rejected('recipient.phone')
  expect(runOutcomes(rejection, rejection, rejection, rejection).step).toEqual({ kind: 'continue' })
  expect(runOutcomes(rejection, rejection, rejection, rejection, rejection).step).toMatchObject({
    kind: 'halt',
    error: { code: 'incomplete', message: expect.stringContaining('rejected 5 rows in succession') },
  })
})

test('a different reason or an accepted row resets the count of equal rejections', () => {
  const [rejection, otherRejection] = [rejected('recipient.phone'), rejected('recipient.email')]
  expect(runOutcomes(rejection, rejection, rejection, rejection, otherRejection).step).toEqual({
    kind: 'continue',
  })
  expect(runOutcomes(rejection, rejection, rejection, rejection, accepted, rejection).step).toEqual({
    kind: 'continue',
  })
})

test('an unknown outcome does not reset the count of equal rejections', () => {
  const rejection = rejected('recipient.phone')
  expect(
    runOutcomes(rejection, rejection, rejection, rejection, unknownOutcome, rejection).step,
  ).toMatchObject({ kind: 'halt' })
})

test('a 404 leads to a check of the package, and the run halts also if the package is still listed', () => {
  const error = new NotFoundError('resource not found', { status: 404 })
  expect(runOutcomes({ kind: 'rejected', error, answerStatus: 404 }).step).toEqual({
    kind: 'find common error',
    checkPackage: true,
    checkSchema: false,
    otherwise: { kind: 'halt', error },
  })
})

test('a 400 about additional information leads to a check of the schema, and otherwise the run continues', () => {
  expect(runOutcomes(rejected('additional_information.ncc')).step).toEqual({
    kind: 'find common error',
    checkPackage: false,
    checkSchema: true,
    otherwise: { kind: 'continue' },
  })
})

test('an unknown outcome leads to a health check, and the third in succession halts the run', () => {
  expect(runOutcomes(unknownOutcome).step).toEqual({ kind: 'check health', afterwards: { kind: 'continue' } })
  expect(runOutcomes(unknownOutcome, unknownOutcome).step).toMatchObject({ afterwards: { kind: 'continue' } })
  expect(runOutcomes(unknownOutcome, unknownOutcome, unknownOutcome).step).toMatchObject({
    kind: 'check health',
    afterwards: { kind: 'halt', error: { code: 'outcome_unknown' } },
  })
})

test.each([
  ['an accepted', accepted],
  ['a rejected', rejected('recipient.phone')],
])('%s row resets the count of unknown outcomes, a 429 does not', (_name, between) => {
  expect(runOutcomes(unknownOutcome, unknownOutcome, between, unknownOutcome).step).toMatchObject({
    afterwards: { kind: 'continue' },
  })
  expect(
    runOutcomes(unknownOutcome, unknownOutcome, throttled(1), unsentOutcome, unknownOutcome).step,
  ).toMatchObject({ afterwards: { kind: 'halt' } })
})

test('an answer with the id of another order halts the run at once', () => {
  const error = new OutcomeUnknownError('this id is another order’s')
  const { counters, step } = runOutcomes({ ...unknownOutcome, error, mustHalt: true })
  expect({ step, unknownsInARow: counters.consecutiveUnknowns }).toEqual({
    step: { kind: 'halt', error },
    unknownsInARow: 0,
  })
})

test('a single order ends with its first answer, unless that is a 429 or nothing was sent', () => {
  const single = { ...options, isSingle: true }
  const refused: Outcome = { kind: 'halted', error: new ForbiddenError('no credits'), answerStatus: 403 }
  for (const outcome of [accepted, rejected('recipient.phone'), unknownOutcome, refused])
    expect(nextStep(initialCounters, outcome, single).step).toEqual({ kind: 'end' })
  for (const outcome of [throttled(7), unsentOutcome])
    expect(nextStep(initialCounters, outcome, single).step).toMatchObject({ kind: 'wait' })
  const { step } = waitForQuota(initialCounters, 10_001, single)
  expect(step).toMatchObject({
    kind: 'halt',
    error: { hint: 'Nothing was sent. Run it again in 11 s, or wait automatically with a longer --timeout.' },
  })
})

test('after a 429 the run waits for the time that the service states', () => {
  expect(runOutcomes(throttled(7))).toEqual({
    counters: { ...initialCounters, waitedMs: 7_000 },
    step: { kind: 'wait', waitMs: 7_000 },
  })
})

test('the wait for an unreachable service doubles each time, and an answer resets it', () => {
  expect(runOutcomes(unsentOutcome).step).toEqual({ kind: 'wait', waitMs: 250 })
  expect(runOutcomes(unsentOutcome, unsentOutcome).step).toEqual({ kind: 'wait', waitMs: 500 })
  expect(runOutcomes(unsentOutcome, unsentOutcome, throttled(1), unsentOutcome).step).toEqual({
    kind: 'wait',
    waitMs: 250,
  })
})

test('all waits are added, also those for the quota, and the run halts if they exceed the budget', () => {
  const { counters } = runOutcomes(throttled(4), throttled(3))
  expect(waitForQuota(counters, 3_000, options).step).toEqual({ kind: 'wait', waitMs: 3_000 })
  expect(waitForQuota(counters, 3_001, options).step).toMatchObject({
    kind: 'halt',
    error: { code: 'throttled', message: 'the quota is used up for the next 4 s' },
  })
  expect(runOutcomes(throttled(4), throttled(7)).step).toMatchObject({
    kind: 'halt',
    error: { code: 'throttled' },
  })
})

test.each([
  ['a 404', new NotFoundError('resource not found', { status: 404 }), true],
  [
    'a 400 that names the package',
    new InvalidInputError('package_id: not ACTIVE', { status: 400, field: 'package_id' }),
    true,
  ],
  [
    'a 400 that names the package only in its message',
    new InvalidInputError('the package is not ACTIVE', { status: 400 }),
    true,
  ],
  [
    'a 400 about a field that speaks of packages',
    new InvalidInputError('reference.x: no such package', { status: 400, field: 'reference.x' }),
    false,
  ],
  ['a 400 about the person', new InvalidInputError('recipient.phone: x', { status: 400 }), false],
])('isAboutPackage for %s (%s): %s', (_name, error, expected) => {
  expect(isAboutPackage(error)).toBe(expected)
})

test('the error for equal rejections has the reason, status and field of the last one', () => {
  const error = new InvalidInputError('recipient.phone: no', { status: 400, field: 'recipient.phone' })
  const halt = equalRejectionsError(error, 5)
  expect(halt).toMatchObject({ code: 'incomplete', status: 400, field: 'recipient.phone', cause: error })
  expect(halt.message).toMatch(/5 .*recipient\.phone: no/)
})

test('the error for several unknown outcomes has the code outcome_unknown', () => {
  expect(manyUnknownError('cut', 3)).toMatchObject({ code: 'outcome_unknown' })
  expect(manyUnknownError('cut', 3).message).toMatch(/^3 .*cut$/)
})

test('the wait for the quota is rounded up to whole seconds', () => {
  expect(quotaUsedUpError(1)).toMatchObject({ code: 'throttled', retryAfter: 1 })
  expect(quotaUsedUpError(1000).retryAfter).toBe(1)
  expect(quotaUsedUpError(1001).retryAfter).toBe(2)
})

test('progress counts only rows that were or will be sent, and a row in flight is not yet settled', () => {
  const counts = countsOf({
    accepted: 2,
    rejected: 1,
    unknown: 1,
    pending: 3,
    sending: 1,
    invalid: 4,
    duplicate: 5,
    cancelled: 6,
  })
  expect(progressOf(counts, 9)).toMatchObject({ toSend: 8, settled: 4, secondsLeft: 9 })
})

const haltedAt = Date.UTC(2026, 10, 21, 9)

function createQueuedBatch(counts: Partial<Batch['counts']>, code?: string): Batch {
  const halt = code === undefined ? undefined : { at: haltedAt, code, message: '', hint: undefined }
  return { counts: { ...createEmptyCounts(), ...counts }, halt } as Batch
}

test.each([
  ['rows to send', { pending: 1 }, undefined, undefined, 'run'],
  ['nothing left', { accepted: 3, rejected: 1, duplicate: 1 }, undefined, undefined, 'done'],
  ['held rows alone', { accepted: 3, held: 1 }, undefined, undefined, 'wait'],
  ['an outage a moment ago', { pending: 1 }, 'unavailable', undefined, 'rest'],
  ['a key that is refused', { pending: 1 }, 'unauthenticated', undefined, 'rest'],
  ['a package that is gone', { pending: 1 }, 'not_found', undefined, 'wait'],
  ['three unknown in a row', { pending: 1, unknown: 3 }, 'outcome_unknown', undefined, 'wait'],
  ['an unknown row', { accepted: 1, unknown: 1 }, undefined, undefined, 'run'],
  ['an unknown row that was tried already', { accepted: 1, unknown: 1 }, undefined, haltedAt, 'rest'],
  ['a dropped row that was tried already', { dropped: 1 }, undefined, haltedAt, 'rest'],
  ['rows to send and an unknown one', { pending: 1, unknown: 1 }, undefined, haltedAt, 'run'],
] as const)('the next step of a queued batch with %s', (_, counts, code, triedAt, kind) => {
  expect(nextQueuedStep(createQueuedBatch(counts, code), haltedAt + 1000, triedAt).kind).toBe(kind)
})

test('a queued batch that a 403 halted is run again after exactly fifteen minutes', () => {
  expect(
    nextQueuedStep(createQueuedBatch({ pending: 1 }, 'forbidden'), haltedAt + 899_999, undefined),
  ).toEqual({
    kind: 'rest',
    untilMs: haltedAt + 900_000,
  })
  expect(
    nextQueuedStep(createQueuedBatch({ pending: 1 }, 'forbidden'), haltedAt + 900_000, undefined),
  ).toEqual({
    kind: 'run',
  })
})

const profiles = [
  { name: 'a', baseUrl: 'https://api.example.com', email: 'a@example.com', account: 'one' },
  { name: 'b', baseUrl: 'https://api.example.com/', email: 'B@example.com', account: 'one' },
  { name: 'c', baseUrl: 'https://api.example.com', email: 'c@example.com', account: 'two' },
  { name: 'd', baseUrl: 'https://staging.example.com', email: 'a@example.com', account: 'one' },
]

test.each([
  ['the user who began the batch', 'https://api.example.com', 'b@example.com', 'one', 'b'],
  ['a colleague if that user has no profile', 'https://api.example.com', 'left@example.com', 'one', 'a'],
  ['a profile of the same account', 'https://api.example.com', 'a@example.com', 'two', 'c'],
  ['a profile of the same service', 'https://staging.example.com', 'c@example.com', 'one', 'd'],
  ['no profile for an unknown service', 'https://api.example.org', 'a@example.com', 'one', undefined],
  ['the user of a request, which has no account', 'https://api.example.com', 'c@example.com', undefined, 'c'],
] as const)('findOrderingProfile chooses: %s', (_, baseUrl, userEmail, account, name) => {
  expect(findOrderingProfile({ baseUrl, userEmail, account }, profiles)?.name).toBe(name)
})
