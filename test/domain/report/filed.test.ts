import { expect, test } from 'vitest'

import type { RequestResource } from '../../../src/contract/request.ts'
import {
  fileChangedError,
  filingResult,
  incompleteError,
  fileExistsError,
  isAboutOneReport,
  isFinal,
  missingReport,
  requestWithoutReports,
  missingReportError,
  reportsWithEnding,
  noReportFollows,
  storedReport,
  subjectOf,
  requestWithoutChecks,
} from '../../../src/domain/report/filed.ts'
import { reportTargets } from '../../../src/domain/report/source.ts'
import {
  ForbiddenError,
  IncompleteError,
  InternalError,
  InterruptedError,
  InvalidInputError,
  IoError,
  NotFoundError,
  ThrottledError,
  UnauthenticatedError,
  UnavailableError,
} from '../../../src/errors/kinds.ts'

const createRequest = (status: string): RequestResource => ({
  request_id: 'r-1',
  package_id: 7,
  status,
  created_at: '2026-11-20T12:00:00Z',
  requester: { email: 'o@example.com' },
  recipient: { first_name: 'Ann', last_name: 'Lee', email: 'a@example.com', phone: '+614' },
  checks: [{ id: 'c-1', type: 'background', status: 'COMPLETED', check_name: 'Police' }],
})
const [target] = reportTargets(createRequest('COMPLETED'), 'https://api.example.com')
if (target === undefined) throw new Error('the request has a check')

test('subjectOf returns the manifest entry of a report, with counts only if they are given', () => {
  expect(subjectOf(target)).toEqual({
    service: 'https://api.example.com',
    request_id: 'r-1',
    check_id: 'c-1',
    referee_id: null,
    first_name: 'Ann',
    last_name: 'Lee',
    check_name: 'Police',
    request_reports: null,
    request_without: null,
    email: 'a@example.com',
    package_id: 7,
  })
  expect(subjectOf(target, { reports: 2, without: 0 })).toMatchObject({
    request_reports: 2,
    request_without: 0,
  })
})

test('storedReport returns the JSON of a stored report', () => {
  const record = { ...subjectOf(target), file: 'a.pdf', bytes: 3, sha256: 'ab', stored_at: '' }
  expect(storedReport(record, '/a.pdf', true)).toEqual({
    check_id: 'c-1',
    referee_id: null,
    path: '/a.pdf',
    bytes: 3,
    sha256: 'ab',
    skipped: true,
  })
})

test.each(['COMPLETED', 'CANCELLED', 'ERROR'])('%s is final', (status) => {
  expect(isFinal(createRequest(status))).toBe(true)
})
test.each(['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'ON_HOLD'])('%s is not final', (status) => {
  expect(isFinal(createRequest(status))).toBe(false)
})

test('the hint says that no report follows for a check that is CANCELLED or ERROR, and only then', () => {
  for (const status of ['CANCELLED', 'ERROR'])
    expect(missingReportError('Police', status).hint).toBe(noReportFollows)
  for (const status of ['RECEIVED', 'COMPLETED'])
    expect(missingReportError('Police', status).hint).toBeUndefined()
  expect(missingReportError('Police', 'RECEIVED')).toMatchObject({ code: 'not_found' })
})

test('the hint says that no report follows for a request without checks that has ended', () => {
  expect(requestWithoutChecks(createRequest('ERROR'))).toMatchObject({
    requestId: 'r-1',
    checkId: null,
    person: 'Ann Lee',
  })
  expect(requestWithoutChecks(createRequest('ERROR')).error.hint).toBe(noReportFollows)
  expect(requestWithoutChecks(createRequest('RECEIVED')).error.hint).toBeUndefined()
})

test('the errors for changed and existing files name the file', () => {
  expect(fileChangedError('a.pdf')).toMatchObject({ code: 'incomplete' })
  expect(fileChangedError('a.pdf').message).toContain('"a.pdf"')
  expect(fileExistsError('it is a folder', 'a.pdf').message).toMatch(/"a\.pdf".*it is a folder/)
})

