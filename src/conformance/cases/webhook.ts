import { createHmac } from 'node:crypto'

import { advise, type Case, requireTestable, requireValue } from '../case.ts'
import { type Fields, readValue, formatValue } from '../answer.ts'
import {
  isAbout,
  collectEvents,
  findRank,
  requireReceiver,
  statusOf,
  findStatusesWithoutEvent,
  identifyUpdate,
} from '../events.ts'
import type { Delivery, Reply } from '../receiver.ts'
import { expectSame, type Findings, createDeploymentControlCases, testEach } from '../table.ts'
import { type Journey, requireFollowedRequest, followAll, terminalStatuses } from '../journey.ts'
import { orderRichestPackage } from '../order.ts'
import { object, oneOf, text, uuid } from '../shape.ts'
import type { CaseContext } from '../case-context.ts'

const testEachEvent = testEach(collectEvents)

/** A request that was followed, and all events that arrived, of any request. */
interface JourneyWithEvents {
  journey: Journey
  deliveries: readonly Delivery[]
}

const testEachJourney = testEach(async (context): Promise<JourneyWithEvents[]> => {
  const deliveries = await collectEvents(context)
  return (await followAll(context)).map((journey) => ({ journey, deliveries }))
})

const findMissingEvents = ({ journey, deliveries }: JourneyWithEvents): string[] =>
  findStatusesWithoutEvent(journey, deliveries).map(
    (status) => `a request became ${status}, and no event was sent`,
  )

/**
 * Returns true if the status of an event is ahead of the status that was read. Events may be late and in any
 * order, but never ahead of the request.
 */
function isAheadOf(eventStatus: string, readStatus: string): boolean {
  return (
    findRank(eventStatus) > findRank(readStatus) ||
    (findRank(eventStatus) === findRank(readStatus) && eventStatus !== readStatus)
  )
}

/**
 * Returns findings for acknowledged events that were repeated exactly when a check changed and the request
 * did not. If events are also repeated at other times, the case is not testable: "duplicates are possible".
 */
function findNeedlessEvents({ journey: { order, reads }, deliveries }: JourneyWithEvents): string[] {
  const acknowledgedStatuses = new Set<string>()
  const findings: string[] = []
  for (const [index, { checks, status, eventCountAfter }] of reads.entries()) {
    const previousRead = reads[index - 1]
    const hasOnlyChecksChanged =
      previousRead?.status === status &&
      formatCheckStatuses(previousRead.checks) !== formatCheckStatuses(checks)
    for (const each of deliveries.slice(previousRead?.eventCountAfter ?? 0, eventCountAfter)) {
      if (!isAbout(each, order.requestId)) continue
      const isRepeated = acknowledgedStatuses.has(statusOf(each))
      requireTestable(
        !isRepeated || hasOnlyChecksChanged,
        'acknowledged events may be redelivered here at any time, which is allowed',
      )
      if (isRepeated) findings.push(`an event came when a check changed and the request stayed ${status}`)
      if (each.replyStatus !== null && each.replyStatus < 300) acknowledgedStatuses.add(statusOf(each))
    }
  }
  return findings
}

const formatCheckStatuses = (checks: readonly Fields[]): string =>
  JSON.stringify(checks.map(({ status }) => status))

/** Returns findings for events whose status is ahead of the status in a later read. */
function findEventsAhead({ journey: { order, reads }, deliveries }: JourneyWithEvents): Findings {
  return reads.map(({ status, eventCountBefore }) => {
    const earlierEvents = deliveries
      .slice(0, eventCountBefore)
      .filter((each) => isAbout(each, order.requestId))
    const statusAhead = earlierEvents.map(statusOf).find((each) => isAheadOf(each, status))
    return statusAhead !== undefined && `a request is ${status} after an event that said ${statusAhead}`
  })
}

const bodyShape = {
  event: text,
  request_id: uuid,
  status: oneOf('RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED'),
}

function findBodyFaults({ json }: Delivery): string[] {
  const hasReason = readValue(json, 'error_reason') !== undefined
  return object({ ...bodyShape, ...(hasReason && { error_reason: text }) })(json, 'body')
}

function findReasonFaults(delivery: Delivery): Findings {
  const [status, reason] = [statusOf(delivery), readValue(delivery.json, 'error_reason')]
  return [
    status === 'ERROR' && typeof reason !== 'string' && 'an event of status ERROR has no error_reason',
    status !== 'ERROR' && reason !== undefined && `an event of status ${status} has an error_reason`,
  ]
}

