import { expect, test } from 'vitest'

import type { RequestResource } from '../../../src/contract/request.ts'
import {
  fullOrder,
  hour,
  jane,
  minute,
  refusal,
  simpleOrder,
  startTime,
  createSandboxClient,
} from '../sandbox-client.ts'

const terminalStatuses = new Set(['COMPLETED', 'ERROR', 'CANCELLED'])

/** Returns the status that "Request status" of the API document defines for the statuses of the checks. */
function expectedStatus({ checks }: RequestResource): string {
  const finishedChecks = checks.filter(({ status }) => ['COMPLETED', 'CANCELLED', 'ERROR'].includes(status))
  const completedChecks = checks.filter(({ status }) => status === 'COMPLETED')
  if (finishedChecks.length === checks.length) return completedChecks.length > 0 ? 'COMPLETED' : 'CANCELLED'
  if (completedChecks.length > 0) return 'PARTIAL'
  return checks.some(({ status }) => status === 'IN_PROGRESS') ? 'IN_PROGRESS' : 'RECEIVED'
}

async function readUntilTerminal(body: object, step = minute): Promise<RequestResource[]> {
  const { order, read, clock } = createSandboxClient({ quota: [] })
  const id = await order(body)
  const reads = [await read(id)]
  while (!terminalStatuses.has(reads.at(-1)?.status ?? '') && reads.length < (61 * minute) / step) {
    await clock.advance(step)
    reads.push(await read(id))
  }
  return reads
}

test('a new request is RECEIVED, its checks not started and without ids', async () => {
  const { order, read } = createSandboxClient()
  const id = await order(fullOrder)
  expect(await read(id)).toEqual({
    request_id: id,
    package_id: 101,
    status: 'RECEIVED',
    created_at: '2026-03-02T09:00:00.000Z',
    requester: { email: 'olive.owner@example.com' },
    recipient: jane,
    checks: [
      { id: null, type: 'reference', status: 'RECEIVED', references: [] },
      {
        id: null,
        type: 'background',
        status: 'RECEIVED',
        partner_name: 'Verity Checks',
        check_name: 'National police check',
        report_pdf_url: null,
      },
      {
        id: null,
        type: 'background',
        status: 'RECEIVED',
        partner_name: 'Ledgerline Bureau',
        check_name: 'Credit history check',
        report_pdf_url: null,
      },
    ],
  })
})

test('a request goes through RECEIVED, IN_PROGRESS and PARTIAL to COMPLETED within an hour', async () => {
  const reads = await readUntilTerminal(fullOrder)
  const statuses = reads.map(({ status }) => status)
  expect([...new Set(statuses)]).toEqual(['RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED'])
  expect(reads.length).toBeLessThanOrEqual(61)
})

test('a request with one check is never PARTIAL', async () => {
  const reads = await readUntilTerminal(simpleOrder)
  expect([...new Set(reads.map(({ status }) => status))]).toEqual(['RECEIVED', 'IN_PROGRESS', 'COMPLETED'])
})

test.each([1, 2, 3, 4, 5, 6])(
  'at any time the status of a request follows from the statuses of its checks (seed %i)',
  async (seed) => {
    const { order, read, clock } = createSandboxClient({ quota: [], seed })
    const ids = [
      await order(fullOrder),
      await order(simpleOrder),
      await order({ ...simpleOrder, package_id: 103 }),
    ]
    for (let minutes = 0; minutes <= 60; minutes += 1) {
      for (const id of ids) {
        const request = await read(id)
        expect(request.status).toBe(expectedStatus(request))
        for (const check of request.checks) {
          expect(check.id === null).toBe(check.status === 'RECEIVED')
          expect('references' in check).toBe(check.type === 'reference')
          expect('check_name' in check && 'partner_name' in check && 'report_pdf_url' in check).toBe(
            check.type === 'background',
          )
          const hasReport = check.type === 'background' && check.report_pdf_url !== null
          expect(hasReport).toBe(check.type === 'background' && check.status === 'COMPLETED')
          for (const referee of check.references ?? []) {
            expect(referee.report_pdf_url !== null).toBe(referee.status === 'COMPLETED')
          }
        }
      }
      await clock.advance(minute)
    }
    expect((await read(ids[0] ?? '')).status).toBe('COMPLETED')
  },
)

test('references is an empty array until referees are nominated, and then has as many entries as the survey requires', async () => {
  const reads = await readUntilTerminal({ ...simpleOrder, package_id: 103 }, minute / 4)
  const references = reads.map(({ checks }) => checks[0]?.references ?? [])
  expect(references[0]).toEqual([])
  expect(references.at(-1)).toHaveLength(2)
  const [first] = references.at(-1) ?? []
  expect(first).toEqual({
    referee_id: expect.stringMatching(/^\d+$/),
    referee_name: expect.stringMatching(/ Referee$/),
    referee_email: expect.stringMatching(/@example\.com$/),
    status: 'COMPLETED',
    report_pdf_url: expect.stringContaining('/referees/'),
  })
})

test('a terminal status and the ids of checks do not change', async () => {
  const { order, read, clock } = createSandboxClient({ quota: [] })
  const id = await order(fullOrder)
  await clock.advance(hour)
  const before = await read(id)
  await clock.advance(30 * 24 * hour)
  const after = await read(id)
  expect(after.status).toBe('COMPLETED')
  expect(after.checks.map((check) => check.id)).toEqual(before.checks.map((check) => check.id))
})

test('speed makes requests progress faster, but does not change created_at, the quota and report tokens', async () => {
  const { order, read, clock, get } = createSandboxClient({ speed: 600, quota: [{ calls: 4, seconds: 60 }] })
  const id = await order(fullOrder)
  await clock.advance(6000)
  const request = await read(id)
  expect(request.status).toBe('COMPLETED')
  expect(request.created_at).toBe(new Date(startTime).toISOString())
  expect((await get('/v1/users')).status).toBe(200)
  expect((await get('/v1/users')).status).toBe(200)
  const throttledAnswer = await get('/v1/users')
  expect(throttledAnswer.headers.get('Retry-After')).toBe('54')
  const url = request.checks[1]?.report_pdf_url ?? ''
  await clock.advance(hour - 1)
  expect((await get(url, {})).status).toBe(200)
  await clock.advance(1)
  expect((await get(url, {})).status).toBe(401)
})

test.each(['00000000-0000-4000-8000-000000000000', 'not-a-uuid', '%00'])(
  'request %s is a 404',
  async (id) => {
    const { get } = createSandboxClient()
    const answer = await get(`/v1/requests/${id}`)
    expect(answer.status).toBe(404)
    expect(answer.envelope()).toEqual(refusal('resource not found'))
  },
)
