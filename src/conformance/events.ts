import { field } from './answer.ts'
import { unless } from './case.ts'
import { type Journey, journeys, terminal } from './journey.ts'
import type { Delivery, Receiver } from './receiver.ts'
import type { Visit } from './visit.ts'

/** Helpers for cases about the events that arrived at the receiver. */

export function receiverOf({ receiver }: Visit): Receiver {
  unless(
    receiver !== undefined,
    'events are not received: add --webhook-port PORT, or --control on a sandbox',
  )
  return receiver
}

export const about = (delivery: Delivery, requestId: string): boolean =>
  String(field(delivery.json, 'request_id')).toLowerCase() === requestId.toLowerCase()

export const statusOf = (delivery: Delivery): string => String(field(delivery.json, 'status'))

/** Returns the identity of an event: "The pair (request_id, status) identifies a status update". */
export const updateOf = (delivery: Delivery): string =>
  `${String(field(delivery.json, 'request_id'))} ${statusOf(delivery)}`

/** Returns the statuses that a request was read with and that no event reported. */
export function unannounced({ ordered, sightings }: Journey, deliveries: readonly Delivery[]): string[] {
  const sent = new Set(deliveries.filter((each) => about(each, ordered.requestId)).map(statusOf))
  const [first = '', ...changes] = new Set(sightings.map(({ status }) => status))
  const expected = first === 'RECEIVED' ? changes : [first, ...changes]
  return expected.filter((status) => !sent.has(status))
}

/** Statuses in ascending rank; a request never returns to a lower rank. */
const ranks = ['RECEIVED', 'IN_PROGRESS', 'PARTIAL']
export const rankOf = (status: string): number =>
  terminal.has(status) ? ranks.length : ranks.indexOf(status)

/**
 * Wait for events if the clock can be advanced, and the step between two looks, in milliseconds. The document states
 * no limit.
 */
const patience = { longest: 3_600_000, step: 60_000 }

/** Returns all events that arrived, after all requests were followed to their end. */
export async function arrived(visit: Visit): Promise<readonly Delivery[]> {
  const receiver = receiverOf(visit)
  const followed = await journeys(visit)
  unless(
    followed.some(({ sightings }) => new Set(sightings.map(({ status }) => status)).size > 1),
    'no request changed its status: follow it for longer with --watch',
  )
  await visit.once('last events', async () => {
    const ended = followed.filter((each) => each.ended)
    const there = (): boolean => ended.every((each) => unannounced(each, receiver.deliveries).length === 0)
    const { longest, step } = visit.pace.exact ? patience : { longest: visit.watchMs, step: 200 }
    for (let waited = 0; !there() && waited < longest; waited += step) await visit.pace.pause(step)
  })
  return receiver.deliveries
}