export const webhookCases: readonly Case[] = [
  ...createDeploymentControlCases('Request status', {
    'webhook.every-change': [
      'Every change of the overall request status triggers one `request.updated` event.',
      testEachJourney(findMissingEvents),
    ],
    'webhook.only-changes': [
      'A check changing status without changing the overall request status triggers no event.',
      testEachJourney(findNeedlessEvents),
    ],
  }),
  ...createDeploymentControlCases('Events', {
    'webhook.request': [
      'One event type exists: `request.updated`.',
      testEachEvent((each) => [
        ...expectSame('method of a delivery', each.method, 'POST'),
        ...expectSame('event', readValue(each.json, 'event'), 'request.updated'),
      ]),
    ],
    'webhook.content-type': [
      'Content-Type | application/json',
      testEachEvent(({ contentType }) => {
        const mediaType = contentType?.split(';')[0]?.trim().toLowerCase()
        return expectSame('Content-Type of a delivery', mediaType, 'application/json')
      }),
    ],
    'webhook.signature-form': [
      'X-Service-Signature | Lowercase hex HMAC-SHA256 of the raw body, keyed with the webhook secret',
      testEachEvent(({ signature }) => {
        const isHex = /^[0-9a-f]{64}$/.test(signature ?? '')
        return [
          !isHex && `X-Service-Signature: expected 64 lowercase hex digits, got ${formatValue(signature)}`,
        ]
      }),
    ],
    'webhook.signature': [
      'The signature is computed over the exact raw body bytes; receivers verify before parsing and compare in constant time.',
      (context) => {
        requireReceiver(context)
        const secret = requireValue(
          context.target.webhookSecret,
          'the webhook secret is not known: set REFCHECK_WEBHOOK_SECRET',
        )
        return testEachEvent(({ body, signature }) => {
          const expected = createHmac('sha256', secret).update(body).digest('hex')
          const isCorrect = signature?.toLowerCase() === expected
          return [!isCorrect && 'a signature is not the HMAC-SHA256 of the bytes that arrived']
        })(context)
      },
    ],
    'webhook.body': [
      'request_id | string (UUID) | Equals `data.request_id` of the request read.',
      async (context) => {
        const deliveries = await collectEvents(context)
        const withoutEvents = (await followAll(context))
          .filter(({ reads }) => reads.at(-1)?.status !== 'RECEIVED')
          .filter(({ order }) => !deliveries.some((each) => isAbout(each, order.requestId)))
        const finding = 'no event names the request_id of a request that changed its status'
        return [...deliveries.flatMap(findBodyFaults), ...withoutEvents.map(() => finding)]
      },
    ],
    'webhook.error-reason': [
      'error_reason | string | Present only when status is ERROR; diagnostic text. Its format: not shown.',
      testEachEvent(findReasonFaults),
    ],
    'webhook.in-step': [
      'status | string | RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR or CANCELLED.',
      testEachJourney(findEventsAhead),
    ],
  }),
]

const secondMs = 1000
const minuteMs = 60 * secondMs
const dayMs = 24 * 60 * minuteMs

const acknowledgementRule =
  'The receiver must return a 2xx within 10 seconds. A non-2xx response, network failure or timeout is a delivery failure.'
const atLeastOnceRule =
  'Delivery is at least once; duplicates are possible. The pair (request_id, status) identifies a status update already processed.'

/**
 * Delays of an acknowledgement: one within the 10 seconds and one after them, with a margin for its
 * transmission.
 */
const inTimeMs = 8 * secondMs
const tooLateMs = 12 * secondMs

/** Returns the maximum milliseconds that the suite waits for a retry: a week if the clock can be advanced. */
const maxRetryWaitMs = ({ deploymentClock, watchMs }: CaseContext): number =>
  deploymentClock.isManual ? 7 * dayMs : watchMs

/** Status of the reply to the first attempt to deliver each update of a request. */
type FirstReplies = ReadonlyMap<string, number | null>

/** Returns the attempts to deliver each update. */
const findAttempts = (context: CaseContext): Map<string, Delivery[]> =>
  Map.groupBy(requireReceiver(context).deliveries, identifyUpdate)

