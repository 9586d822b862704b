import { isoTime } from '../wording/time.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import type { Batch } from '../batch/batch.ts'
import type { Submission } from '../submission/submission.ts'

/** Why an order needs a person, in order of precedence. */
export const attentionKinds = [
  'unknown',
  'halted',
  'error',
  'cancelled',
  'rejected',
  'invalid',
  'held',
  'stopped',
  'waiting',
] as const
export type AttentionKind = (typeof attentionKinds)[number]

export type Attention = ReturnType<typeof attentionFor>

const dayMs = 86_400_000
/** A request that goes on for longer is worth a look. */
export const longWaitDays = 7
/** A rejected row is listed for so long. */
export const endedDays = 30

/** An order as it is listed for a person. */
export type SeenRow = Pick<
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
> & { email?: string | undefined }

/** What it is of: a file's batch by its name. */
type SeenBatch = Pick<Batch, 'id' | 'kind' | 'name'>

/** What is wrong with one order; undefined where nothing is. `reason`: why, where that is known. */
export function attentionOf(
  row: SeenRow,
  batch: SeenBatch,
  reason: string | null,
  now: number,
): Attention | undefined {
  const found = kindOf(row, batch, now)
  if (found === undefined) return undefined
  return attentionFor(found.kind, batch, { ...found, reason, row })
}

/** Something that does not go on by itself. Times are ISO 8601. `row`: undefined where it is about the batch as a whole. */
function attentionFor(
  kind: AttentionKind,
  { id, kind: batchKind, name }: SeenBatch,
  { since, reason, row }: { since: number; reason: string | null; row?: SeenRow },
) {
  const requestIds = row?.requestId === undefined ? [] : [row.requestId]
  return {
    kind,
    batch_id: id,
    /** What its file is called; null for a single order. */
    batch: batchKind === 'file' ? name : null,
    row: row?.row ?? null,
    request_id: row?.requestId ?? null,
    first_name: row?.recipient?.first_name ?? null,
    last_name: row?.recipient?.last_name ?? null,
    email: row?.recipient?.email ?? row?.email ?? null,
    reason,
    since: isoTime(since),
    /** What to run next. */
    command: commandFor(kind, { batchId: id, requestIds }),
  }
}

function kindOf(
  row: SeenRow,
  batch: SeenBatch,
  now: number,
): { kind: AttentionKind; since: number } | undefined {
  const { state, changedAt } = row
  if (state === 'unknown' || state === 'held' || state === 'invalid') return { kind: state, since: changedAt }
  // A single order printed its error when it was made.
  if (state === 'rejected' && batch.kind === 'file' && isRecent(changedAt, now))
    return { kind: 'rejected', since: changedAt }
  if (state !== 'accepted') return undefined
  const { requestStatus: status, requestStatusAt: readAt = changedAt } = row
  if (status === 'ERROR' || status === 'CANCELLED') {
    const kind = status === 'ERROR' ? 'error' : 'cancelled'
    return row.acknowledgedAt === undefined ? { kind, since: readAt } : undefined
  }
  const orderedAt = row.attemptedAt ?? row.addedAt
  const isLong = now - orderedAt > longWaitDays * dayMs
  return isLong && !terminalStatuses.includes(status ?? '')
    ? { kind: 'waiting', since: orderedAt }
    : undefined
}

const isRecent = (at: number, now: number): boolean => now - at <= endedDays * dayMs

/** A stopped batch with rows that are to be sent; undefined for any other. */
export function batchAttention(batch: Batch): Attention | undefined {
  const { kind, counts, halt, holder, queuedAt, changedAt } = batch
  if (kind !== 'file' || counts.pending === 0 || holder !== undefined) return undefined
  if (halt === undefined && queuedAt !== undefined) return undefined
  return attentionFor(halt === undefined ? 'stopped' : 'halted', batch, {
    since: halt?.at ?? changedAt,
    reason: halt?.message ?? null,
  })
}

interface About {
  batchId: string | undefined
  requestIds: readonly string[]
}

/** As it can be pasted. */
function commandFor(kind: AttentionKind, { batchId, requestIds }: About): string {
  const [requestId, ...more] = requestIds
  const one = more.length === 0 && requestId !== undefined ? `refcheck request get ${requestId}` : undefined
  const ofBatch = batchId === undefined ? '' : ` --batch ${batchId}`
  switch (kind) {
    case 'unknown':
      return `refcheck batch reconcile ${batchId ?? ''}`.trimEnd()
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
      return one ?? `refcheck request list${ofBatch} --status ${kind}`
    case 'waiting':
      return one ?? `refcheck request list${ofBatch} --refresh --sort ordered_at`
  }
}

/** In order of precedence. */
export function sortAttention(attention: readonly Attention[]): Attention[] {
  return attention.toSorted(
    (one, other) => attentionKinds.indexOf(one.kind) - attentionKinds.indexOf(other.kind),
  )
}

export type AttentionGroup = ReturnType<typeof groupOf>

/** In order of precedence; rows of one batch together, and requests of all of them. */
export function groupAttention(attention: readonly Attention[]): AttentionGroup[] {
  const groups = new Map<string, Attention[]>()
  for (const each of attention) {
    const isOfAll = each.kind === 'error' || each.kind === 'cancelled' || each.kind === 'waiting'
    const key = `${attentionKinds.indexOf(each.kind)} ${isOfAll ? '' : each.batch_id}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [each])
    else group.push(each)
  }
  return [...groups]
    .sort(([one], [other]) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
    .map(([, items]) => groupOf(items))
}

/** What is listed in one entry, because one command handles all of it. */
function groupOf(items: Attention[]) {
  const [first] = items as [Attention]
  const isOfOne = items.every(({ batch_id: id }) => id === first.batch_id)
  return {
    kind: first.kind,
    batch: isOfOne ? first.batch : null,
    items,
    command: commandFor(first.kind, {
      batchId: isOfOne ? first.batch_id : undefined,
      requestIds: items.flatMap(({ request_id: id }) => id ?? []),
    }),
  }
}
