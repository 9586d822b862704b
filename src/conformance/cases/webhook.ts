import { createHmac } from 'node:crypto'

import { advise, type Case, unless } from '../case.ts'
import { field, shown } from '../answer.ts'
import { about, arrived, rankOf, receiverOf, statusOf, unannounced, updateOf } from '../events.ts'
import type { Delivery, Reply } from '../receiver.ts'
import { expectSame, type Run, under, when } from '../table.ts'
import { checksOf, type Journey, journey, journeys, terminal } from '../journey.ts'
import { richOrder, usualRecipient } from '../order.ts'
import { object, oneOf, text, uuid } from '../shape.ts'
import type { Visit } from '../visit.ts'

/** Makes a test that returns findings about each event that arrived. */
const ofEvents =
  (wrong: (delivery: Delivery) => string[]): Run =>
  async (visit) =>
    (await arrived(visit)).flatMap(wrong)

/** Makes a test that returns findings about each request that was followed, given all events. */
const ofJourneys =
  (wrong: (journey: Journey, deliveries: readonly Delivery[]) => string[]): Run =>
  async (visit) => {
    const deliveries = await arrived(visit)
    return (await journeys(visit)).flatMap((each) => wrong(each, deliveries))
  }

const missingEvents = (made: Journey, deliveries: readonly Delivery[]): string[] =>
  unannounced(made, deliveries).map((status) => `a request became ${status}, and no event was sent`)

/**
 * Whether an event's status is later than the one that was read. Events may be late and in any order, but never ahead
 * of the request.
 */
function isPast(sent: string, read: string): boolean {
  return rankOf(sent) > rankOf(read) || (rankOf(sent) === rankOf(read) && sent !== read)
}

/**
 * Returns findings for acknowledged events that were repeated exactly when a check changed and the request did not.
 * If events are also repeated at other times, the case is not testable: "duplicates are possible".
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

/** Returns findings for events whose status is ahead of a later read. */
function ahead({ ordered, sightings }: Journey, deliveries: readonly Delivery[]): string[] {
  return sightings.flatMap(({ status, deliveries: count }) => {
    const before = deliveries.slice(0, count).filter((each) => about(each, ordered.requestId))
    const past = before.map(statusOf).find((each) => isPast(each, status))
    return when(past !== undefined, `a request is ${status} after an event that said ${past}`)
  })
}

const bodyShape = {
  event: text,
  request_id: uuid,
  status: oneOf('RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED'),
}

function wrongBody(delivery: Delivery): string[] {
  const body = delivery.json
  const hasReason = field(body, 'error_reason') !== undefined
  return object({ ...bodyShape, ...(hasReason && { error_reason: text }) })(body, 'body')
}

function wrongReason(delivery: Delivery): string[] {
  const [status, reason] = [statusOf(delivery), field(delivery.json, 'error_reason')]
  if (status === 'ERROR')
    return when(typeof reason !== 'string', 'an event of status ERROR has no error_reason')
  return when(reason !== undefined, `an event of status ${status} has an error_reason`)
}

export const webhookCases: readonly Case[] = [
  ...under('Request status', 'control', {
    'webhook.every-change': [
      'Every change of the overall request status triggers one `request.updated` event.',
      ofJourneys(missingEvents),
    ],
    'webhook.only-changes': [
      'A check changing status without changing the overall request status triggers no event.',
      ofJourneys(needless),
    ],
  }),
  ...under('Events', 'control', {
    'webhook.request': [
      'One event type exists: `request.updated`.',
      ofEvents((each) => [
        ...expectSame('method of a delivery', each.method, 'POST'),
        ...expectSame('event', field(each.json, 'event'), 'request.updated'),
      ]),
    ],
    'webhook.content-type': [
      'Content-Type | application/json',
      ofEvents(({ contentType }) => {
        const type = contentType?.split(';')[0]?.trim().toLowerCase()
        return expectSame('Content-Type of a delivery', type, 'application/json')
      }),
    ],
    'webhook.signature-form': [
      'X-Service-Signature | Lowercase hex HMAC-SHA256 of the raw body, keyed with the webhook secret',
      ofEvents(({ signature }) => {
        const isHex = /^[0-9a-f]{64}$/.test(signature ?? '')
        const wrong = `X-Service-Signature: expected 64 lowercase hex digits, got ${shown(signature)}`
        return when(!isHex, wrong)
      }),
    ],
    'webhook.signature': [
      'The signature is computed over the exact raw body bytes; receivers verify before parsing and compare in constant time.',
      (visit) => {
        receiverOf(visit)
        const { webhookSecret } = visit.target
        unless(webhookSecret !== undefined, 'the webhook secret is not known: set REFCHECK_WEBHOOK_SECRET')
        return ofEvents(({ body, signature }) => {
          const expected = createHmac('sha256', webhookSecret).update(body).digest('hex')
          const isRight = signature?.toLowerCase() === expected
          return when(!isRight, 'a signature is not the HMAC-SHA256 of the bytes that arrived')
        })(visit)
      },
    ],
    'webhook.body': [
      'request_id | string (UUID) | Equals `data.request_id` of the request read.',
      async (visit) => {
        const deliveries = await arrived(visit)
        const unnamed = (await journeys(visit))
          .filter(({ sightings }) => sightings.at(-1)?.status !== 'RECEIVED')
          .filter(({ ordered }) => !deliveries.some((each) => about(each, ordered.requestId)))
        const wrong = 'no event names the request_id of a request that changed its status'
        return [...deliveries.flatMap(wrongBody), ...unnamed.map(() => wrong)]
      },
    ],
    'webhook.error-reason': [
      'error_reason | string | Present only when status is ERROR; diagnostic text. Its format: not shown.',
      ofEvents(wrongReason),
    ],
    'webhook.in-step': [
      'status | string | RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR or CANCELLED.',
      ofJourneys(ahead),
    ],
  }),
]

