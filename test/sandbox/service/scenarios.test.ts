import { expect, test } from 'vitest'

import { scenarioTable } from '../../../src/sandbox/service/scenarios.ts'
import type { Deliver } from '../../../src/sandbox/service/delivery.ts'
import { verify, signingKey } from '../../../src/contract/signature.ts'
import { fullOrder, hour, jane, minute, refusal, simpleOrder, visit, type Visit } from '../visit.ts'

const tagged = (tags: string, order: object = fullOrder) => ({
  ...order,
  recipient: { ...jane, email: `jane+${tags}@example.com` },
})

/** The statuses of the request, its checks and its referees after each stretch of time. */
async function seen(where: Visit, id: string) {
  const { status, checks } = await where.read(id)
  return {
    status,
    checks: checks.map((check) => check.status),
    referees: checks.flatMap(({ references }) => references ?? []).map((referee) => referee.status),
    reports: checks.filter(({ report_pdf_url }) => typeof report_pdf_url === 'string').length,
  }
}

test.each([
  ['declined', 'CANCELLED', ['CANCELLED', 'CANCELLED', 'CANCELLED'], ['CANCELLED', 'CANCELLED'], 0],
  ['stopped', 'CANCELLED', ['CANCELLED', 'CANCELLED', 'CANCELLED'], ['CANCELLED', 'CANCELLED'], 0],
  ['expired', 'CANCELLED', ['CANCELLED', 'CANCELLED', 'CANCELLED'], ['CANCELLED', 'CANCELLED'], 0],
  ['mixed', 'COMPLETED', ['COMPLETED', 'COMPLETED', 'CANCELLED'], ['COMPLETED', 'COMPLETED'], 1],
  ['check-error', 'COMPLETED', ['COMPLETED', 'COMPLETED', 'ERROR'], ['COMPLETED', 'COMPLETED'], 1],
  ['all-errors', 'CANCELLED', ['ERROR', 'ERROR', 'ERROR'], ['CANCELLED', 'CANCELLED'], 0],
  ['error', 'ERROR', ['ERROR', 'ERROR', 'ERROR'], [], 0],
  ['no-referees', 'COMPLETED', ['CANCELLED', 'COMPLETED', 'COMPLETED'], [], 2],
  ['slow-referees', 'PARTIAL', ['IN_PROGRESS', 'COMPLETED', 'COMPLETED'], ['IN_PROGRESS', 'IN_PROGRESS'], 2],
  ['referee-cancelled', 'COMPLETED', ['COMPLETED', 'COMPLETED', 'COMPLETED'], ['COMPLETED', 'CANCELLED'], 2],
  ['report-never', 'COMPLETED', ['COMPLETED', 'COMPLETED', 'COMPLETED'], ['COMPLETED', 'COMPLETED'], 0],
  ['stuck', 'RECEIVED', ['RECEIVED', 'RECEIVED', 'RECEIVED'], [], 0],
  [
    'stalled',
    'IN_PROGRESS',
    ['IN_PROGRESS', 'IN_PROGRESS', 'IN_PROGRESS'],
    ['IN_PROGRESS', 'IN_PROGRESS'],
    0,
  ],
])('+%s is %s after an hour', async (tag, status, checks, referees, reports) => {
  const where = visit()
  const id = await where.order(tagged(tag))
  await where.clock.advance(hour)
  expect(await seen(where, id)).toEqual({ status, checks, referees, reports })
})

test('+slow-referees answer three days later', async () => {
  const where = visit()
  const id = await where.order(tagged('slow-referees'))
  await where.clock.advance(73 * hour)
  expect((await seen(where, id)).status).toBe('COMPLETED')
})

test('+report-later: COMPLETED within the hour, the reports half an hour after', async () => {
  const where = visit()
  const id = await where.order(tagged('report-later', simpleOrder))
  await where.clock.advance(55 * minute)
  expect(await seen(where, id)).toMatchObject({ status: 'COMPLETED', reports: 0 })
  await where.clock.advance(30 * minute)
  expect(await seen(where, id)).toMatchObject({ status: 'COMPLETED', reports: 1 })
})

