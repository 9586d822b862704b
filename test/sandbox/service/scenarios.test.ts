import { expect, test } from 'vitest'

import { scenarioTable } from '../../../src/sandbox/service/scenarios.ts'
import type { Deliver } from '../../../src/sandbox/service/delivery.ts'
import { verify, signingKey } from '../../../src/contract/signature.ts'
import {
  fullOrder,
  hour,
  jane,
  minute,
  refusal,
  simpleOrder,
  createSandboxClient,
  type SandboxClient,
} from '../sandbox-client.ts'

const orderWithTags = (tags: string, order: object = fullOrder) => ({
  ...order,
  recipient: { ...jane, email: `jane+${tags}@example.com` },
})

/** Returns the statuses of a request, its checks and its referees, and the number of its reports. */
async function readStatuses(client: SandboxClient, id: string) {
  const { status, checks } = await client.read(id)
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
  const client = createSandboxClient()
  const id = await client.order(orderWithTags(tag))
  await client.clock.advance(hour)
  expect(await readStatuses(client, id)).toEqual({ status, checks, referees, reports })
})

test('+slow-referees is COMPLETED after three days', async () => {
  const client = createSandboxClient()
  const id = await client.order(orderWithTags('slow-referees'))
  await client.clock.advance(73 * hour)
  expect((await readStatuses(client, id)).status).toBe('COMPLETED')
})

test('+report-later is COMPLETED within the hour, and its report is available half an hour later', async () => {
  const client = createSandboxClient()
  const id = await client.order(orderWithTags('report-later', simpleOrder))
  await client.clock.advance(55 * minute)
  expect(await readStatuses(client, id)).toMatchObject({ status: 'COMPLETED', reports: 0 })
  await client.clock.advance(30 * minute)
  expect(await readStatuses(client, id)).toMatchObject({ status: 'COMPLETED', reports: 1 })
})

test('+instant is COMPLETED within 4 seconds', async () => {
  const client = createSandboxClient()
  const id = await client.order(orderWithTags('instant'))
  await client.clock.advance(4000)
  expect((await readStatuses(client, id)).status).toBe('COMPLETED')
})

test('+error goes through IN_PROGRESS, and its checks never have ids', async () => {
  const client = createSandboxClient()
  const id = await client.order(orderWithTags('error'))
  const statuses = new Set<string>()
  for (let minutes = 0; minutes < 10; minutes += 1) {
    const { status, checks } = await client.read(id)
    statuses.add(status)
    expect(checks.map((check) => check.id)).toEqual([null, null, null])
    await client.clock.advance(minute)
  }
  expect([...statuses]).toEqual(['RECEIVED', 'IN_PROGRESS', 'ERROR'])
})

test.each([
  ['500-before', 500, 0],
  ['500-after', 500, 1],
  ['502-html', 502, 1],
  ['no-id', 201, 1],
  ['throttled', 429, 0],
])('a create for +%s answers %i and leaves %i requests', async (tag, status, count) => {
  const { post, sandbox } = createSandboxClient()
  expect((await post(orderWithTags(tag))).status).toBe(status)
  expect(sandbox.requests()).toHaveLength(count)
})

test.each([
  ['cut-before', 0],
  ['cut-after', 1],
])('a create for +%s cuts the connection and leaves %i requests', async (tag, count) => {
  const { post, sandbox } = createSandboxClient()
  await expect(post(orderWithTags(tag))).rejects.toThrow('the connection was cut')
  expect(sandbox.requests()).toHaveLength(count)
})

test('the download of a report is HTML for +report-html, and is cut for +report-truncated', async () => {
  const client = createSandboxClient()
  const ids = [
    await client.order(orderWithTags('report-html')),
    await client.order(orderWithTags('report-truncated')),
  ]
  await client.clock.advance(hour)
  const [htmlUrl = '', cutUrl = ''] = await Promise.all(
    ids.map(async (id) => (await client.read(id)).checks[1]?.report_pdf_url ?? ''),
  )
  expect((await client.get(htmlUrl, {})).headers.get('Content-Type')).toBe('text/html')
  await expect(client.get(cutUrl, {})).rejects.toThrow('the connection was cut')
})

test('an invalid body is refused even if its e-mail has a scenario', async () => {
  const { post } = createSandboxClient()
  const answer = await post({ ...orderWithTags('500-after'), package_id: 999 })
  expect(answer.envelope()).toEqual(refusal('resource not found'))
})

