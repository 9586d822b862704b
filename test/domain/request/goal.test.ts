import { expect, test } from 'vitest'

import type { Check, RequestResource } from '../../../src/contract/request.ts'
import { isGoalReached, isWaitOver, waitFailure, type WaitGoal } from '../../../src/domain/request/goal.ts'

const createCheck = (changes: Partial<Check> = {}): Check => ({
  id: 'c-1',
  type: 'background',
  status: 'COMPLETED',
  report_pdf_url: 'https://x',
  ...changes,
})

const createRequest = (
  status: string,
  checks: Check[] = [createCheck()],
  request_id = 'r-1',
): RequestResource => ({
  request_id,
  package_id: 7,
  status,
  created_at: '2026-11-20T12:00:00Z',
  requester: { email: 'o@example.com' },
  recipient: { first_name: 'Ann', last_name: 'Lee', email: 'a@example.com', phone: '+614' },
  checks,
})

const createReferee = (status: string, report_pdf_url: string | null) => ({
  referee_id: 1,
  referee_name: null,
  referee_email: null,
  status,
  report_pdf_url,
})

/** All goals. `findReachedGoals` returns the goals that a status reaches, `findEndedGoals` those whose wait is over. */
const goals: WaitGoal[] = ['terminal', 'partial', 'completed', 'report']
const findReachedGoals = (status: string) =>
  goals.filter((goal) => isGoalReached(createRequest(status), goal))
const findEndedGoals = (status: string) => goals.filter((goal) => isWaitOver(createRequest(status), goal))

test.each([
  ['RECEIVED', [], []],
  ['IN_PROGRESS', [], []],
  ['PARTIAL', ['partial'], ['partial']],
  ['COMPLETED', goals, goals],
  ['CANCELLED', [], goals],
  ['ERROR', [], goals],
])('%s reaches the goals %j and ends the wait for %j', (status, reach, end) => {
  expect(findReachedGoals(status)).toEqual(reach)
  expect(findEndedGoals(status)).toEqual(end)
})

test('a wait for reports continues after COMPLETED while the report of a completed check or referee is missing', () => {
  const requestWithoutReport = createRequest('COMPLETED', [
    createCheck(),
    createCheck({ report_pdf_url: null }),
  ])
  expect([
    isGoalReached(requestWithoutReport, 'report'),
    isWaitOver(requestWithoutReport, 'report'),
    isWaitOver(requestWithoutReport, 'terminal'),
  ]).toEqual([false, false, true])
  expect(
    isGoalReached(
      createRequest('COMPLETED', [createCheck({ status: 'CANCELLED', report_pdf_url: null })]),
      'report',
    ),
  ).toBe(true)
  const isReachedWith = (...references: ReturnType<typeof createReferee>[]) =>
    isGoalReached(
      createRequest('COMPLETED', [createCheck({ type: 'reference', report_pdf_url: null, references })]),
      'report',
    )
  expect(isReachedWith(createReferee('COMPLETED', 'https://x'), createReferee('CANCELLED', null))).toBe(true)
  expect(isReachedWith(createReferee('COMPLETED', null))).toBe(false)
})

test('a wait fails if it timed out, or if a request ended without the goal', () => {
  expect(waitFailure([createRequest('COMPLETED')], 0, 'terminal')).toBeUndefined()
  expect(waitFailure([createRequest('COMPLETED'), createRequest('RECEIVED')], 0, 'terminal')?.code).toBe(
    'timed_out',
  )
  expect(waitFailure([createRequest('COMPLETED')], 1, 'terminal')?.code).toBe('timed_out')
  expect(waitFailure([createRequest('CANCELLED'), createRequest('COMPLETED')], 0, 'terminal')?.code).toBe(
    'incomplete',
  )
})

test('the error of a wait that timed out names up to five requests, and the same command continues it', () => {
  const createOpenRequests = (count: number) =>
    Array.from({ length: count }, (_, at) => createRequest('RECEIVED', [], `r-${at + 1}`))
  expect(waitFailure(createOpenRequests(6), 0, 'terminal')?.rerunLabel).toBe('Continue with')
  expect(waitFailure(createOpenRequests(6), 0, 'terminal')?.message).toMatch(
    /^timed out: (Ann Lee is RECEIVED, ){5}1 more$/,
  )
  expect(waitFailure(createOpenRequests(1), 2, 'terminal')?.message).toContain('2 not read yet')
})