test('+instant is over in seconds', async () => {
  const where = visit()
  const id = await where.order(tagged('instant'))
  await where.clock.advance(4000)
  expect((await seen(where, id)).status).toBe('COMPLETED')
})

test('+error goes through IN_PROGRESS, and no check was created', async () => {
  const where = visit()
  const id = await where.order(tagged('error'))
  const statuses = new Set<string>()
  for (let at = 0; at < 10; at += 1) {
    const { status, checks } = await where.read(id)
    statuses.add(status)
    expect(checks.map((check) => check.id)).toEqual([null, null, null])
    await where.clock.advance(minute)
  }
  expect([...statuses]).toEqual(['RECEIVED', 'IN_PROGRESS', 'ERROR'])
})

test.each([
  ['500-before', 500, 0],
  ['500-after', 500, 1],
  ['502-html', 502, 1],
  ['no-id', 201, 1],
  ['throttled', 429, 0],
])('creating for +%s answers %i and leaves %i requests', async (tag, status, count) => {
  const { post, sandbox } = visit()
  expect((await post(tagged(tag))).status).toBe(status)
  expect(sandbox.requests()).toHaveLength(count)
})

test.each([
  ['cut-before', 0],
  ['cut-after', 1],
])('creating for +%s breaks the connection and leaves %i requests', async (tag, count) => {
  const { post, sandbox } = visit()
  await expect(post(tagged(tag))).rejects.toThrow('the connection was cut')
  expect(sandbox.requests()).toHaveLength(count)
})

test('+report-html and +report-truncated spoil the downloads', async () => {
  const where = visit()
  const ids = [await where.order(tagged('report-html')), await where.order(tagged('report-truncated'))]
  await where.clock.advance(hour)
  const [html = '', cut = ''] = await Promise.all(
    ids.map(async (id) => (await where.read(id)).checks[1]?.report_pdf_url ?? ''),
  )
  expect((await where.get(html, {})).headers.get('Content-Type')).toBe('text/html')
  await expect(where.get(cut, {})).rejects.toThrow('the connection was cut')
})

test('a body that is refused is refused whatever its e-mail asks for', async () => {
  const { post } = visit()
  const answer = await post({ ...tagged('500-after'), package_id: 999 })
  expect(answer.envelope()).toEqual(refusal('resource not found'))
})

test('a tag that is no scenario means nothing, and several may stand together', async () => {
  const where = visit()
  const plain = await where.order(tagged('newsletter'))
  const both = await where.order(tagged('INSTANT+mixed'))
  await where.clock.advance(5000)
  expect((await seen(where, plain)).status).toBe('RECEIVED')
  expect((await seen(where, both)).checks).toEqual(['COMPLETED', 'COMPLETED', 'CANCELLED'])
})

test('a scenario can be injected for the next requests, whatever their recipient', async () => {
  const where = visit()
  where.sandbox.inject({ scenario: 'declined', after: 1, times: 2 })
  const ids: string[] = []
  for (let count = 0; count < 4; count += 1) ids.push(await where.order())
  await where.clock.advance(hour)
  const statuses = await Promise.all(ids.map(async (id) => (await where.read(id)).status))
  expect(statuses).toEqual(['COMPLETED', 'CANCELLED', 'CANCELLED', 'COMPLETED'])
})

test('an unknown scenario is refused by name', () => {
  const { sandbox } = visit()
  expect(() => sandbox.inject({ scenario: 'sunny' })).toThrow('no scenario named "sunny"')
})

test('every scenario says what it does, in one sentence', () => {
  const tags = scenarioTable.map(({ tag }) => tag)
  expect(new Set(tags).size).toBe(tags.length)
  expect(scenarioTable.filter(({ what }) => !/^[A-Z].*[a-zD-R]\.$/.test(what))).toEqual([])
})

