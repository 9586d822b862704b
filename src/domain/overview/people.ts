import type { ServiceUser } from '../request/listing.ts'
import type { SeenRow } from './attention.ts'

/** Somebody who was or is to be checked, as a page lists them. Times are ISO 8601. */
export interface PersonRow {
  name: string
  email: string
  package_id: number | null
  /** Whose package it is. */
  user: ServiceUser
  /** The request's as last heard, or else the row's state. */
  status: string
  ordered_at: string | null
  /** When its status was heard of last. */
  heard_at: string | null
  request_id: string | null
  batch_id: string
  row: number
}

/** One order or row as a page lists it. */
export function personRow(
  row: SeenRow & { packageId: number | undefined },
  { baseUrl, userEmail }: ServiceUser,
): PersonRow {
  const { state, recipient, requestStatus, attemptedAt, requestStatusAt } = row
  const isTold = state === 'accepted'
  return {
    name: recipient === undefined ? '' : `${recipient.first_name} ${recipient.last_name}`.trim(),
    email: recipient?.email ?? row.email ?? '',
    package_id: row.packageId ?? null,
    user: { baseUrl, userEmail },
    status: isTold ? (requestStatus ?? 'RECEIVED') : state,
    ordered_at: isoTime(attemptedAt),
    heard_at: isTold ? isoTime(requestStatusAt ?? row.changedAt) : null,
    request_id: row.requestId ?? null,
    batch_id: row.batchId,
    row: row.row,
  }
}

const isoTime = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

/** What is best comes first in a chart: what is finished, what goes on, then what needs somebody, then what is over. */
const order = [
  'COMPLETED',
  'PARTIAL',
  'IN_PROGRESS',
  'RECEIVED',
  'sending',
  'pending',
  'held',
  'duplicate',
  'unknown',
  'ERROR',
  'rejected',
  'invalid',
  'CANCELLED',
  'cancelled',
  'dropped',
]

/** How many of them have which status, in the order of a chart. */
export function statusCounts(
  people: readonly Pick<PersonRow, 'status'>[],
): [status: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { status } of people) counts.set(status, (counts.get(status) ?? 0) + 1)
  return statusesInOrder(counts)
}

/** Counts of statuses in the order of a chart; one we do not know comes last. */
export function statusesInOrder(
  counts: Iterable<readonly [status: string, count: number]>,
): [status: string, count: number][] {
  const rank = (status: string): number => (order.includes(status) ? order.indexOf(status) : order.length)
  return Array.from(counts, ([status, count]): [string, number] => [status, count]).sort(
    ([one], [other]) => rank(one) - rank(other),
  )
}