test('an unknown tag has no effect, and several tags can be combined', async () => {
  const client = createSandboxClient()
  const unknownTagId = await client.order(orderWithTags('newsletter'))
  const combinedTagsId = await client.order(orderWithTags('INSTANT+mixed'))
  await client.clock.advance(5000)
  expect((await readStatuses(client, unknownTagId)).status).toBe('RECEIVED')
  expect((await readStatuses(client, combinedTagsId)).checks).toEqual(['COMPLETED', 'COMPLETED', 'CANCELLED'])
})

test('a scenario can be injected for the next requests, whatever their recipient', async () => {
  const client = createSandboxClient()
  client.sandbox.inject({ scenario: 'declined', after: 1, times: 2 })
  const ids: string[] = []
  for (let count = 0; count < 4; count += 1) ids.push(await client.order())
  await client.clock.advance(hour)
  const statuses = await Promise.all(ids.map(async (id) => (await client.read(id)).status))
  expect(statuses).toEqual(['COMPLETED', 'CANCELLED', 'CANCELLED', 'COMPLETED'])
})

test('an unknown scenario is refused, and the message contains its name', () => {
  const { sandbox } = createSandboxClient()
  expect(() => sandbox.inject({ scenario: 'sunny' })).toThrow('no scenario named "sunny"')
})

test('each scenario has a unique tag and one sentence that describes it', () => {
  const tags = scenarioTable.map(({ tag }) => tag)
  expect(new Set(tags).size).toBe(tags.length)
  expect(scenarioTable.filter(({ what }) => !/^[A-Z].*[a-zD-R]\.$/.test(what))).toEqual([])
})

/** Returns the events of one request with the tag: the status, the time, and whether the signature is valid. */
async function receiveEvents(tag: string) {
  const received: { status: string; time: number; isValid: boolean }[] = []
  const deliver: Deliver = (_url, headers, body) => {
    const key = signingKey(client.sandbox.credentials.webhookSecret)
    const isValid = verify(body, headers['X-Service-Signature'] ?? '', key)
    const { status } = JSON.parse(Buffer.from(body).toString()) as { status: string }
    received.push({ status, time: client.clock.now(), isValid })
    return Promise.resolve(isValid ? 200 : 401)
  }
  const client = createSandboxClient({ webhookUrl: 'https://hooks.example.com/in', deliver })
  await client.order(orderWithTags(tag))
  await client.clock.advance(2 * hour)
  return received
}

test('+event-twice delivers each event twice', async () => {
  const statuses = (await receiveEvents('event-twice')).map(({ status }) => status)
  expect(statuses).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'PARTIAL', 'PARTIAL', 'COMPLETED', 'COMPLETED'])
})

test('+event-late delivers each event a minute late', async () => {
  const [usualEvent] = await receiveEvents('nothing')
  const [lateEvent] = await receiveEvents('event-late')
  expect((lateEvent?.time ?? 0) - (usualEvent?.time ?? 0)).toBe(minute)
})

test('+event-unordered delivers the last status first', async () => {
  const statuses = (await receiveEvents('event-unordered')).map(({ status }) => status)
  expect(statuses).toEqual(['COMPLETED', 'PARTIAL', 'IN_PROGRESS'])
})

test('+event-forged sends each event first with an invalid signature, and then with a valid one', async () => {
  const received = await receiveEvents('event-forged')
  expect(received.map(({ status, isValid }) => [status, isValid])).toEqual([
    ['IN_PROGRESS', false],
    ['IN_PROGRESS', true],
    ['PARTIAL', false],
    ['PARTIAL', true],
    ['COMPLETED', false],
    ['COMPLETED', true],
  ])
})

test('+error sends an error_reason, only with the status ERROR', async () => {
  const bodies: unknown[] = []
  const deliver: Deliver = (_url, _headers, body) => {
    bodies.push(JSON.parse(Buffer.from(body).toString()))
    return Promise.resolve(204)
  }
  const client = createSandboxClient({ webhookUrl: 'https://hooks.example.com/in', deliver })
  const request_id = await client.order(orderWithTags('error'))
  await client.clock.advance(hour)
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

test('+unnamed: the names of referees and background checks are null, and their reports can be downloaded', async () => {
  const { order, read, clock, get } = createSandboxClient()
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

test('+deleted: the request and all its checks are CANCELLED', async () => {
  const { order, read, clock } = createSandboxClient()
  const id = await order({ ...fullOrder, recipient: { ...jane, email: 'jane+deleted@example.com' } })
  await clock.advance(11 * 60_000)
  const { status, checks } = await read(id)
  expect([status, ...checks.map((check) => check.status)]).toEqual(
    Array.from({ length: 4 }, () => 'CANCELLED'),
  )
})