/** The bodies, times and validity of what a receiver gets for one request. */
async function events(tag: string) {
  const got: { status: string; at: number; valid: boolean }[] = []
  const deliver: Deliver = (_url, headers, body) => {
    const key = signingKey(where.sandbox.credentials.webhookSecret)
    const valid = verify(body, headers['X-Service-Signature'] ?? '', key)
    const { status } = JSON.parse(Buffer.from(body).toString()) as { status: string }
    got.push({ status, at: where.clock.now(), valid })
    return Promise.resolve(valid ? 200 : 401)
  }
  const where = visit({ webhookUrl: 'https://hooks.example.com/in', deliver })
  await where.order(tagged(tag))
  await where.clock.advance(2 * hour)
  return got
}

test('+event-twice delivers each event twice', async () => {
  const statuses = (await events('event-twice')).map(({ status }) => status)
  expect(statuses).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'PARTIAL', 'PARTIAL', 'COMPLETED', 'COMPLETED'])
})

test('+event-late delivers each event a minute late', async () => {
  const [onTime] = await events('nothing')
  const [late] = await events('event-late')
  expect((late?.at ?? 0) - (onTime?.at ?? 0)).toBe(minute)
})

test('+event-unordered delivers the last status first', async () => {
  const statuses = (await events('event-unordered')).map(({ status }) => status)
  expect(statuses).toEqual(['COMPLETED', 'PARTIAL', 'IN_PROGRESS'])
})

test('+event-forged fails its first attempt where signatures are checked', async () => {
  const got = await events('event-forged')
  expect(got.map(({ status, valid }) => [status, valid])).toEqual([
    ['IN_PROGRESS', false],
    ['IN_PROGRESS', true],
    ['PARTIAL', false],
    ['PARTIAL', true],
    ['COMPLETED', false],
    ['COMPLETED', true],
  ])
})

test('+error tells an error_reason, only with the status ERROR', async () => {
  const bodies: unknown[] = []
  const deliver: Deliver = (_url, _headers, body) => {
    bodies.push(JSON.parse(Buffer.from(body).toString()))
    return Promise.resolve(204)
  }
  const where = visit({ webhookUrl: 'https://hooks.example.com/in', deliver })
  const request_id = await where.order(tagged('error'))
  await where.clock.advance(hour)
  expect(bodies).toEqual([
    { event: 'request.updated', request_id, status: 'IN_PROGRESS' },
    {
      event: 'request.updated',
      request_id,
      status: 'ERROR',
      error_reason: 'The provider did not accept the request.',
    },
  ])
})

test('unnamed: referees and background checks are shown without what may be null', async () => {
  const { order, read, clock, get } = visit()
  const id = await order({ ...fullOrder, recipient: { ...jane, email: 'jane+unnamed@example.com' } })
  await clock.advance(hour)
  const { status, checks } = await read(id)
  expect(status).toBe('COMPLETED')
  const referees = checks.flatMap(({ references = [] }) => references)
  expect(referees.length).toBeGreaterThan(0)
  for (const referee of referees) expect(referee).toMatchObject({ referee_name: null, referee_email: null })
  const backgrounds = checks.filter(({ type }) => type === 'background')
  for (const check of backgrounds) expect(check).toMatchObject({ check_name: null, partner_name: null })
  for (const { report_pdf_url: url } of [...referees, ...backgrounds]) {
    expect((await get(url ?? '', {})).status).toBe(200)
  }
})

test('deleted: all checks are CANCELLED', async () => {
  const { order, read, clock } = visit()
  const id = await order({ ...fullOrder, recipient: { ...jane, email: 'jane+deleted@example.com' } })
  await clock.advance(11 * 60_000)
  const { status, checks } = await read(id)
  expect([status, ...checks.map((check) => check.status)]).toEqual(
    Array.from({ length: 4 }, () => 'CANCELLED'),
  )
})
