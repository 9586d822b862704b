import { createHmac } from 'node:crypto'

import type { RequestResource } from '../../../src/contract/request.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { httpDeliver } from '../../../src/sandbox/service/delivery.ts'
import { type Defect, pathOf, requestPath } from './defect.ts'

type Headers = Readonly<Record<string, string>>
interface Event {
  event: string
  request_id: string
  status: string
  error_reason?: string
}

const signatureHeader = 'X-Service-Signature'
const sign = (body: Uint8Array, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')
const parseEvent = (body: Uint8Array): Event => JSON.parse(Buffer.from(body).toString()) as Event

/** Creates a function that lets `change` change every event, and signs the result before it is sent. */
const changeEvents =
  (change: (event: Event) => unknown): Defect['createDeliver'] =>
  (send, secret) =>
  (url, headers, body, signal) => {
    const bytes = Buffer.from(JSON.stringify(change(parseEvent(body))))
    return send(url, { ...headers, [signatureHeader]: sign(bytes, secret()) }, bytes, signal)
  }

/** Creates a function that lets `change` change the headers of every event. */
const changeHeaders =
  (change: (headers: Headers, body: Uint8Array, secret: string) => Headers): Defect['createDeliver'] =>
  (send, secret) =>
  (url, headers, body, signal) =>
    send(url, change(headers, body, secret()), body, signal)

export const webhookDefects: Defect[] = [
  {
    name: 'an event for every change of a check',
    caughtBy: 'webhook.only-changes',
    createHandler: (sandbox) => {
      const send = httpDeliver(systemClock)
      const lastStatuses = new Map<string, string>()
      return async (request, connection) => {
        const answer = await sandbox.fetch(request, connection)
        if (!requestPath.test(pathOf(request)) || answer.status !== 200) return answer
        const { data } = (await answer.clone().json()) as { data: RequestResource }
        const before = lastStatuses.get(data.request_id)
        const now = `${data.status} ${data.checks.map(({ status }) => status).join(' ')}`
        lastStatuses.set(data.request_id, now)
        const url = sandbox.overview().webhook_url
        if (before === undefined || before === now || url === null) return answer
        if (!before.startsWith(`${data.status} `)) return answer
        const { request_id, status } = data
        const body = Buffer.from(JSON.stringify({ event: 'request.updated', request_id, status }))
        const headers = {
          'Content-Type': 'application/json',
          [signatureHeader]: sign(body, sandbox.credentials.webhookSecret),
        }
        await send(url, headers, body, new AbortController().signal)
        return answer
      }
    },
  },
  {
    name: 'no event for PARTIAL',
    caughtBy: 'webhook.every-change',
    createDeliver: (send) => (url, headers, body, signal) =>
      parseEvent(body).status === 'PARTIAL' ? Promise.resolve(204) : send(url, headers, body, signal),
  },
  {
    name: 'no event for CANCELLED',
    caughtBy: 'webhook.every-change',
    needsEndings: true,
    createDeliver: (send) => (url, headers, body, signal) =>
      parseEvent(body).status === 'CANCELLED' ? Promise.resolve(204) : send(url, headers, body, signal),
  },
  {
    name: 'events with another name',
    caughtBy: 'webhook.request',
    createDeliver: changeEvents((event) => ({ ...event, event: 'request.changed' })),
  },
  {
    name: 'an event about another request',
    caughtBy: 'webhook.body',
    createDeliver: changeEvents((event) => ({
      ...event,
      request_id: '33333333-3333-4333-8333-333333333333',
    })),
  },
  {
    name: 'an event with COMPLETED while the request is PARTIAL',
    caughtBy: 'webhook.in-step',
    createDeliver: changeEvents((event) =>
      event.status === 'PARTIAL' ? { ...event, status: 'COMPLETED' } : event,
    ),
  },
  {
    name: 'error_reason on COMPLETED',
    caughtBy: 'webhook.error-reason',
    createDeliver: changeEvents((event) => ({ error_reason: 'none', ...event })),
  },
  {
    name: 'no error_reason on ERROR',
    caughtBy: 'webhook.error-reason',
    needsEndings: true,
    createDeliver: changeEvents(({ event, request_id, status }) => ({ event, request_id, status })),
  },
  {
    name: 'a signature of the event with other white space',
    caughtBy: 'webhook.signature',
    createDeliver: changeHeaders((headers, body, secret) => {
      const again = Buffer.from(JSON.stringify(parseEvent(body), null, 2))
      return { ...headers, [signatureHeader]: sign(again, secret) }
    }),
  },
  {
    name: 'a signature with another secret',
    caughtBy: 'webhook.signature',
    createDeliver: changeHeaders((headers, body) => ({
      ...headers,
      [signatureHeader]: sign(body, 'another secret'),
    })),
  },
  {
    name: 'a signature in upper case',
    caughtBy: 'webhook.signature-form',
    createDeliver: changeHeaders((headers) => ({
      ...headers,
      [signatureHeader]: headers[signatureHeader]?.toUpperCase() ?? '',
    })),
  },
  {
    name: 'a signature with the name of its algorithm',
    caughtBy: 'webhook.signature-form',
    createDeliver: changeHeaders((headers) => ({
      ...headers,
      [signatureHeader]: `sha256=${headers[signatureHeader]}`,
    })),
  },
  {
    name: 'an event with the type of a form',
    caughtBy: 'webhook.content-type',
    createDeliver: changeHeaders((headers) => ({
      ...headers,
      'Content-Type': 'application/x-www-form-urlencoded',
    })),
  },
]
