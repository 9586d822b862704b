import { advise } from '../advice.ts'
import { type Case, unless } from '../case.ts'
import { about, receiverOf, statusOf, updateOf } from '../events.ts'
import { journey, terminal } from '../journey.ts'
import { richOrder, usualRecipient } from '../order.ts'
import type { Delivery, Reply } from '../receiver.ts'
import { field } from '../answer.ts'
import type { Visit } from '../visit.ts'

const section = 'Events'
const kind = 'control'
const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute

const within10 =
  'The receiver must return a 2xx within 10 seconds. A non-2xx response, network failure or timeout is a delivery failure.'
const atLeastOnce =
  'Delivery is at least once; duplicates are possible. The pair (request_id, status) identifies a status update already processed.'

/** Within the 10 seconds, and past them, with room for the way of an answer. */
const inTime = 8 * second
const tooLate = 12 * second

/** How long a retry is waited for: a week where time is moved. */
const patienceOf = ({ pace, watchMs }: Visit): number => (pace.exact ? 7 * day : watchMs)

export const webhookDeliveryCases: readonly Case[] = [
  {
    id: 'webhook.again-after-refusal',
    section,
    rule: atLeastOnce,
    kind,
    async run(visit) {
      const retryMs = await retryDelay(visit)
      if (retryMs === undefined) return neverAgain(visit)
      const made = await answering(visit, [302], { enough: 1 })
      return expectedAgain(visit, made, 'with 302', retryMs)
    },
  },
  {
    id: 'webhook.again-after-silence',
    section,
    rule: within10,
    kind,
    async run(visit) {
      const retryMs = await retryDelay(visit)
      unless(retryMs !== undefined, 'failed deliveries are not seen to be retried, which they "may be"')
      const made = await answering(visit, ['hold'], { releaseMs: tooLate, enough: 1 })
      return expectedAgain(visit, made, `with 200 after ${tooLate / second} s`, retryMs + tooLate)
    },
  },
  {
    id: 'webhook.any-2xx',
    section,
    rule: within10,
    kind,
    async run(visit) {
      const made = await answering(visit, [200, 202, 201, 299])
      return needlesslyAgain(visit, made, 'with 2xx')
    },
  },
  {
    id: 'webhook.slow-acknowledgement',
    section,
    rule: within10,
    kind,
    async run(visit) {
      const made = await answering(visit, ['hold'], { releaseMs: inTime, enough: 2 })
      return needlesslyAgain(visit, made, `with 200 after ${inTime / second} s`)
    },
  },
]

/** Status updates of one request whose first attempts were answered in a way of their own. */
interface Answered {
  requestId: string
  /** By update, the status the first attempt was answered with. */
  first: Map<string, number | null>
}

/**
 * Orders, and answers the first attempts of its updates with these replies in turn; what is held is released with 200
 * after `releaseMs`. Ends with so many updates, when the request has ended, or was watched long enough.
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
  // An event may have come at any moment of the last step.
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

/** Waits in growing steps until something is the case, or so many milliseconds are over; how long it took. */
async function waitUntil(
  { pace }: Visit,
  longest: number,
  holds: () => boolean,
): Promise<number | undefined> {
  const from = pace.now()
  for (let step = second / 2; !holds(); step = Math.min(pace.exact ? 60 * minute : second, step * 1.5)) {
    if (pace.now() - from >= longest) return undefined
    await pace.pause(step)
  }
  return pace.now() - from
}

/** Milliseconds until an event that was answered with 500 comes again; undefined where it does not. */
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

/** Where a failure is never told again. */
function neverAgain({ pace, watchMs }: Visit): string[] {
  const time = pace.exact ? 'a week' : `${watchMs / second} s`
  return [
    advise(
      `an event that was answered with 500 was not redelivered within ${time}: "Failed deliveries may be retried", but "Delivery is at least once"`,
    ),
  ]
}

/** A failure is retried as others are seen to be. */
async function expectedAgain(visit: Visit, made: Answered, how: string, retryMs: number): Promise<string[]> {
  const longest = visit.pace.exact ? patienceOf(visit) : 3 * retryMs + 2 * second
  const came = await waitUntil(visit, longest, () => again(visit, made).length > 0)
  return came === undefined
    ? [`an event that was answered ${how} was never redelivered, though one answered with 500 was`]
    : []
}

/**
 * An acknowledged event may come again ("duplicates are possible"); but where each one that was answered so does, and
 * none that was answered at once with 204, it was not taken for acknowledged.
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
