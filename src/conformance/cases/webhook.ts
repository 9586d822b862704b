import { createHmac } from 'node:crypto'

import { field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { expectSame } from '../expect.ts'
import { checksOf, journey, type Journey, journeys } from '../journey.ts'
import { recipient, richOrder } from '../order.ts'
import type { Delivery, Receiver, Reply } from '../receiver.ts'
import { object, oneOf, text, uuid } from '../shape.ts'
import { shown } from '../shown.ts'
import type { Visit } from '../visit.ts'

const section = 'Events'
const kind = 'control'

function receiverOf({ receiver }: Visit): Receiver {
  unless(receiver !== undefined, 'no receiver for events was allowed')
  return receiver
}

const jsonOf = ({ body }: Delivery): unknown => {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
const about = (delivery: Delivery, requestId: string): boolean =>
  field(jsonOf(delivery), 'request_id') === requestId
const statusOf = (delivery: Delivery): string => String(field(jsonOf(delivery), 'status'))

/** Everything that arrived, once the requests that can be followed have been. */
async function arrived(visit: Visit): Promise<Delivery[]> {
  const receiver = receiverOf(visit)
  const followed = await journeys(visit)
  unless(
    followed.some(({ sightings }) => new Set(sightings.map(({ status }) => status)).size > 1),
    'no request changed its status in the time it was watched',
  )
  await late(visit)
  return receiver.deliveries
}

/** Where time goes by itself, the last event may still be in flight. */
function late({ pace }: Visit): Promise<void> {
  return pace.exact ? Promise.resolve() : pace.pause(1000)
}

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
      unless(
        visit.pace.exact,
        'an event and a read can be compared only where time stands still between them',
      )
      const deliveries = await arrived(visit)
      return (await journeys(visit)).flatMap(({ ordered, sightings }) =>
        sightings.flatMap(({ status, deliveries: count }) => {
          const last = deliveries.slice(0, count).findLast((each) => about(each, ordered.requestId))
          if (last === undefined || statusOf(last) === status) return []
          return [`a request is ${status} after an event that said ${statusOf(last)}`]
        }),
      )
    },
  },
  {
    id: 'webhook.again-after-refusal',
    section,
    rule: 'Delivery is at least once; duplicates are possible. The pair (request_id, status) identifies a status update already processed.',
    kind,
    run: (visit) => deliveredAgain(visit, 500, 302),
  },
  {
    id: 'webhook.again-after-silence',
    section,
    rule: 'The receiver must return a 2xx within 10 seconds. A non-2xx response, network failure or timeout is a delivery failure.',
    kind,
    run: (visit) => deliveredAgain(visit, 'nothing'),
  },
]

/**
 * Events that were told and acknowledged before, and came again just when a check changed and the
 * request did not. Where they come again at other times too, that is no sign: "duplicates are possible".
 */
function needless({ ordered, sightings }: Journey, all: readonly Delivery[]): string[] {
  const acknowledged = new Set<string>()
  const findings: string[] = []
  for (const [at, { data, status, deliveries }] of sightings.entries()) {
    const before = sightings[at - 1]
    const checksOnly = before?.status === status && checkStatuses(before.data) !== checkStatuses(data)
    for (const each of all.slice(before?.deliveries ?? 0, deliveries)) {
      if (!about(each, ordered.requestId)) continue
      const again = acknowledged.has(statusOf(each))
      unless(
        !again || checksOnly,
        'acknowledged events may be redelivered here at any time, which is allowed',
      )
      if (again) findings.push(`an event came when a check changed and the request stayed ${status}`)
      if (each.answered === 204) acknowledged.add(statusOf(each))
    }
  }
  return findings
}

function checkStatuses(data: unknown): string {
  return JSON.stringify(checksOf(data).map((check) => field(check, 'status')))
}

const minute = 60_000

/** Turns the first event of a new request away in each of these ways, and expects it again each time. */
async function deliveredAgain(visit: Visit, ...replies: Reply[]): Promise<string[]> {
  const receiver = receiverOf(visit)
  const { pace } = visit
  unless(pace.exact, 'when a delivery is tried again is not shown, and the clock here cannot be moved')
  await journey(visit)
  const { requestId } = await richOrder(visit, recipient)
  receiver.reply(...replies)
  const from = receiver.deliveries.length
  const mine = (): Delivery[] => receiver.deliveries.slice(from).filter((each) => about(each, requestId))
  try {
    for (let waits = 0; waits < 120 && mine().length === 0; waits += 1) await pace.pause(minute)
    const [first] = mine()
    unless(first !== undefined, 'no event came that could be refused')
    const attempts = (): Delivery[] => mine().filter((each) => statusOf(each) === statusOf(first))
    for (let waits = 0; waits < 48 && attempts().length <= replies.length; waits += 1) {
      await pace.pause(waits < 20 ? minute : 60 * minute)
    }
    const made = attempts()
    if (made.length <= replies.length) {
      const last = replies[made.length - 1]
      return [`an event that was answered with ${last} was never redelivered`]
    }
    const bodies = new Set(made.map(({ body }) => body.toString('base64')))
    return bodies.size === 1 ? [] : ['a redelivered event had another body']
  } finally {
    receiver.reply()
  }
}
