import { describe, expect, test } from 'vitest'

import type { Fault } from '../../../src/sandbox/service/schemas.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { type World, world } from '../../harness/world.ts'

/** Package 102 requires no fields except those of the recipient. */
const createArguments = [
  'request',
  'create',
  '--package',
  '102',
  '--first-name',
  'Ana',
  '--last-name',
  'Silva',
]
const personFlags = ['--email', 'ana.silva@example.com', '--phone', '+61400000001', '--yes', '--json']

interface Answer {
  request_id?: string
  error?: { code: string; message: string; hint: string }
}

async function order(testWorld: World, ...otherFlags: string[]): Promise<[code: number, answer: Answer]> {
  return runOrder(testWorld, otherFlags)
}

async function runOrder(
  testWorld: World,
  otherFlags: string[],
  env: Record<string, string> = {},
): Promise<[number, Answer]> {
  const outcome = await testWorld.run([...createArguments, ...personFlags, ...otherFlags], { env })
  return [outcome.code, outcome.json() as Answer]
}

/** Counts the POST calls that reached the service. */
function countPosts(testWorld: World): number {
  return testWorld.sandbox.log.entries().filter((entry) => entry.kind === 'call' && entry.method === 'POST')
    .length
}

function injectFault(testWorld: World, fault: Fault): void {
  testWorld.sandbox.inject({ on: 'POST /v1/requests', fault })
}

const createStatusFault = (status: number, fields: Partial<Fault & { kind: 'status' }> = {}): Fault => ({
  kind: 'status',
  status,
  when: 'before',
  ...fields,
})

test('a second order for the same person ends with exit 2 and names the first request; --allow-duplicate orders again', async () => {
  const testWorld = await world()
  const [, first] = await order(testWorld)
  const [code, second] = await order(testWorld)
  expect(code).toBe(2)
  expect(second.error).toMatchObject({
    code: 'duplicate',
    message: expect.stringContaining(
      `was already ordered for "ana.silva@example.com": request ${first.request_id}`,
    ),
    hint: expect.stringContaining('--allow-duplicate'),
  })
  expect((await order(testWorld, '--allow-duplicate'))[0]).toBe(0)
  expect(testWorld.sandbox.requests()).toHaveLength(2)
})

describe('if the service created nothing, the exit code states the reason, and the same command orders afterwards', () => {
  test.each<[string, Fault, code: number, error: string]>([
    ['400', createStatusFault(400, { message: 'recipient.phone: invalid' }), 2, 'invalid_input'],
    ['401', createStatusFault(401), 3, 'unauthenticated'],
    ['403', createStatusFault(403), 4, 'forbidden'],
    ['404', createStatusFault(404), 5, 'not_found'],
  ])('%s', async (_what, fault, code, error) => {
    const testWorld = await world()
    injectFault(testWorld, fault)
    expect(await order(testWorld)).toMatchObject([code, { error: { code: error } }])
    expect(await order(testWorld)).toMatchObject([
      0,
      { request_id: testWorld.sandbox.requests()[0]?.request_id },
    ])
    expect(testWorld.sandbox.requests()).toHaveLength(1)
  })

  test('after a 429 with a longer wait than --timeout, nothing is sent until that wait is over', async () => {
    const testWorld = await world()
    injectFault(testWorld, createStatusFault(429, { retryAfter: '3600' }))
    expect(await order(testWorld)).toMatchObject([6, { error: { code: 'throttled', retry_after: 3600 } }])
    expect(await order(testWorld)).toMatchObject([6, { error: { code: 'throttled' } }])
    expect(countPosts(testWorld)).toBe(1)
    const laterClock = new ManualClock({ now: Date.now() + 3_600_000 })
    const outcome = await testWorld.run([...createArguments, ...personFlags], { clock: laterClock })
    expect(outcome.json()).toMatchObject({ request_id: testWorld.sandbox.requests()[0]?.request_id })
    expect(testWorld.sandbox.requests()).toHaveLength(1)
  })
})

describe('if the service may have created a request: exit 8, and no second order is sent, even with --allow-duplicate', () => {
  test.each<[string, Fault, created: number]>([
    ['a 500 before the request is created', createStatusFault(500), 0],
    ['a 503 after the request is created', createStatusFault(503, { when: 'after' }), 1],
    ['a connection cut before the request is created', { kind: 'cut', when: 'before' }, 0],
    ['a connection cut after the request is created', { kind: 'cut', when: 'after' }, 1],
    ['a 201 without an id', { kind: 'no-id' }, 1],
    ['a 201 cut short', { kind: 'truncated', keep: 0.5, announced: true }, 1],
    ['a proxy’s 403', createStatusFault(403, { body: 'html' }), 0],
    ['a proxy’s 429', createStatusFault(429, { body: 'html', retryAfter: '1' }), 0],
    ['a redirect', createStatusFault(307), 0],
    ['a 408', createStatusFault(408), 0],
  ])('%s', async (_what, fault, created) => {
    const testWorld = await world()
    injectFault(testWorld, fault)
    const unknown = await order(testWorld)
    expect(unknown).toMatchObject([8, { error: { code: 'outcome_unknown' } }])
    expect(unknown[1].error?.hint).toContain('refcheck batch reconcile')
    expect(await order(testWorld)).toMatchObject([2, { error: { code: 'duplicate' } }])
    expect(await order(testWorld, '--allow-duplicate')).toMatchObject([2, { error: { code: 'duplicate' } }])
    expect(testWorld.sandbox.requests()).toHaveLength(created)
    const list = await testWorld.run(['request', 'list', '--status', 'unknown', '--json'])
    expect(list.json()).toMatchObject([{ request_id: null, recipient: { email: 'ana.silva@example.com' } }])
  })
})

test('a 500 that names a request: a read of that request proves the order', async () => {
  const testWorld = await world()
  const [, { request_id }] = await order(testWorld)
  const answerWithId = {
    data: { request_id },
    status_message: 'server_error',
    message: 'internal server error',
  }
  injectFault(testWorld, { kind: 'body', status: 500, body: JSON.stringify(answerWithId) })
  expect(await runOrder(testWorld, [], { REFCHECK_STORE: 'fresh.sqlite' })).toMatchObject([0, { request_id }])
})

test('with a store in memory, a person can be ordered at a sandbox on this machine', async () => {
  const testWorld = await world()
  expect(await runOrder(testWorld, [], { REFCHECK_STORE: ':memory:' })).toMatchObject([
    0,
    { status: 'RECEIVED' },
  ])
})

test('a database URL without TLS in REFCHECK_STORE is refused before anything is sent', async () => {
  const testWorld = await world()
  const refused = await runOrder(testWorld, [], { REFCHECK_STORE: 'postgres://u:hunter2@h/d' })
  expect(refused).toMatchObject([2, { error: { code: 'usage' } }])
  expect(JSON.stringify(refused)).not.toContain('hunter2')
  expect(testWorld.sandbox.requests()).toEqual([])
})