/** Returns the updates that were delivered more than once, with the attempts to deliver each. */
const findRepeated = (context: CaseContext, firstReplies: FirstReplies): Map<string, Delivery[]> =>
  new Map(
    [...findAttempts(context)].filter(
      ([update, attempts]) => firstReplies.has(update) && attempts.length > 1,
    ),
  )

/**
 * Orders a request and replies to the first attempt of each of its updates with the next one of `replies`. A
 * reply `hold` is released with 200 after `releaseMs`. Ends after `maxUpdates` updates, when the request has
 * ended, or when the request was watched for long enough.
 */
async function orderAndReply(
  context: CaseContext,
  replies: readonly Reply[],
  { releaseMs = 0, maxUpdates = Infinity } = {},
): Promise<FirstReplies> {
  const receiver = requireReceiver(context)
  await requireFollowedRequest(context)
  const { requestId } = await orderRichestPackage(context)
  const updates = new Set<string>()
  let isHolding = false
  receiver.replyTo = (delivery) => {
    const isKnown = updates.has(identifyUpdate(delivery))
    if (isKnown || updates.size >= maxUpdates || !isAbout(delivery, requestId)) return 204
    const reply = replies[updates.size % replies.length] ?? 204
    updates.add(identifyUpdate(delivery))
    isHolding ||= reply === 'hold'
    return reply
  }
  const { deploymentClock, watchMs } = context
  const { isManual } = deploymentClock
  const pollMs = replies.includes('hold') ? secondMs * (isManual ? 5 : 0.5) : secondMs * (isManual ? 60 : 1)
  // Events are looked for every `pollMs`, so an event may have arrived up to `pollMs` ago. A delay that must be shorter
  // than 10 seconds is shortened by that time.
  const release = async (): Promise<void> => {
    if (!isHolding) return
    await deploymentClock.pause(releaseMs < 10 * secondMs ? releaseMs - pollMs : releaseMs)
    await receiver.release(200)
    isHolding = false
  }
  try {
    for (let waitedMs = 0; waitedMs < (isManual ? dayMs : watchMs); waitedMs += pollMs) {
      if (updates.size >= maxUpdates || (await hasEnded(context, requestId))) break
      await deploymentClock.pause(pollMs)
      await release()
    }
    await deploymentClock.pause(secondMs)
    await release()
  } finally {
    receiver.replyTo = () => 204
    await receiver.release(200)
  }
  requireTestable(updates.size > 0, 'no event came that could be answered')
  const firstAttempts = [...findAttempts(context)].flatMap(([update, [first]]) =>
    first !== undefined && isAbout(first, requestId) ? [[update, first.replyStatus] as const] : [],
  )
  return new Map(firstAttempts)
}

/** Returns true if a request has ended, and an event has reported its end. */
async function hasEnded(context: CaseContext, requestId: string): Promise<boolean> {
  const { fields } = await context.probe.get(`/v1/requests/${requestId}`)
  const status = String(fields.status)
  const { deliveries } = requireReceiver(context)
  return (
    terminalStatuses.has(status) &&
    deliveries.some((each) => isAbout(each, requestId) && statusOf(each) === status)
  )
}

/**
 * Waits in growing steps until the condition is met and returns the milliseconds of the wait; undefined if it
 * takes longer than `maxMs`.
 */
async function waitUntil(
  { deploymentClock }: CaseContext,
  maxMs: number,
  isMet: () => boolean,
): Promise<number | undefined> {
  const startedAt = deploymentClock.now()
  for (
    let pollMs = secondMs / 2;
    !isMet();
    pollMs = Math.min(deploymentClock.isManual ? 60 * minuteMs : secondMs, pollMs * 1.5)
  ) {
    if (deploymentClock.now() - startedAt >= maxMs) return undefined
    await deploymentClock.pause(pollMs)
  }
  return deploymentClock.now() - startedAt
}

/**
 * Returns the milliseconds after which an event that was answered with 500 is repeated; undefined if it is
 * not repeated.
 */
function measureRetryDelay(context: CaseContext): Promise<number | undefined> {
  return context.once('retry delay', async () => {
    const firstReplies = await orderAndReply(context, [500], { maxUpdates: 1 })
    const waitedMs = await waitUntil(
      context,
      maxRetryWaitMs(context),
      () => findRepeated(context, firstReplies).size > 0,
    )
    if (waitedMs === undefined) return undefined
    const [[firstAttempt, secondAttempt] = []] = findRepeated(context, firstReplies).values()
    return Math.max(secondMs, (secondAttempt?.at ?? 0) - (firstAttempt?.at ?? 0))
  })
}

