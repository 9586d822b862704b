import { readValue } from './answer.ts'
import { requireTestable, requireValue } from './case.ts'
import { type Journey, followAll, terminalStatuses } from './journey.ts'
import type { Delivery, Receiver } from './receiver.ts'
import type { CaseContext } from './case-context.ts'

/** Functions for cases about the events that arrived at the receiver. */

export const requireReceiver = ({ receiver }: CaseContext): Receiver =>
  requireValue(receiver, 'events are not received: add --webhook-port PORT, or --control on a sandbox')

export const isAbout = (delivery: Delivery, requestId: string): boolean =>
  String(readValue(delivery.json, 'request_id')).toLowerCase() === requestId.toLowerCase()

export const statusOf = (delivery: Delivery): string => String(readValue(delivery.json, 'status'))

/** Returns the identity of an event: "The pair (request_id, status) identifies a status update". */
export const identifyUpdate = (delivery: Delivery): string =>
  `${String(readValue(delivery.json, 'request_id'))} ${statusOf(delivery)}`

/** Returns the statuses that reads of a request had and that no event reported. */
export function findStatusesWithoutEvent(
  { order, reads }: Journey,
  deliveries: readonly Delivery[],
): string[] {
  const reportedStatuses = new Set(deliveries.filter((each) => isAbout(each, order.requestId)).map(statusOf))
  const [firstStatus = '', ...laterStatuses] = new Set(reads.map(({ status }) => status))
  const expectedStatuses = firstStatus === 'RECEIVED' ? laterStatuses : [firstStatus, ...laterStatuses]
  return expectedStatuses.filter((status) => !reportedStatuses.has(status))
}

/** Statuses in ascending rank. A request never returns to a lower rank. */
const ranks = ['RECEIVED', 'IN_PROGRESS', 'PARTIAL']
export const findRank = (status: string): number =>
  terminalStatuses.has(status) ? ranks.length : ranks.indexOf(status)

/**
 * Milliseconds for which events are awaited and between two checks, if the clock can be advanced. The
 * document states no limit.
 */
const eventWait = { maxMs: 3_600_000, stepMs: 60_000 }

/** Returns all events that arrived, after all requests were followed to their end. */
export async function collectEvents(context: CaseContext): Promise<readonly Delivery[]> {
  const receiver = requireReceiver(context)
  const journeys = await followAll(context)
  requireTestable(
    journeys.some(({ reads }) => new Set(reads.map(({ status }) => status)).size > 1),
    'no request changed its status: follow it for longer with --watch',
  )
  await context.once('last events', async () => {
    const endedJourneys = journeys.filter((each) => each.hasEnded)
    const haveAllArrived = (): boolean =>
      endedJourneys.every((each) => findStatusesWithoutEvent(each, receiver.deliveries).length === 0)
    const { maxMs, stepMs } = context.deploymentClock.isManual
      ? eventWait
      : { maxMs: context.watchMs, stepMs: 200 }
    for (let waitedMs = 0; !haveAllArrived() && waitedMs < maxMs; waitedMs += stepMs)
      await context.deploymentClock.pause(stepMs)
  })
  return receiver.deliveries
}
