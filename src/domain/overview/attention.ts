import { isUnfinished } from '../../contract/statuses.ts'
import { isoTime } from '../wording/time.ts'
import { joinFirst, personName } from '../wording/text.ts'
import type { KnownPerson, RequestResource } from '../../contract/request.ts'
import type { Batch, Halt } from '../batch/batch.ts'
import { serviceOf } from '../submission/identity.ts'
import type { Submission, SecondOrder } from '../submission/submission.ts'

/** Why an order needs a person, in order of precedence. */
export const attentionKinds = [
  'unknown',
  'second_order',
  'halted',
  'stopped',
  'error',
  'cancelled',
  'rejected',
  'invalid',
  'held',
  'waiting',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

export type Attention = ReturnType<typeof createAttention>

const dayMs = 86_400_000
/** A request that takes longer than this number of days is listed. */
export const longWaitDays = 7
/** The maximum number of people that a note names. */
const maxNamed = 3
/** A rejected or invalid row is listed for this number of days. */
export const maxRejectedDays = 30

/** The parts of an order that a list of attention needs. */
export type AttentionRow = Pick<
  Submission,
  | 'batchId'
  | 'row'
  | 'state'
  | 'requestId'
  | 'requestStatus'
  | 'requestStatusAt'
  | 'acknowledgedAt'
  | 'recipient'
  | 'attemptedAt'
  | 'addedAt'
  | 'changedAt'
> & { person?: KnownPerson; reason?: string | undefined }

/** The batch of an order. The batch of a file is listed by its name. */
type AttentionBatch = Pick<Batch, 'id' | 'kind' | 'name'>

/** Returns why an order needs a person; undefined if it does not. `reason` is the cause, if it is known. */
export function findAttention(
  row: AttentionRow,
  batch: AttentionBatch,
  reason: string | null,
  now: number,
): Attention | undefined {
  const kindAndTime = findKindAndTime(row, batch, now)
  if (kindAndTime === undefined) return undefined
  return createAttention(kindAndTime.kind, batch, { ...kindAndTime, reason, row })
}

/**
 * Creates an entry about an order that does not continue by itself. Times are ISO 8601. `row` is undefined if the
 * entry is about the whole batch.
 */
function createAttention(
  kind: AttentionKind,
  { id, kind: batchKind, name }: AttentionBatch,
  { since, reason, row }: { since: number; reason: string | null; row?: AttentionRow },
) {
  const requestIds = row?.requestId === undefined ? [] : [row.requestId]
  const person = row?.recipient ?? row?.person
  return {
    kind,
    batch_id: id,
    /** The name of its file; null for a single order. */
    batch: batchKind === 'file' ? name : null,
    row: row?.row ?? null,
    request_id: row?.requestId ?? null,
    first_name: person?.first_name ?? null,
    last_name: person?.last_name ?? null,
    email: person?.email ?? null,
    reason,
    since: isoTime(since),
    /** The command to run next. */
    command: commandFor(kind, { batchId: id, requestIds }),
  }
}

function findKindAndTime(
  row: AttentionRow,
  batch: AttentionBatch,
  now: number,
): { kind: AttentionKind; since: number } | undefined {
  const { state, changedAt } = row
  if (state === 'unknown' || state === 'held' || state === 'invalid') return { kind: state, since: changedAt }
  // `request create` printed the error when it made this order.
  if (state === 'rejected' && batch.kind === 'file' && isRecent(changedAt, now))
    return { kind: 'rejected', since: changedAt }
  if (state !== 'accepted') return undefined
  const { requestStatus: status, requestStatusAt: readAt = changedAt } = row
  if (isEndedWithoutResult(status)) {
    const kind = status === 'ERROR' ? 'error' : 'cancelled'
    return row.acknowledgedAt === undefined ? { kind, since: readAt } : undefined
  }
  const orderedAt = row.attemptedAt ?? row.addedAt
  const isLong = now - orderedAt > longWaitDays * dayMs
  return isLong && isUnfinished(status) ? { kind: 'waiting', since: orderedAt } : undefined
}

export const isEndedWithoutResult = (status: string | undefined): boolean =>
  status === 'ERROR' || status === 'CANCELLED'

/**
 * Returns the newest of some orders that is of the same package and service as a failed request, is another request, and
 * has a result or may still get one.
 */
export const findOtherOrder = (
  orders: readonly Submission[],
  failed: Pick<Submission, 'baseUrl' | 'requestId'> & { packageId: number | undefined },
): Submission | undefined =>
  orders.findLast(
    ({ packageId, baseUrl, requestId, requestStatus }) =>
      packageId === failed.packageId &&
      serviceOf(baseUrl) === serviceOf(failed.baseUrl) &&
      requestId !== failed.requestId &&
      !isEndedWithoutResult(requestStatus),
  )

/** Returns the note about requests that `status` no longer lists because the user has read them. */
export function unlistedText(requests: readonly Pick<RequestResource, 'recipient' | 'status'>[]): string {
  const names = requests.map(({ recipient }) => personName(recipient)).join(', ')
  const statuses = new Set(requests.map(({ status }) => status.toLowerCase()))
  const filter = statuses.size === 1 ? ` --status ${[...statuses].join('')}` : ''
  return `Looked at: "refcheck status" does not list ${names} any more.\nFind such requests with: refcheck request list${filter}`
}

/**
 * Whether a completed request that was looked at may still get a report: its completion was read less than a day ago.
 */
export const isReportAwaited = (
  { requestStatusAt, acknowledgedAt }: Pick<AttentionRow, 'requestStatusAt' | 'acknowledgedAt'>,
  now: number,
): boolean => acknowledgedAt !== undefined && requestStatusAt !== undefined && now - requestStatusAt < dayMs

/** Returns the note about completed requests without a report, which `status` does not count as new reports any more. */
export function noReportText(requests: readonly Pick<RequestResource, 'recipient' | 'request_id'>[]): string {
  const named = requests.slice(0, maxNamed)
  const names = named.map(({ recipient }) => personName(recipient))
  const ids = named.map(({ request_id: id }) => id.slice(0, 8)).join(' ')
  return `No report yet for ${joinFirst(names, maxNamed, requests.length)}. "refcheck report sync" looks for it each time.\nSee the checks with: refcheck request get ${ids}`
}

/** Whether a row that was not ordered is new enough to be listed. */
export const isRecent = (time: number, now: number): boolean => now - time <= maxRejectedDays * dayMs

/** Returns an entry for an order whose person has a request that this store did not order. */
export const secondOrderAttention = (
  order: AttentionRow,
  batch: AttentionBatch,
  { requestId, createdAt }: SecondOrder,
): Attention =>
  createAttention('second_order', batch, {
    since: Date.parse(createdAt),
    reason: null,
    row: { ...order, requestId },
  })

/** Returns an entry for a stopped batch with pending rows; undefined for any other batch. */
export function batchAttention(batch: Batch): Attention | undefined {
  const { kind, counts, halt, holder, queuedAt, changedAt } = batch
  if (kind !== 'file' || counts.pending === 0 || holder !== undefined) return undefined
  if (halt === undefined && queuedAt !== undefined) return undefined
  const attention = createAttention(halt === undefined ? 'stopped' : 'halted', batch, {
    since: halt?.at ?? changedAt,
    reason: halt?.message ?? null,
  })
  return halt?.code === 'not_found'
    ? { ...attention, command: replacePackageCommand(batch.id, halt) }
    : attention
}

/**
 * Returns an entry for a batch without pending rows, in which duplicates of cancelled rows can be ordered. `people`: their
 * names.
 */
export const freedAttention = (batch: Batch, people: string): Attention =>
  createAttention('stopped', batch, {
    since: batch.changedAt,
    reason: `duplicates of cancelled rows, not ordered: ${people}`,
  })

/**
 * Returns the next command for a batch whose package can no longer be ordered: the move to the successor, if the hint
 * of the halt names it, or else the status, which shows that hint.
 */
function replacePackageCommand(batchId: string, { hint = '' }: Halt): string {
  const [moveCommand] = /refcheck batch move \S+ --package \d+/.exec(hint) ?? []
  return moveCommand ?? `refcheck batch status ${batchId}`
}

interface CommandSubject {
  batchId: string | undefined
  requestIds: readonly string[]
}

/** Returns the command to run next for an entry or a group of entries. */
function commandFor(kind: AttentionKind, { batchId, requestIds }: CommandSubject): string {
  const [requestId, ...otherIds] = requestIds
  const readRequest =
    otherIds.length === 0 && requestId !== undefined ? `refcheck request get ${requestId}` : undefined
  const batchFlag = batchId === undefined ? '' : ` --batch ${batchId}`
  switch (kind) {
    case 'unknown':
      return `refcheck batch reconcile ${batchId ?? ''}`.trimEnd()
    case 'second_order':
      return 'refcheck batch reconcile'
    case 'held':
      return `refcheck batch release ${batchId ?? ''}`.trimEnd()
    case 'rejected':
    case 'invalid':
      return `refcheck batch rows ${batchId ?? ''} --state ${kind}`
    case 'halted':
    case 'stopped':
      return `refcheck batch resume ${batchId ?? ''}`
    case 'error':
    case 'cancelled':
      return readRequest ?? `refcheck request list${batchFlag} --status ${kind}`
    case 'waiting':
      return readRequest ?? `refcheck request list${batchFlag} --refresh --sort ordered_at`
  }
}

/** Sorts entries by the precedence of their kinds. */
export function sortAttention(attention: readonly Attention[]): Attention[] {
  return attention.toSorted(
    (one, other) => attentionKinds.indexOf(one.kind) - attentionKinds.indexOf(other.kind),
  )
}

export type AttentionGroup = ReturnType<typeof groupOf>

/**
 * Groups entries by the precedence of their kinds. Entries about rows are grouped by batch, those about requests are
 * grouped across batches.
 */
export function groupAttention(attention: readonly Attention[]): AttentionGroup[] {
  const groups = new Map<string, Attention[]>()
  for (const each of attention) {
    const isAcrossBatches = ['second_order', 'error', 'cancelled', 'waiting'].includes(each.kind)
    const key = `${attentionKinds.indexOf(each.kind)} ${isAcrossBatches ? '' : each.batch_id}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [each])
    else group.push(each)
  }
  return [...groups]
    .sort(([one], [other]) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
    .map(([, items]) => groupOf(items))
}

/** Returns one group. One command handles all of its entries. */
function groupOf(items: Attention[]) {
  const [first] = items as [Attention]
  const isOneBatch = items.every(({ batch_id: id }) => id === first.batch_id)
  return {
    kind: first.kind,
    batch: isOneBatch ? first.batch : null,
    items,
    command:
      first.kind === 'halted' || first.kind === 'stopped'
        ? first.command
        : commandFor(first.kind, {
            batchId: isOneBatch ? first.batch_id : undefined,
            requestIds: items.flatMap(({ request_id: id }) => id ?? []),
          }),
  }
}
