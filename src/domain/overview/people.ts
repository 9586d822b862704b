import type { ServiceUser } from '../request/listed-request.ts'
import { missingPersonText } from '../wording/text.ts'
import { isoTime, localDay } from '../wording/time.ts'
import type { BatchRow, Match } from '../batch/batch.ts'
import { openOrderKey, isLeftOutAsSimilar, isPerhapsOrderedOtherwise } from '../batch/batch-status.ts'
import { samePersonReason } from '../submission/duplicate.ts'
import type { Submission } from '../submission/submission.ts'
import type { AttentionRow } from './attention.ts'

/** The status of a row that the user left out. It differs from CANCELLED, which is a status of a request. */
export const leftOutStatus = 'left out'

export type PersonRow = ReturnType<typeof personRow>

/**
 * Returns a person who was checked or will be checked, for a list. Times are ISO 8601. `earlierOrder`: the accepted
 * order that the row repeats; the list shows the status of that order, although this row was not ordered.
 */
export function personRow(
  row: AttentionRow & {
    packageId: number | undefined
    matches?: (Pick<Match, 'requestId' | 'batchId' | 'row'> & Partial<Match>) | undefined
  },
  { baseUrl, userEmail }: ServiceUser,
  earlierOrder?: Pick<
    Submission,
    'requestId' | 'requestStatus' | 'requestStatusAt' | 'attemptedAt' | 'changedAt'
  >,
) {
  const { state, recipient, person = recipient ?? {} } = row
  const order = state === 'accepted' ? row : earlierOrder
  const isDuplicate = state === 'duplicate' || (state === 'cancelled' && row.reason === samePersonReason)
  const perhapsOrdered =
    isPerhapsOrderedOtherwise(row) || openOrderKey(row) !== undefined ? row.matches : undefined
  const isRecovered = (state === 'accepted' || state === 'unknown') && row.reason !== undefined
  const missingName = isRecovered ? missingPersonText(row.reason) : ''
  return {
    /** Empty for a person who was removed. */
    name: `${person.first_name ?? ''} ${person.last_name ?? ''}`.trim() || missingName,
    email: person.email ?? '',
    package_id: row.packageId ?? null,
    /** The service and user that the package belongs to. */
    user: { baseUrl, userEmail },
    /** The last read status of the request; for other rows the state of the row. */
    status:
      order === undefined
        ? (perhapsOrdered?.state ??
          (isDuplicate ? 'duplicate' : state === 'cancelled' ? leftOutStatus : state))
        : (order.requestStatus ?? 'RECEIVED'),
    /** Whether another row ordered the request, or may have ordered it. */
    is_repeat: perhapsOrdered !== undefined || (order !== undefined && order !== row),
    /** Whether the request ended without a result, and another order of the person has one or may still get it. */
    is_ordered_again: false as boolean,
    /** When the order was sent; set only if it was accepted. */
    ordered_at: order === undefined ? null : isoTime(order.attemptedAt),
    read_at: order === undefined ? null : isoTime(order.requestStatusAt ?? order.changedAt),
    /** For a duplicate, the id of the request that it repeats. */
    request_id: (order ?? row).requestId ?? (isDuplicate ? row.matches?.requestId : undefined) ?? null,
    batch_id: row.batchId,
    row: row.row,
    /** The key of the other row by which the person may have been ordered. */
    perhaps_ordered_by: perhapsOrdered === undefined ? null : rowKey(perhapsOrdered),
    /** For a duplicate, the row of the same file that it repeats. */
    same_as_row: isDuplicate && row.matches?.batchId === row.batchId ? row.matches.row : null,
  }
}

/**
 * Returns the key of the accepted order of another batch that a row repeats, or of the later order by which the person
 * of a rejected, cancelled or invalid row is ordered; undefined if the row repeats none, or only another row of its file.
 */
export function repeatedOrderKey(
  row: Pick<BatchRow, 'state' | 'heldFor' | 'reason' | 'matches' | 'batchId'>,
): string | undefined {
  const isRepeat =
    ['duplicate', 'rejected', 'cancelled', 'invalid'].includes(row.state) && !isLeftOutAsSimilar(row)
  const { matches, batchId } = row
  if (!isRepeat || matches?.state !== 'accepted') return undefined
  return matches.batchId === batchId && matches.laterBatch === undefined ? undefined : rowKey(matches)
}

export const rowKey = ({ batchId, row }: Pick<Match, 'batchId' | 'row'>): string => `${batchId} ${row}`

/** Removes the rows that repeat a row or a request of this list, so that each is counted once. */
export function removeDuplicates(rows: readonly PersonRow[]): PersonRow[] {
  const isDuplicate = ({ status, is_repeat: isRepeat }: PersonRow): boolean =>
    isRepeat || status === 'duplicate'
  const keys = new Set(rows.map(({ batch_id: batchId, row }) => rowKey({ batchId, row })))
  const requests = new Set(rows.flatMap((row) => (isDuplicate(row) ? [] : (row.request_id ?? []))))
  return rows.filter((row) => {
    if (!isDuplicate(row)) return true
    const { request_id: id, same_as_row: first, batch_id: batchId, perhaps_ordered_by: orderKey } = row
    if (orderKey !== null && keys.has(orderKey)) return false
    if (first !== null && keys.has(rowKey({ batchId, row: first }))) return false
    const isCounted = id !== null && requests.has(id)
    if (id !== null) requests.add(id)
    return !isCounted
  })
}

