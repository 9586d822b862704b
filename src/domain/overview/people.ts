import type { ServiceUser } from '../request/listed-request.ts'
import { isoTime, localDay } from '../wording/time.ts'
import type { Match } from '../batch/batch.ts'
import type { SeenRow } from './attention.ts'

/** A row that is never sent: the request of another may be CANCELLED. */
const leftOut = 'left out'

export type PersonRow = ReturnType<typeof personRow>

/** A person who was or is to be checked, as a page lists them. Times are ISO 8601. */
export function personRow(
  row: SeenRow & { packageId: number | undefined; matches?: Pick<Match, 'requestId'> | undefined },
  { baseUrl, userEmail }: ServiceUser,
) {
  const { state, recipient, requestStatus, attemptedAt, requestStatusAt } = row
  const isAccepted = state === 'accepted'
  const isOrdered = isAccepted || state === 'sending' || state === 'unknown'
  return {
    name: recipient === undefined ? '' : `${recipient.first_name} ${recipient.last_name}`.trim(),
    email: recipient?.email ?? row.email ?? '',
    package_id: row.packageId ?? null,
    /** Whose package it is. */
    user: { baseUrl, userEmail },
    /** The request's as last read, or else the row's state. */
    status: isAccepted ? (requestStatus ?? 'RECEIVED') : state === 'cancelled' ? leftOut : state,
    /** When it was sent, of one that was ordered or may have been. */
    ordered_at: isOrdered ? isoTime(attemptedAt) : null,
    read_at: isAccepted ? isoTime(requestStatusAt ?? row.changedAt) : null,
    /** Of a duplicate: the request that it belongs to. */
    request_id: row.requestId ?? (state === 'duplicate' ? row.matches?.requestId : undefined) ?? null,
    batch_id: row.batchId,
    row: row.row,
  }
}

/** Rows without the duplicates of a request that another of these rows has: it is counted there. */
export function withoutDuplicates(rows: readonly PersonRow[]): PersonRow[] {
  const isDuplicate = ({ status }: PersonRow): boolean => status === 'duplicate'
  const requests = new Set(rows.filter((row) => !isDuplicate(row)).map((row) => row.request_id))
  return rows.filter((row) => !isDuplicate(row) || !requests.has(row.request_id))
}

/** How many people these rows are of: a person is one by the e-mail, whatever was ordered. */
export function countPeople(rows: readonly Pick<PersonRow, 'email' | 'batch_id' | 'row'>[]): number {
  // Of a removed person no e-mail is left.
  return new Set(rows.map(({ email, batch_id: id, row }) => email.toLowerCase() || `${id} ${row}`)).size
}

/** The order in a chart: finished, in progress, in need of a person, ended otherwise. */
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
  leftOut,
  'dropped',
]

/** How many of these rows are or will be checked: not those that were left out or dropped. */
export function countOrders(rows: readonly Pick<PersonRow, 'status'>[]): number {
  return rows.filter(({ status }) => status !== leftOut && status !== 'dropped').length
}

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

/** What happened in one stretch of time, of the reader’s own clock. */
export interface TimeBucket {
  label: string
  ordered: number
  completed: number
}

interface Timeline {
  /** The stretch of one bucket. */
  per: 'hour' | 'day' | 'week' | 'month'
  buckets: TimeBucket[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Bars of distinguishable colours. */
const maxBars = 36

/** Orders and completions (wall times in ms), by the shortest stretch that keeps the bars few. */
export function timelineOf(ordered: readonly number[], completed: readonly number[]): Timeline | undefined {
  const all = [...ordered, ...completed]
  if (all.length === 0) return undefined
  const first = all.reduce((one, other) => Math.min(one, other))
  const last = all.reduce((one, other) => Math.max(one, other))
  const span = last - first
  const per =
    span <= dayMs ? 'hour' : span <= maxBars * dayMs ? 'day' : span <= maxBars * 7 * dayMs ? 'week' : 'month'
  const buckets = new Map<number, TimeBucket>()
  // Empty buckets are shown too.
  for (let at = startOf(first, per); at <= last; at = next(at, per))
    buckets.set(at, { label: labelOf(at, per), ordered: 0, completed: 0 })
  for (const at of ordered) countIn(buckets.get(startOf(at, per)), 'ordered')
  for (const at of completed) countIn(buckets.get(startOf(at, per)), 'completed')
  return { per, buckets: [...buckets.values()] }
}

function countIn(bucket: TimeBucket | undefined, what: 'ordered' | 'completed'): void {
  if (bucket !== undefined) bucket[what] += 1
}

function startOf(at: number, per: Timeline['per']): number {
  const date = new Date(at)
  if (per === 'hour') return date.setMinutes(0, 0, 0)
  date.setHours(0, 0, 0, 0)
  if (per === 'week') date.setDate(date.getDate() - ((date.getDay() + 6) % 7))
  if (per === 'month') date.setDate(1)
  return date.getTime()
}

/** By the calendar, so that a day of 23 or 25 hours is one. */
function next(at: number, per: Timeline['per']): number {
  const date = new Date(at)
  if (per === 'hour') return at + hourMs
  if (per === 'month') return date.setMonth(date.getMonth() + 1)
  return date.setDate(date.getDate() + (per === 'week' ? 7 : 1))
}

function labelOf(at: number, per: Timeline['per']): string {
  const day = localDay(at)
  if (per === 'hour') return `${String(new Date(at).getHours()).padStart(2, '0')}:00`
  return per === 'month' ? day.slice(0, 7) : day.slice(5)
}