/** Returns the advice for a deployment that never repeats a failed delivery. */
function adviseNoRetries({ deploymentClock, watchMs }: CaseContext): string[] {
  const time = deploymentClock.isManual ? 'a week' : `${watchMs / secondMs} s`
  return [
    advise(
      `an event that was answered with 500 was not redelivered within ${time}: "Failed deliveries may be retried", but "Delivery is at least once"`,
    ),
  ]
}

/**
 * Returns advice unless one of the replied updates is delivered again. It is only advice because "Failed
 * deliveries may be retried". `replyText`: the reply, for the advice. `retryMs`: the delay after which an event
 * that was answered with 500 was delivered again.
 */
async function expectRetry(
  context: CaseContext,
  firstReplies: FirstReplies,
  replyText: string,
  retryMs: number,
): Promise<Findings> {
  const maxWaitMs = context.deploymentClock.isManual ? maxRetryWaitMs(context) : 3 * retryMs + 2 * secondMs
  const waitedMs = await waitUntil(context, maxWaitMs, () => findRepeated(context, firstReplies).size > 0)
  return [
    waitedMs === undefined &&
      advise(
        `an event that was answered ${replyText} was never redelivered, though one answered with 500 was`,
      ),
  ]
}

/**
 * Returns a finding if acknowledged events are treated as failures. An acknowledged event may be repeated
 * ("duplicates are possible"). But if all events that got one of the replies are repeated, and no event that was
 * answered at once with 204 is repeated, then the reply was not accepted as an acknowledgement.
 */
async function expectNoRetry(
  context: CaseContext,
  firstReplies: FirstReplies,
  replyText: string,
): Promise<Findings> {
  const retryMs = await measureRetryDelay(context)
  const waitMs = retryMs === undefined ? 10 * secondMs : 2 * retryMs + 2 * secondMs
  await waitUntil(context, context.deploymentClock.isManual ? dayMs : waitMs, () => false)
  const promptUpdates = [...findAttempts(context).values()].filter(([first]) => first?.replyStatus === 204)
  const repeated = findRepeated(context, firstReplies)
  if (repeated.size === 0) return []
  if (promptUpdates.length < 2 || promptUpdates.some((attempts) => attempts.length > 1)) {
    return [advise(`events that were answered ${replyText} were redelivered, as some answered with 204 were`)]
  }
  const unacceptedStatuses = [...new Set(firstReplies.values())].filter((status) =>
    [...firstReplies].every(([update, replyStatus]) => replyStatus !== status || repeated.has(update)),
  )
  return [
    unacceptedStatuses.length > 0 &&
      `events that were answered ${replyText} (${unacceptedStatuses.join(', ')}) were redelivered, none that was answered with 204 at once was`,
  ]
}

export const webhookDeliveryCases: readonly Case[] = createDeploymentControlCases('Events', {
  'webhook.again-after-refusal': [
    atLeastOnceRule,
    async (context) => {
      const retryMs = await measureRetryDelay(context)
      if (retryMs === undefined) return adviseNoRetries(context)
      return expectRetry(context, await orderAndReply(context, [302], { maxUpdates: 1 }), 'with 302', retryMs)
    },
  ],
  'webhook.again-after-silence': [
    acknowledgementRule,
    async (context) => {
      const retryMs = requireValue(
        await measureRetryDelay(context),
        'no failed delivery was seen to be retried: watch for longer with --watch',
      )
      const replied = await orderAndReply(context, ['hold'], { releaseMs: tooLateMs, maxUpdates: 1 })
      return expectRetry(context, replied, `with 200 after ${tooLateMs / secondMs} s`, retryMs + tooLateMs)
    },
  ],
  'webhook.any-2xx': [
    acknowledgementRule,
    async (context) => expectNoRetry(context, await orderAndReply(context, [200, 202, 201, 299]), 'with 2xx'),
  ],
  'webhook.slow-acknowledgement': [
    acknowledgementRule,
    async (context) => {
      const replied = await orderAndReply(context, ['hold'], { releaseMs: inTimeMs, maxUpdates: 2 })
      return expectNoRetry(context, replied, `with 200 after ${inTimeMs / secondMs} s`)
    },
  ],
})
