import { describe, expect, test } from 'vitest'

import type { Fault } from '../../../src/sandbox/service/schemas.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { type World, world } from '../../harness/world.ts'

/** A package that needs nothing beyond the recipient. */
const create = ['request', 'create', '--package', '102', '--first-name', 'Ana', '--last-name', 'Silva']
const person = ['--email', 'ana.silva@example.com', '--phone', '+61400000001', '--yes', '--json']

interface Answer {
  request_id?: string
  error?: { code: string; message: string; hint: string }
}

async function order(where: World, ...more: string[]): Promise<[code: number, answer: Answer]> {
  return run(where, more)
}

async function run(
  where: World,
  more: string[],
  env: Record<string, string> = {},
): Promise<[number, Answer]> {
  const outcome = await where.run([...create, ...person, ...more], { env })
  return [outcome.code, outcome.json() as Answer]
}

/** Orders that came as far as the service. */
function posts(where: World): number {
  return where.sandbox.log.entries().filter((entry) => entry.kind === 'call' && entry.method === 'POST')
    .length
}

function strike(where: World, fault: Fault): void {
  where.sandbox.inject({ on: 'POST /v1/requests', fault })
}

const answer = (status: number, more: Partial<Fault & { kind: 'status' }> = {}): Fault => ({
  kind: 'status',
  status,
  when: 'before',
  ...more,
})

test('the same person twice: exit 2 with the request it matches; --allow-duplicate orders once more', async () => {
  const where = await world()
  const [, first] = await order(where)
  const [code, second] = await order(where)
  expect(code).toBe(2)
  expect(second.error).toMatchObject({
    code: 'duplicate',
    message: expect.stringContaining(
      `was already ordered for "ana.silva@example.com": request ${first.request_id}`,
    ),
    hint: expect.stringContaining('--allow-duplicate'),
  })
  expect((await order(where, '--allow-duplicate'))[0]).toBe(0)
  expect(where.sandbox.requests()).toHaveLength(2)
})

describe('nothing was created: the exit code says why, and the same command orders afterwards', () => {
  test.each<[string, Fault, code: number, error: string]>([
    ['400', answer(400, { message: 'recipient.phone: invalid' }), 2, 'invalid_input'],
    ['401', answer(401), 3, 'unauthenticated'],
    ['403', answer(403), 4, 'forbidden'],
    ['404', answer(404), 5, 'not_found'],
  ])('%s', async (_what, fault, code, error) => {
    const where = await world()
    strike(where, fault)
    expect(await order(where)).toMatchObject([code, { error: { code: error } }])
    expect(await order(where)).toMatchObject([0, { request_id: where.sandbox.requests()[0]?.request_id }])
    expect(where.sandbox.requests()).toHaveLength(1)
  })

  test('429 longer than --timeout: nothing more is sent until the time that it named', async () => {
    const where = await world()
    strike(where, answer(429, { retryAfter: '3600' }))
    expect(await order(where)).toMatchObject([6, { error: { code: 'throttled', retry_after: 3600 } }])
    expect(await order(where)).toMatchObject([6, { error: { code: 'throttled' } }])
    expect(posts(where)).toBe(1)
    const later = new ManualClock({ now: Date.now() + 3_600_000 })
    const outcome = await where.run([...create, ...person], { clock: later })
    expect(outcome.json()).toMatchObject({ request_id: where.sandbox.requests()[0]?.request_id })
    expect(where.sandbox.requests()).toHaveLength(1)
  })
})

describe('something may have been created: exit 8, and nothing more is sent, whatever is asked for', () => {
  test.each<[string, Fault, created: number]>([
    ['a 500 before the work', answer(500), 0],
    ['a 503 after it', answer(503, { when: 'after' }), 1],
    ['the connection cut before', { kind: 'cut', when: 'before' }, 0],
    ['the connection cut after', { kind: 'cut', when: 'after' }, 1],
    ['a 201 without an id', { kind: 'no-id' }, 1],
    ['a 201 cut short', { kind: 'truncated', keep: 0.5, announced: true }, 1],
    ['a proxy’s 403', answer(403, { body: 'html' }), 0],
    ['a proxy’s 429', answer(429, { body: 'html', retryAfter: '1' }), 0],
    ['a redirect', answer(307), 0],
    ['a 408', answer(408), 0],
  ])('%s', async (_what, fault, created) => {
    const where = await world()
    strike(where, fault)
    const unknown = await order(where)
    expect(unknown).toMatchObject([8, { error: { code: 'outcome_unknown' } }])
    expect(unknown[1].error?.hint).toContain('refcheck batch reconcile')
    expect(await order(where)).toMatchObject([2, { error: { code: 'duplicate' } }])
    expect(await order(where, '--allow-duplicate')).toMatchObject([2, { error: { code: 'duplicate' } }])
    expect(where.sandbox.requests()).toHaveLength(created)
    const list = await where.run(['request', 'list', '--status', 'unknown', '--json'])
    expect(list.json()).toMatchObject([{ request_id: null, recipient: { email: 'ana.silva@example.com' } }])
  })
})

test('a 500 that names the request it made: a read proves it', async () => {
  const where = await world()
  const [, { request_id }] = await order(where)
  const offering = { data: { request_id }, status_message: 'server_error', message: 'internal server error' }
  strike(where, { kind: 'body', status: 500, body: JSON.stringify(offering) })
  expect(await run(where, [], { REFCHECK_STORE: 'fresh.sqlite' })).toMatchObject([0, { request_id }])
})

test('a store in memory orders from a sandbox on this machine', async () => {
  const where = await world()
  expect(await run(where, [], { REFCHECK_STORE: ':memory:' })).toMatchObject([0, { status: 'RECEIVED' }])
})

test('REFCHECK_STORE=postgres://… is refused before anything is sent', async () => {
  const where = await world()
  const refused = await run(where, [], { REFCHECK_STORE: 'postgres://u:hunter2@h/d' })
  expect(refused).toMatchObject([2, { error: { code: 'usage' } }])
  expect(JSON.stringify(refused)).not.toContain('hunter2')
  expect(where.sandbox.requests()).toEqual([])
})
