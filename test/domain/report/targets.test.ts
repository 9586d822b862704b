import { expect, test } from 'vitest'

import type { RequestResource } from '../../../src/contract/request.ts'
import { hasEndedWithoutReport, reportTargets } from '../../../src/domain/report/source.ts'

const referee = {
  referee_id: 9,
  referee_name: 'Kim Q',
  referee_email: null,
  status: 'COMPLETED',
  report_pdf_url: 'https://k',
}

const request: RequestResource = {
  request_id: 'r-1',
  package_id: 7,
  status: 'PARTIAL',
  created_at: '2026-11-20T12:00:00Z',
  requester: { email: 'o@example.com' },
  recipient: { first_name: 'Ann', last_name: 'Lee', email: 'a@example.com', phone: '+614' },
  checks: [
    { id: 'c-1', type: 'background', status: 'COMPLETED', check_name: 'Police', report_pdf_url: 'https://p' },
    { id: 'c-2', type: 'background', status: 'IN_PROGRESS' },
    { id: null, type: 'background', status: 'RECEIVED', check_name: 'Later' },
    {
      id: 'c-3',
      type: 'reference',
      status: 'IN_PROGRESS',
      references: [referee, { ...referee, referee_id: 'x', referee_name: null, report_pdf_url: null }],
    },
    { id: 'c-4', type: 'reference', status: 'RECEIVED' },
  ],
}

test('each background check and each referee has a report; checks that are not created yet have none', () => {
  expect(
    reportTargets(request, 'https://api.example.com').map(({ checkId, refereeId, title, url }) => [
      checkId,
      refereeId,
      title,
      url,
    ]),
  ).toEqual([
    ['c-1', undefined, 'Police', 'https://p'],
    ['c-2', undefined, 'background-check', undefined],
    ['c-3', '9', 'reference-Kim Q', 'https://k'],
    ['c-3', 'x', 'reference-referee', undefined],
  ])
  expect(reportTargets(request, 'https://api.example.com').map(({ refereeName }) => refereeName)).toEqual([
    undefined,
    undefined,
    'Kim Q',
    undefined,
  ])
  expect(reportTargets(request, 'https://api.example.com')[0]).toMatchObject({
    requestId: 'r-1',
    packageId: 7,
    person: { firstName: 'Ann', lastName: 'Lee', email: 'a@example.com' },
  })
})

test.each([
  ['CANCELLED', undefined, true],
  ['ERROR', undefined, true],
  ['COMPLETED', undefined, false],
  ['IN_PROGRESS', undefined, false],
  ['CANCELLED', 'https://x', false],
])('hasEndedWithoutReport for %s with the URL %s is %s', (status, url, hasEnded) => {
  const [target] = reportTargets(request, 'https://api.example.com')
  expect(target && hasEndedWithoutReport({ ...target, status, url })).toBe(hasEnded)
})