test('errors of one report do not stop the others; errors of the disk, the quota and the program do', () => {
  const errorsOfOneReport = [
    NotFoundError,
    ForbiddenError,
    UnavailableError,
    UnauthenticatedError,
    InvalidInputError,
    IncompleteError,
  ]
  const errorsOfTheRun = [IoError, ThrottledError, InternalError, InterruptedError]
  expect(errorsOfOneReport.map((Kind) => isAboutOneReport(new Kind('x')))).toEqual(
    errorsOfOneReport.map(() => true),
  )
  expect(errorsOfTheRun.map((Kind) => isAboutOneReport(new Kind('x')))).toEqual(
    errorsOfTheRun.map(() => false),
  )
})

test('one error counts the missing reports, and its hint is about reports that may still follow', () => {
  const reportThatNeverFollows = missingReport(target, missingReportError('Police', 'CANCELLED'))
  const reportNotReady = missingReport(target, missingReportError('Police', 'RECEIVED'))
  expect(incompleteError([])).toBeUndefined()
  expect(incompleteError([reportThatNeverFollows])).toMatchObject({
    code: 'incomplete',
    hint: noReportFollows,
  })
  expect(incompleteError([reportThatNeverFollows])?.message).toBe('1 report is unavailable')
  expect(incompleteError([reportThatNeverFollows, reportNotReady])?.message).toMatch(/^2 .*CANCELLED/)
  expect(incompleteError([reportThatNeverFollows, reportNotReady])?.hint).not.toBe(noReportFollows)
  expect(reportThatNeverFollows).toMatchObject({ person: 'Ann Lee', checkId: 'c-1', refereeId: null })
})

const stored = storedReport(
  { ...subjectOf(target), file: 'a.pdf', bytes: 3, sha256: 'ab', stored_at: '' },
  '/a.pdf',
  false,
)

test('filingResult separates stored and missing reports', () => {
  const missing = requestWithoutReports('r-2', new NotFoundError('no such request'))
  expect(
    filingResult([stored, missing], { unfinishedCount: 1, notReadyCount: 0, failure: undefined }),
  ).toEqual({
    reports: [stored, missing],
    stored: [stored],
    missing: [missing],
    unfinishedCount: 1,
    notReadyCount: 0,
    failure: undefined,
  })
})

test('reports that were not tried get the error that stopped the run, or are left out without one', () => {
  const missing = missingReport(target, new NotFoundError('gone'))
  const outcomes = [stored, missing, target, { untriedRequestId: 'r-2' }]
  expect(reportsWithEnding(outcomes, undefined)).toEqual([stored, missing])
  const ending = new InterruptedError('stopped')
  expect(reportsWithEnding(outcomes, ending)).toEqual([
    stored,
    missing,
    missingReport(target, ending),
    { requestId: 'r-2', checkId: null, refereeId: null, person: undefined, error: ending },
  ])
})

test('the records of a reference report contain the referee id', () => {
  const reference = { ...target, refereeId: '7' }
  expect(subjectOf(reference).referee_id).toBe('7')
  expect(missingReport(reference, new NotFoundError('gone')).refereeId).toBe('7')
})

test('the hint of a report whose request is known contains the request id', () => {
  const hint = 'See whether the report is ready with "refcheck request get" and the id of its request.'
  const error = new NotFoundError('resource not found', { hint, status: 404 })
  expect(missingReport(target, error).error).toMatchObject({
    code: 'not_found',
    message: 'resource not found',
    status: 404,
    hint: 'See whether the report is ready with: refcheck request get r-1',
  })
  const errorWithOtherHint = new NotFoundError('gone', { hint: 'Ask them.' })
  expect(missingReport(target, errorWithOtherHint).error).toBe(errorWithOtherHint)
})

test('the message for a COMPLETED check without a report says that it is not available yet', () => {
  expect(missingReportError('Police', 'COMPLETED').message).toBe(
    'Police: the check is COMPLETED, but its report is not available yet',
  )
  expect(missingReportError('Police', 'RECEIVED').message).toBe(
    'Police: the report is not ready; the check is RECEIVED',
  )
})

test('the hint of a missing report replaces the hint to run again', () => {
  const reportNotReady = missingReport(target, new NotFoundError('not ready'))
  expect(incompleteError([reportNotReady])).toMatchObject({
    hint: 'What is on disk is skipped.',
    rerunLabel: 'Run again later',
  })
  const forbiddenReport = missingReport(target, new ForbiddenError('no', { hint: 'Ask an administrator.' }))
  expect(incompleteError([forbiddenReport])).toMatchObject({ hint: 'Ask an administrator.' })
})
