import { field } from './answer.ts'
import { unless } from './case.ts'
import { journeys, terminal } from './journey.ts'
import type { Delivery, Receiver } from './receiver.ts'
import type { Visit } from './visit.ts'

/** What arrived at the receiver, as cases read it. */

export function receiverOf({ receiver }: Visit): Receiver {
  unless(receiver !== undefined, 'no receiver for events was allowed')
  return receiver
}

export const about = (delivery: Delivery, requestId: string): boolean =>
  String(field(delivery.json, 'request_id')).toLowerCase() === requestId.toLowerCase()

export const statusOf = (delivery: Delivery): string => String(field(delivery.json, 'status'))

/** "The pair (request_id, status) identifies a status update". */
export const updateOf = (delivery: Delivery): string =>
  `${String(field(delivery.json, 'request_id'))} ${statusOf(delivery)}`

/** How far on a status is; a request never goes back. */
const ranks = ['RECEIVED', 'IN_PROGRESS', 'PARTIAL']
export const rankOf = (status: string): number =>
  terminal.has(status) ? ranks.length : ranks.indexOf(status)

/** Milliseconds that the last event may take, and between two looks: where time goes by itself, and where it is moved. */
const patience = { real: { longest: 5000, step: 200 }, exact: { longest: 3_600_000, step: 60_000 } }

/** Everything that arrived, once the requests that can be followed have been. */
export async function arrived(visit: Visit): Promise<readonly Delivery[]> {
  const receiver = receiverOf(visit)
  const followed = await journeys(visit)
  unless(
    followed.some(({ sightings }) => new Set(sightings.map(({ status }) => status)).size > 1),
    'no request changed its status in the time it was watched',
  )
  await visit.once('last events', async () => {
    const ended = followed.filter((each) => each.ended)
    const there = (): boolean =>
      ended.every(({ ordered, sightings }) => {
        const mine = receiver.deliveries.filter((each) => about(each, ordered.requestId))
        return mine.some((each) => statusOf(each) === sightings.at(-1)?.status)
      })
    const { longest, step } = visit.pace.exact ? patience.exact : patience.real
    for (let waited = 0; !there() && waited < longest; waited += step) await visit.pace.pause(step)
  })
  return receiver.deliveries
}
