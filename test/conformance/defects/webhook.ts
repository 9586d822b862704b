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

const name = 'X-Service-Signature'
const signed = (body: Uint8Array, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex')
const read = (body: Uint8Array): Event => JSON.parse(Buffer.from(body).toString()) as Event

/** Every event is sent as `change` makes it, signed afresh. */
const changed =
  (change: (event: Event) => unknown): Defect['deliver'] =>
  (send, secret) =>
  (url, headers, body, signal) => {
    const bytes = Buffer.from(JSON.stringify(change(read(body))))
    return send(url, { ...headers, [name]: signed(bytes, secret()) }, bytes, signal)
  }

/** Every event is sent with other headers. */
const headed =
  (change: (headers: Headers, body: Uint8Array, secret: string) => Headers): Defect['deliver'] =>
  (send, secret) =>
  (url, headers, body, signal) =>
    send(url, change(headers, body, secret()), body, signal)

export const webhookDefects: Defect[] = [
  {
    name: 'an event for every change of a check',
    caughtBy: 'webhook.only-changes',
    around: (sandbox) => {
      const send = httpDeliver(systemClock)
      const known = new Map<string, string>()
      return async (request, connection) => {
        const answer = await sandbox.fetch(request, connection)
        if (!requestPath.test(pathOf(request)) || answer.status !== 200) return answer
        const { data } = (await answer.clone().json()) as { data: RequestResource }
        const before = known.get(data.request_id)
        const now = `${data.status} ${data.checks.map(({ status }) => status).join(' ')}`
        known.set(data.request_id, now)
        const url = sandbox.overview().webhook_url
        if (before === undefined || before === now || url === null) return answer
        if (!before.startsWith(`${data.status} `)) return answer
        const { request_id, status } = data
        const body = Buffer.from(JSON.stringify({ event: 'request.updated', request_id, status }))
        const headers = {
          'Content-Type': 'application/json',
          [name]: signed(body, sandbox.credentials.webhookSecret),
        }
        await send(url, headers, body, new AbortController().signal)
        return answer
      }
    },
  },
  {
    name: 'no event for PARTIAL',
    caughtBy: 'webhook.every-change',
    deliver: (send) => (url, headers, body, signal) =>
      read(body).status === 'PARTIAL' ? Promise.resolve(204) : send(url, headers, body, signal),
  },
  {
    name: 'no event for CANCELLED',
    caughtBy: 'webhook.every-change',
    endings: true,
    deliver: (send) => (url, headers, body, signal) =>
      read(body).status === 'CANCELLED' ? Promise.resolve(204) : send(url, headers, body, signal),
  },
  {
    name: 'another name for the event',
    caughtBy: 'webhook.request',
    deliver: changed((event) => ({ ...event, event: 'request.changed' })),
  },
  {
    name: 'an event about another request',
    caughtBy: 'webhook.body',
    deliver: changed((event) => ({ ...event, request_id: '33333333-3333-4333-8333-333333333333' })),
  },
  {
    name: 'an event that runs ahead',
    caughtBy: 'webhook.in-step',
    deliver: changed((event) => (event.status === 'PARTIAL' ? { ...event, status: 'COMPLETED' } : event)),
  },
  {
    name: 'error_reason on COMPLETED',
    caughtBy: 'webhook.error-reason',
    deliver: changed((event) => ({ error_reason: 'none', ...event })),
  },
  {
    name: 'no error_reason on ERROR',
    caughtBy: 'webhook.error-reason',
    endings: true,
    deliver: changed(({ event, request_id, status }) => ({ event, request_id, status })),
  },
  {
    name: 'a signature over JSON written once more',
    caughtBy: 'webhook.signature',
    deliver: headed((headers, body, secret) => {
      const again = Buffer.from(JSON.stringify(read(body), null, 2))
      return { ...headers, [name]: signed(again, secret) }
    }),
  },
  {
    name: 'a signature with another secret',
    caughtBy: 'webhook.signature',
    deliver: headed((headers, body) => ({ ...headers, [name]: signed(body, 'another secret') })),
  },
  {
    name: 'a signature in upper case',
    caughtBy: 'webhook.signature-form',
    deliver: headed((headers) => ({ ...headers, [name]: headers[name]?.toUpperCase() ?? '' })),
  },
  {
    name: 'a signature with the name of its algorithm',
    caughtBy: 'webhook.signature-form',
    deliver: headed((headers) => ({ ...headers, [name]: `sha256=${headers[name]}` })),
  },
  {
    name: 'an event as a form',
    caughtBy: 'webhook.content-type',
    deliver: headed((headers) => ({ ...headers, 'Content-Type': 'application/x-www-form-urlencoded' })),
  },
]
