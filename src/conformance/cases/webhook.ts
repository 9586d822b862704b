import { createHmac } from 'node:crypto'

import { field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { expectSame } from '../expect.ts'
import { about, arrived, jsonOf, rankOf, receiverOf, statusOf } from '../events.ts'
import { checksOf, type Journey, journeys } from '../journey.ts'
import type { Delivery } from '../receiver.ts'
import { object, oneOf, text, uuid } from '../shape.ts'
import { shown } from '../shown.ts'

const section = 'Events'
const kind = 'control'

export const webhookCases: readonly Case[] = [
  {
    id: 'webhook.every-change',
    section: 'Request status',
    rule: 'Every change of the overall request status triggers one `request.updated` event.',
    kind,
    async run(visit) {
      const deliveries = await arrived(visit)
      return (await journeys(visit)).flatMap(({ ordered, sightings }) => {
        const told = new Set(deliveries.filter((each) => about(each, ordered.requestId)).map(statusOf))
        const [first, ...changes] = new Set(sightings.map(({ status }) => status))
        const expected = first === 'RECEIVED' ? changes : [first, ...changes]
        return expected
          .filter((status) => !told.has(String(status)))
          .map((status) => `a request became ${status}, and no event was sent`)
      })
    },
  },
  {
    id: 'webhook.only-changes',
    section: 'Request status',
    rule: 'A check changing status without changing the overall request status triggers no event.',
    kind,
    async run(visit) {
      const deliveries = await arrived(visit)
      return (await journeys(visit)).flatMap((each) => needless(each, deliveries))
    },
  },
  {
    id: 'webhook.request',
    section,
    rule: 'One event type exists: `request.updated`.',
    kind,
    async run(visit) {
      const deliveries = await arrived(visit)
      return [
        ...deliveries.flatMap(({ method }) => expectSame('method of a delivery', method, 'POST')),
        ...deliveries.flatMap((each) => expectSame('event', field(jsonOf(each), 'event'), 'request.updated')),
      ]
    },
  },
  {
    id: 'webhook.content-type',
    section,
    rule: 'Content-Type | application/json',
    kind,
    async run(visit) {
      return (await arrived(visit))
        .map(({ contentType }) => contentType?.split(';')[0]?.trim().toLowerCase())
        .flatMap((type) => expectSame('Content-Type of a delivery', type, 'application/json'))
    },
  },
  {
    id: 'webhook.signature-form',
    section,
    rule: 'X-Service-Signature | Lowercase hex HMAC-SHA256 of the raw body, keyed with the webhook secret',
    kind,
    async run(visit) {
      return (await arrived(visit))
        .filter(({ signature }) => !/^[0-9a-f]{64}$/.test(signature ?? ''))
        .map(
          ({ signature }) => `X-Service-Signature: expected 64 lowercase hex digits, got ${shown(signature)}`,
        )
    },
  },
  {
    id: 'webhook.signature',
    section,
    rule: 'The signature is computed over the exact raw body bytes; receivers verify before parsing and compare in constant time.',
    kind,
    async run(visit) {
      receiverOf(visit)
      const { webhookSecret } = visit.target
      unless(webhookSecret !== undefined, 'the webhook secret is not known')
      return (await arrived(visit)).flatMap(({ body, signature }) => {
        const expected = createHmac('sha256', webhookSecret).update(body).digest('hex')
        return signature?.toLowerCase() === expected
          ? []
          : ['a signature is not the HMAC-SHA256 of the bytes that arrived']
      })
    },
  },
  {
    id: 'webhook.body',
    section,
    rule: 'request_id | string (UUID) | Equals `data.request_id` of the request read.',
    kind,
    async run(visit) {
      const changed = (await journeys(visit)).filter(
        ({ sightings }) => sightings.at(-1)?.status !== 'RECEIVED',
      )
      const ids = new Set(changed.map(({ ordered }) => ordered.requestId))
      const shape = {
        event: text,
        request_id: uuid,
        status: oneOf('RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED'),
      }
      const deliveries = await arrived(visit)
      const unknown = [...ids].filter((id) => !deliveries.some((each) => about(each, id)))
      return [
        ...deliveries.flatMap((each) => {
          const body = jsonOf(each)
          const reason = field(body, 'error_reason') === undefined ? {} : { error_reason: text }
          return object({ ...shape, ...reason })(body, 'body')
        }),
        ...unknown.map(() => 'no event names the request_id of a request that changed its status'),
      ]
    },
  },
  {
    id: 'webhook.error-reason',
    section,
    rule: 'error_reason | string | Present only when status is ERROR; diagnostic text. Its format: not shown.',
    kind,
    async run(visit) {
      return (await arrived(visit)).flatMap((each) => {
        const [status, reason] = [statusOf(each), field(jsonOf(each), 'error_reason')]
        if (status === 'ERROR' && typeof reason !== 'string')
          return ['an event of status ERROR has no error_reason']
        return status !== 'ERROR' && reason !== undefined
          ? [`an event of status ${status} has an error_reason`]
          : []
      })
    },
  },
  {
    id: 'webhook.in-step',
    section,
    rule: 'status | string | RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR or CANCELLED.',
    kind,
    async run(visit) {
      const deliveries = await arrived(visit)
      return (await journeys(visit)).flatMap(({ ordered, sightings }) =>
        sightings.flatMap(({ status, deliveries: count }) => {
          const told = deliveries.slice(0, count).filter((each) => about(each, ordered.requestId))
          const ahead = told.map(statusOf).find((each) => isPast(each, status))
          return ahead === undefined ? [] : [`a request is ${status} after an event that said ${ahead}`]
        }),
      )
    },
  },
]

/** Events may be late, and come in any order; but none tells of what has not happened. */
function isPast(told: string, read: string): boolean {
  return rankOf(told) > rankOf(read) || (rankOf(told) === rankOf(read) && told !== read)
}

/**
 * Events that were told and acknowledged before, and came again just when a check changed and the
 * request did not. Where they come again at other times too, that is no sign: "duplicates are possible".
 */
function needless({ ordered, sightings }: Journey, all: readonly Delivery[]): string[] {
  const acknowledged = new Set<string>()
  const findings: string[] = []
  for (const [at, { data, status, afterwards }] of sightings.entries()) {
    const before = sightings[at - 1]
    const checksOnly = before?.status === status && checkStatuses(before.data) !== checkStatuses(data)
    for (const each of all.slice(before?.afterwards ?? 0, afterwards)) {
      if (!about(each, ordered.requestId)) continue
      const again = acknowledged.has(statusOf(each))
      unless(
        !again || checksOnly,
        'acknowledged events may be redelivered here at any time, which is allowed',
      )
      if (again) findings.push(`an event came when a check changed and the request stayed ${status}`)
      if (each.answered !== null && each.answered < 300) acknowledged.add(statusOf(each))
    }
  }
  return findings
}

function checkStatuses(data: unknown): string {
  return JSON.stringify(checksOf(data).map((check) => field(check, 'status')))
}