/** Counts the people of these rows. A person is identified by the name and the e-mail, and may have several orders. */
export function countPeople(rows: readonly Pick<PersonRow, 'name' | 'email' | 'batch_id' | 'row'>[]): number {
  // The e-mail of an erased person is empty.
  const keyOf = ({ name, email, batch_id: id, row }: (typeof rows)[number]): string =>
    email === '' ? `${id} ${row}` : `${name} ${email}`.toLowerCase()
  return new Set(rows.map(keyOf)).size
}

/** The order of statuses in a chart: finished, in progress, waiting for a person, ended without a result. */
const chartOrder = [
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
  leftOutStatus,
  'dropped',
]

/** Counts the rows that were or will be checked. Rows that were left out or dropped are not counted. */
export function countOrders(rows: readonly Pick<PersonRow, 'status'>[]): number {
  return rows.filter(({ status }) => status !== leftOutStatus && status !== 'dropped').length
}

/** Counts rows by status, in the order of a chart. */
export function statusCounts(
  people: readonly Pick<PersonRow, 'status'>[],
): [status: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { status } of people) counts.set(status, (counts.get(status) ?? 0) + 1)
  return statusesInOrder(counts)
}

/** Sorts counts of statuses in the order of a chart. Unknown statuses come last. */
export function statusesInOrder(
  counts: Iterable<readonly [status: string, count: number]>,
): [status: string, count: number][] {
  const rank = (status: string): number =>
    chartOrder.includes(status) ? chartOrder.indexOf(status) : chartOrder.length
  return Array.from(counts, ([status, count]): [string, number] => [status, count]).sort(
    ([one], [other]) => rank(one) - rank(other),
  )
}

/** The orders and completions within one period of local time. */
export interface TimeBucket {
  label: string
  orderCount: number
  completionCount: number
}

interface Timeline {
  /** The period of one bucket. */
  unit: 'hour' | 'day' | 'week' | 'month'
  buckets: TimeBucket[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The maximum number of bars that a reader can distinguish. */
const maxBars = 36

/** Counts orders and completions (wall times in ms) with the shortest period that gives at most `maxBars` bars. */
export function timelineOf(
  orderTimes: readonly number[],
  completionTimes: readonly number[],
): Timeline | undefined {
  const times = [...orderTimes, ...completionTimes]
  if (times.length === 0) return undefined
  const first = times.reduce((one, other) => Math.min(one, other))
  const last = times.reduce((one, other) => Math.max(one, other))
  const spanMs = last - first
  const unit =
    spanMs <= dayMs
      ? 'hour'
      : spanMs <= maxBars * dayMs
        ? 'day'
        : spanMs <= maxBars * 7 * dayMs
          ? 'week'
          : 'month'
  const buckets = new Map<number, TimeBucket>()
  // Empty buckets are shown too.
  for (let start = bucketStart(first, unit); start <= last; start = nextStart(start, unit))
    buckets.set(start, { label: bucketLabel(start, unit), orderCount: 0, completionCount: 0 })
  for (const time of orderTimes) addToBucket(buckets.get(bucketStart(time, unit)), 'orderCount')
  for (const time of completionTimes) addToBucket(buckets.get(bucketStart(time, unit)), 'completionCount')
  return { unit, buckets: [...buckets.values()] }
}

function addToBucket(bucket: TimeBucket | undefined, kind: 'orderCount' | 'completionCount'): void {
  if (bucket !== undefined) bucket[kind] += 1
}

function bucketStart(time: number, unit: Timeline['unit']): number {
  const date = new Date(time)
  if (unit === 'hour') return date.setMinutes(0, 0, 0)
  date.setHours(0, 0, 0, 0)
  if (unit === 'week') date.setDate(date.getDate() - ((date.getDay() + 6) % 7))
  if (unit === 'month') date.setDate(1)
  return date.getTime()
}

/** Returns the start of the next bucket by the calendar, so that a day of 23 or 25 hours is one day. */
function nextStart(start: number, unit: Timeline['unit']): number {
  const date = new Date(start)
  if (unit === 'hour') return start + hourMs
  if (unit === 'month') return date.setMonth(date.getMonth() + 1)
  return date.setDate(date.getDate() + (unit === 'week' ? 7 : 1))
}

function bucketLabel(start: number, unit: Timeline['unit']): string {
  const day = localDay(start)
  if (unit === 'hour') return `${String(new Date(start).getHours()).padStart(2, '0')}:00`
  return unit === 'month' ? day.slice(0, 7) : day.slice(5)
}
