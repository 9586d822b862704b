import { expect, test } from 'vitest'

import {
  eventName,
  eventText,
  firstRetryMs,
  isAccepted,
  maxRetryDelayMs,
  maxForwardDelayMs,
  type Reply,
  retryDelay,
  excerptOf,
  withoutQuery,
  createUnreachableError,
} from '../../../src/domain/webhook/delivery.ts'

test.each([
  [199, false],
  [200, true],
  [204, true],
  [299, true],
  [300, false],
  [null, false],
])('an answer of %s accepts the event: %s', (status, isEventAccepted) => {
  expect(isAccepted({ status })).toBe(isEventAccepted)
})

test('the excerpt of an answer is one line of at most 120 characters without the secret', () => {
  expect(excerptOf(Buffer.from(' a\n\tb s3cret '), 's3cret')).toBe('a b ***')
  expect(excerptOf(Buffer.from('a b'), '')).toBe('a b')
  expect(excerptOf(Buffer.from('x'.repeat(120)), '')).toBe('x'.repeat(120))
  expect(excerptOf(Buffer.from('x'.repeat(121)), '')).toBe(`${'x'.repeat(120)}…`)
})

const createReply = (failure: string): Reply => ({
  status: null,
  milliseconds: 0,
  failure,
  reached: false,
  excerpt: '',
})

test('the error for an unreachable receiver names only the host, and has a hint for an invalid certificate', () => {
  const error = createUnreachableError(
    'https://me.example:8443/hook?token=t',
    createReply('connection refused'),
  )
  expect(error).toMatchObject({ code: 'unavailable', message: 'me.example:8443: connection refused' })
  const certificateError = createUnreachableError(
    'https://me.example/',
    createReply('its certificate is self-signed'),
  )
  expect(certificateError.hint).toContain('NODE_EXTRA_CA_CERTS')
  expect(error.hint).not.toContain('NODE_EXTRA_CA_CERTS')
})

test('a URL is shown without its query', () => {
  expect(withoutQuery('https://me.example/hook?token=t#x')).toBe('https://me.example/hook')
})

test('a failed forward is tried again within a second (src/docs/cli.md), and no event is delayed for longer than two waits', () => {
  expect(firstRetryMs).toBeLessThan(1000)
  expect(maxForwardDelayMs).toBe(2 * maxRetryDelayMs)
})

test('each pause is twice the previous one up to the maximum; after the last allowed attempt the event is dropped', () => {
  expect([1, 2, 3, 7, 8, 9, 1000].map((attempts) => retryDelay(attempts))).toEqual([
    500, 1000, 2000, 32_000, 60_000, 60_000, 60_000,
  ])
  expect([1, 2, 3].map((attempts) => retryDelay(attempts, 2))).toEqual([500, 'dropped', 'dropped'])
})

test('an event has the key order of the API document, and a reason only if it is given', () => {
  const event = { status: 'ERROR', request_id: 'r-1', event: eventName }
  expect(eventText(event)).toBe('{"event":"request.updated","request_id":"r-1","status":"ERROR"}')
  expect(eventText({ ...event, error_reason: 'x' })).toBe(
    '{"event":"request.updated","request_id":"r-1","status":"ERROR","error_reason":"x"}',
  )
  expect(eventText({ ...event, more: 1 })).toMatch(/"status":"ERROR","more":1}$/)
})