const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute

const within10 =
  'The receiver must return a 2xx within 10 seconds. A non-2xx response, network failure or timeout is a delivery failure.'
const atLeastOnce =
  'Delivery is at least once; duplicates are possible. The pair (request_id, status) identifies a status update already processed.'

/** Delays of an acknowledgement within the 10 seconds and after them, with a margin for its transmission. */
const inTime = 8 * second
const tooLate = 12 * second

/** Returns how long the suite waits for a retry: a week if the clock can be advanced. */
const patienceOf = ({ pace, watchMs }: Visit): number => (pace.exact ? 7 * day : watchMs)

/** Status updates of a request whose first attempts got chosen replies. */
interface Answered {
  requestId: string
  /** Status with which the first attempt was answered, by update. */
  first: Map<string, number | null>
}

/**
 * Orders, and answers the first attempts of its updates with the replies in turn. A reply `hold` is released with 200
 * after `releaseMs`. Ends after `enough` updates, when the request has ended, or when it was watched long enough.
 */
async function answering(
  visit: Visit,
  replies: readonly Reply[],
  { releaseMs = 0, enough = Infinity } = {},
): Promise<Answered> {
  const receiver = receiverOf(visit)
  await journey(visit)
  const { requestId } = await richOrder(visit, usualRecipient(visit))
  const updates = new Set<string>()
  let holding = false
  receiver.replyTo = (delivery) => {
    const known = updates.has(updateOf(delivery))
    if (known || updates.size >= enough || !about(delivery, requestId)) return 204
    const reply = replies[updates.size % replies.length] ?? 204
    updates.add(updateOf(delivery))
    holding ||= reply === 'hold'
    return reply
  }
  const { pace, watchMs } = visit
  const step = replies.includes('hold')
    ? pace.exact
      ? 5 * second
      : second / 2
    : pace.exact
      ? minute
      : second
  // An event may have arrived at any time in the last step.
  const release = async (): Promise<void> => {
    if (!holding) return
    await pace.pause(releaseMs < 10 * second ? releaseMs - step : releaseMs)
    await receiver.release(200)
    holding = false
  }
  try {
    for (let waited = 0; waited < (pace.exact ? day : watchMs); waited += step) {
      if (updates.size >= enough || (await hasEnded(visit, requestId))) break
      await pace.pause(step)
      await release()
    }
    await pace.pause(second)
    await release()
  } finally {
    receiver.replyTo = () => 204
    await receiver.release(200)
  }
  unless(updates.size > 0, 'no event came that could be answered')
  const first = new Map<string, number | null>()
  for (const each of attempts(visit, requestId)) {
    if (!first.has(updateOf(each))) first.set(updateOf(each), each.answered)
  }
  return { requestId, first }
}

const attempts = (visit: Visit, requestId: string): Delivery[] =>
  receiverOf(visit).deliveries.filter((each) => about(each, requestId))

const again = (visit: Visit, { requestId, first }: Answered): string[] =>
  [...first.keys()].filter(
    (update) => attempts(visit, requestId).filter((each) => updateOf(each) === update).length > 1,
  )

async function hasEnded(visit: Visit, requestId: string): Promise<boolean> {
  const { data } = await visit.probe.get(`/v1/requests/${requestId}`)
  const status = String(field(data, 'status'))
  return terminal.has(status) && attempts(visit, requestId).some((each) => statusOf(each) === status)
}

/**
 * Waits in growing steps until the condition is met; returns the milliseconds. Undefined if that takes longer than
 * `longest`.
 */
