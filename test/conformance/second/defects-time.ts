import { createHmac } from 'node:crypto'

import type { Switch } from './defects.ts'
import { type Knobs, lawful } from './knobs.ts'

type Event = Record<string, unknown>
const knob = (name: string, by: string, knobs: Partial<Knobs>): Switch => ({ name, by, knobs })
const event = (name: string, by: string, change: Knobs['event']): Switch => knob(name, by, { event: change })
const without = (status: string) => (sent: Event) => (sent['status'] === status ? undefined : sent)
const tight = (name: string, by: string, knobs: Partial<Knobs>): Switch => ({
  name,
  by,
  knobs,
  tight: true,
  ...(by === 'answers.retry-after' && { also: 'throttle.minute' }),
})

export const eventSwitches: Switch[] = [
  ...['IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'CANCELLED', 'ERROR'].map((status) =>
    event(`no event for ${status}`, 'webhook.every-change', without(status)),
  ),
  event('events of another name', 'webhook.request', (sent) => ({ ...sent, event: 'request.status' })),
  event('events without a name', 'webhook.request', ({ event: _name, ...sent }) => sent),
  event('requestId for request_id', 'webhook.body', ({ request_id, ...sent }) => ({
    ...sent,
    requestId: request_id,
  })),
  event('statuses in lower case', 'webhook.body', (sent) => ({
    ...sent,
    status: String(sent['status']).toLowerCase(),
  })),
  event('no error_reason', 'webhook.error-reason', ({ error_reason: _reason, ...sent }) => sent),
  event('error_reason null on others', 'webhook.error-reason', (sent) => ({ error_reason: null, ...sent })),
  event('error_reason on COMPLETED', 'webhook.error-reason', (sent) =>
    sent['status'] === 'COMPLETED' ? { ...sent, error_reason: 'none' } : sent,
  ),
  event('COMPLETED is announced at PARTIAL', 'webhook.in-step', (sent) =>
    sent['status'] === 'PARTIAL' ? { ...sent, status: 'COMPLETED' } : sent,
  ),
  event('two ends are announced', 'statuses.terminal', (sent) =>
    sent['status'] === 'PARTIAL' ? { ...sent, status: 'CANCELLED' } : sent,
  ),
  knob('a signature in upper case', 'webhook.signature-form', { signature: (hex) => hex.toUpperCase() }),
  knob('a signature in base64', 'webhook.signature-form', {
    signature: (hex) => Buffer.from(hex, 'hex').toString('base64'),
  }),
  knob('a signature with its algorithm', 'webhook.signature-form', { signature: (hex) => `sha256=${hex}` }),
  knob('SHA-1', 'webhook.signature-form', {
    signature: (_hex, body) => createHmac('sha1', 'second-secret').update(body).digest('hex'),
  }),
  knob('a signature over other bytes', 'webhook.signature', {
    signature: (_hex, body) =>
      createHmac('sha256', 'second-secret')
        .update(JSON.stringify(JSON.parse(body)))
        .digest('hex'),
  }),
  knob('a signature with another secret', 'webhook.signature', {
    signature: (_hex, body) => createHmac('sha256', 'another').update(body).digest('hex'),
  }),
  knob('events as text', 'webhook.content-type', { eventType: 'text/plain' }),
  knob('acknowledgement only by 204', 'webhook.any-2xx', { acknowledges: (status) => status === 204 }),
  knob('acknowledgement only by 200 and 204', 'webhook.any-2xx', {
    acknowledges: (status) => status === 204 || status === 200,
  }),
  knob('a 3 s acknowledgement time-out', 'webhook.slow-acknowledgement', { acknowledgementMs: 3000 }),
]

export const quotaSwitches: Switch[] = [
  tight('one call more than the window takes', 'throttle.minute', { slack: 1 }),
  tight('one call fewer than the window takes', 'throttle.minute', { slack: -1 }),
  tight('a window that slides', 'throttle.fixed-window', { window: 'sliding' }),
  tight('a window for each user', 'throttle.all-users-together', {
    scope: ({ headers }) => headers['x-service-user-email'] ?? '',
  }),
  tight('a window for each endpoint', 'throttle.all-endpoints-together', {
    scope: ({ path }) => path.split('/').slice(0, 3).join('/'),
  }),
  tight('one window for all keys', 'throttle.per-key', { scope: () => '' }),
  tight('pings count', 'throttle.ping-exempt', {
    counts: ({ path, query }) => !(path.startsWith('/v1/reports/') && query.has('t')),
  }),
  tight('reads of packages do not count', 'throttle.every-endpoint', {
    counts: (asked) => lawful.counts(asked) && !asked.path.startsWith('/v1/packages'),
  }),
  tight('orders do not count', 'throttle.every-endpoint', {
    counts: (asked) => lawful.counts(asked) && asked.method !== 'POST',
  }),
  tight('Retry-After rounded down', 'throttle.whole-seconds', {
    retryAfter: (ms) => String(Math.max(1, Math.floor(ms / 1000))),
  }),
  tight('Retry-After rounded to the nearest', 'throttle.whole-seconds', {
    retryAfter: (ms) => String(Math.max(1, Math.round(ms / 1000))),
  }),
  tight('Retry-After always 60', 'throttle.minute-retry-after', { retryAfter: () => '60' }),
  tight('Retry-After in milliseconds', 'throttle.minute-retry-after', { retryAfter: (ms) => String(ms) }),
  tight('Retry-After as a date', 'answers.retry-after', {
    retryAfter: (ms) => new Date(1_777_777_777_000 + ms).toUTCString(),
  }),
  tight('no Retry-After', 'answers.retry-after', { retryAfter: () => undefined }),
  tight('503 for 429', 'throttle.minute', {
    answer: (reply) => {
      if (reply.status === 429) reply.status = 503
    },
  }),
]
