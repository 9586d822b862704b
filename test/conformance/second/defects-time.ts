import { createHmac } from 'node:crypto'

import { behaviourDefect, type Defect } from './defects.ts'
import { type Behaviour, documentedBehaviour } from './behaviour.ts'

type Event = Record<string, unknown>
const eventDefect = (name: string, caughtBy: string, change: Behaviour['changeEvent']): Defect =>
  behaviourDefect(name, caughtBy, { changeEvent: change })
const dropStatus = (status: string) => (sent: Event) => (sent['status'] === status ? undefined : sent)
export const eventDefects: Defect[] = [
  ...['IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'CANCELLED', 'ERROR'].map((status) =>
    eventDefect(`no event for ${status}`, 'webhook.every-change', dropStatus(status)),
  ),
  eventDefect('events of another name', 'webhook.request', (sent) => ({ ...sent, event: 'request.status' })),
  eventDefect('events without a name', 'webhook.request', ({ event: _name, ...sent }) => sent),
  eventDefect('requestId for request_id', 'webhook.body', ({ request_id, ...sent }) => ({
    ...sent,
    requestId: request_id,
  })),
  eventDefect('statuses in lower case', 'webhook.body', (sent) => ({
    ...sent,
    status: String(sent['status']).toLowerCase(),
  })),
  eventDefect('no error_reason', 'webhook.error-reason', ({ error_reason: _reason, ...sent }) => sent),
  eventDefect('error_reason null on others', 'webhook.error-reason', (sent) => ({
    error_reason: null,
    ...sent,
  })),
  eventDefect('error_reason on COMPLETED', 'webhook.error-reason', (sent) =>
    sent['status'] === 'COMPLETED' ? { ...sent, error_reason: 'none' } : sent,
  ),
  eventDefect('COMPLETED is announced at PARTIAL', 'webhook.in-step', (sent) =>
    sent['status'] === 'PARTIAL' ? { ...sent, status: 'COMPLETED' } : sent,
  ),
  eventDefect('two terminal statuses are announced', 'statuses.terminal', (sent) =>
    sent['status'] === 'PARTIAL' ? { ...sent, status: 'CANCELLED' } : sent,
  ),
  behaviourDefect('a signature in upper case', 'webhook.signature-form', {
    formatSignature: (hex) => hex.toUpperCase(),
  }),
  behaviourDefect('a signature in base64', 'webhook.signature-form', {
    formatSignature: (hex) => Buffer.from(hex, 'hex').toString('base64'),
  }),
  behaviourDefect('a signature with its algorithm', 'webhook.signature-form', {
    formatSignature: (hex) => `sha256=${hex}`,
  }),
  behaviourDefect('SHA-1', 'webhook.signature-form', {
    formatSignature: (_hex, body) => createHmac('sha1', 'second-secret').update(body).digest('hex'),
  }),
  behaviourDefect('a signature over other bytes', 'webhook.signature', {
    formatSignature: (_hex, body) =>
      createHmac('sha256', 'second-secret')
        .update(JSON.stringify(JSON.parse(body)))
        .digest('hex'),
  }),
  behaviourDefect('a signature with another secret', 'webhook.signature', {
    formatSignature: (_hex, body) => createHmac('sha256', 'another').update(body).digest('hex'),
  }),
  behaviourDefect('events as text', 'webhook.content-type', { eventContentType: 'text/plain' }),
  behaviourDefect('acknowledgement only by 204', 'webhook.any-2xx', {
    isAcknowledgement: (status) => status === 204,
  }),
  behaviourDefect('acknowledgement only by 200 and 204', 'webhook.any-2xx', {
    isAcknowledgement: (status) => status === 204 || status === 200,
  }),
  behaviourDefect('a 3 s acknowledgement time-out', 'webhook.slow-acknowledgement', {
    acknowledgementMs: 3000,
  }),
]

export const quotaDefects: Defect[] = [
  behaviourDefect('one call more than the quota is allowed', 'throttle.minute', { extraCalls: 1 }),
  behaviourDefect('one call fewer than the quota is allowed', 'throttle.minute', { extraCalls: -1 }),
  behaviourDefect('a window that slides', 'throttle.fixed-window', { windowKind: 'sliding' }),
  behaviourDefect('a window for each user', 'throttle.all-users-together', {
    scopeOf: ({ headers }) => headers['x-service-user-email'] ?? '',
  }),
  behaviourDefect('a window for each endpoint', 'throttle.all-endpoints-together', {
    scopeOf: ({ path }) => path.split('/').slice(0, 3).join('/'),
  }),
  behaviourDefect('one window for all keys', 'throttle.per-key', { scopeOf: () => '' }),
  behaviourDefect('pings count against the quota', 'throttle.ping-exempt', {
    isCounted: ({ path, query }) => !(path.startsWith('/v1/reports/') && query.has('t')),
  }),
  behaviourDefect('reads of packages do not count against the quota', 'throttle.every-endpoint', {
    isCounted: (call) => documentedBehaviour.isCounted(call) && !call.path.startsWith('/v1/packages'),
  }),
  behaviourDefect('orders do not count against the quota', 'throttle.every-endpoint', {
    isCounted: (call) => documentedBehaviour.isCounted(call) && call.method !== 'POST',
  }),
  behaviourDefect('Retry-After rounded down', 'throttle.whole-seconds', {
    retryAfter: (ms) => String(Math.max(1, Math.floor(ms / 1000))),
  }),
  behaviourDefect('Retry-After rounded to the nearest', 'throttle.whole-seconds', {
    retryAfter: (ms) => String(Math.max(1, Math.round(ms / 1000))),
  }),
  behaviourDefect('Retry-After always 60', 'throttle.minute-retry-after', { retryAfter: () => '60' }),
  behaviourDefect('Retry-After in milliseconds', 'throttle.minute-retry-after', {
    retryAfter: (ms) => String(ms),
  }),
  behaviourDefect('Retry-After as a date', 'answers.retry-after', {
    retryAfter: (ms) => new Date(1_777_777_777_000 + ms).toUTCString(),
  }),
  behaviourDefect('no Retry-After', 'answers.retry-after', { retryAfter: () => undefined }),
  behaviourDefect('503 for 429', 'throttle.minute', {
    changeReply: (reply) => {
      if (reply.status === 429) reply.status = 503
    },
  }),
]