async function waitUntil(
  { pace }: Visit,
  longest: number,
  isMet: () => boolean,
): Promise<number | undefined> {
  const from = pace.now()
  for (let step = second / 2; !isMet(); step = Math.min(pace.exact ? 60 * minute : second, step * 1.5)) {
    if (pace.now() - from >= longest) return undefined
    await pace.pause(step)
  }
  return pace.now() - from
}

/** Measures the milliseconds after which an event that was answered with 500 is repeated; undefined if it is not. */
function retryDelay(visit: Visit): Promise<number | undefined> {
  return visit.once('retry delay', async () => {
    const made = await answering(visit, [500], { enough: 1 })
    const came = await waitUntil(visit, patienceOf(visit), () => again(visit, made).length > 0)
    if (came === undefined) return undefined
    const [update] = again(visit, made)
    const [one, other] = attempts(visit, made.requestId).filter((each) => updateOf(each) === update)
    return Math.max(second, (other?.at ?? 0) - (one?.at ?? 0))
  })
}

/** Returns the advice for a deployment that never repeats a failed delivery. */
function neverAgain({ pace, watchMs }: Visit): string[] {
  const time = pace.exact ? 'a week' : `${watchMs / second} s`
  return [
    advise(
      `an event that was answered with 500 was not redelivered within ${time}: "Failed deliveries may be retried", but "Delivery is at least once"`,
    ),
  ]
}

/**
 * Expects that this kind of failure is retried like a 500; otherwise that is advice: "Failed deliveries may be
 * retried."
 */
async function expectedAgain(visit: Visit, made: Answered, how: string, retryMs: number): Promise<string[]> {
  const longest = visit.pace.exact ? patienceOf(visit) : 3 * retryMs + 2 * second
  const came = await waitUntil(visit, longest, () => again(visit, made).length > 0)
  return came === undefined
    ? [advise(`an event that was answered ${how} was never redelivered, though one answered with 500 was`)]
    : []
}

/**
 * Returns a finding if acknowledged events are treated as failures. An acknowledged event may be repeated
 * ("duplicates are possible"). But if all that were answered in this way are repeated, and none that was answered at
 * once with 204, the reply was not accepted as an acknowledgement.
 */
async function needlesslyAgain(visit: Visit, made: Answered, how: string): Promise<string[]> {
  const { deliveries } = receiverOf(visit)
  const retryMs = await retryDelay(visit)
  const usual = retryMs === undefined ? 10 * second : 2 * retryMs + 2 * second
  await waitUntil(visit, visit.pace.exact ? day : usual, () => false)
  const counts = new Map<string, number>()
  const prompt = new Set<string>()
  for (const each of deliveries) {
    const update = updateOf(each)
    if (!counts.has(update) && each.answered === 204) prompt.add(update)
    counts.set(update, (counts.get(update) ?? 0) + 1)
  }
  const repeated = again(visit, made)
  const promptAgain = [...prompt].filter((update) => (counts.get(update) ?? 0) > 1)
  if (repeated.length === 0) return []
  const byStatus = [...new Set(made.first.values())].filter((status) => {
    const those = [...made.first].filter(([, answered]) => answered === status).map(([update]) => update)
    return those.every((update) => repeated.includes(update))
  })
  if (promptAgain.length > 0 || prompt.size < 2) {
    return [advise(`events that were answered ${how} were redelivered, as some answered with 204 were`)]
  }
  return byStatus.length === 0
    ? []
    : [
        `events that were answered ${how} (${byStatus.join(', ')}) were redelivered, none that was answered with 204 at once was`,
      ]
}

export const webhookDeliveryCases: readonly Case[] = under('Events', 'control', {
  'webhook.again-after-refusal': [
    atLeastOnce,
    async (visit) => {
      const retryMs = await retryDelay(visit)
      if (retryMs === undefined) return neverAgain(visit)
      return expectedAgain(visit, await answering(visit, [302], { enough: 1 }), 'with 302', retryMs)
    },
  ],
  'webhook.again-after-silence': [
    within10,
    async (visit) => {
      const retryMs = await retryDelay(visit)
      unless(
        retryMs !== undefined,
        'no failed delivery was seen to be retried: watch for longer with --watch',
      )
      const made = await answering(visit, ['hold'], { releaseMs: tooLate, enough: 1 })
      return expectedAgain(visit, made, `with 200 after ${tooLate / second} s`, retryMs + tooLate)
    },
  ],
  'webhook.any-2xx': [
    within10,
    async (visit) => needlesslyAgain(visit, await answering(visit, [200, 202, 201, 299]), 'with 2xx'),
  ],
  'webhook.slow-acknowledgement': [
    within10,
    async (visit) => {
      const made = await answering(visit, ['hold'], { releaseMs: inTime, enough: 2 })
      return needlesslyAgain(visit, made, `with 200 after ${inTime / second} s`)
    },
  ],
})
