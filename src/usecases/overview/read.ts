import type { Batch } from '../../domain/batch/batch.ts'
import { listedRow } from '../../domain/batch/standing.ts'
import {
  type Attention,
  attentionInOrder,
  attentionOf,
  batchAttention,
} from '../../domain/overview/attention.ts'
import {
  type BatchProgressNow,
  countedStatuses,
  type Overview,
  overviewOf,
} from '../../domain/overview/overview.ts'
import { countedChecks } from '../../domain/request/check-counts.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import type { Clock } from '../../host/clock.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import { errorReason } from '../request/error-reasons.ts'

export interface OverviewPorts {
  ledger: Pick<Ledger, 'recover' | 'list'>
  batches: Pick<Batches, 'list' | 'rows'>
  inbox: Pick<Inbox, 'list'>
  clock: Pick<Clock, 'now'>
  /** Reports on disk by requestKey; undefined where no folder is set for them. */
  files: () => Promise<ReadonlyMap<string, number> | undefined>
}

/** States of rows that somebody may have to look at; an invalid one was told of when its file was taken in. */
const unsent: readonly SubmissionState[] = ['unknown', 'rejected', 'held']
export const unsentOfBatch: readonly SubmissionState[] = [...unsent, 'invalid']

/** All that the store knows. Orders whose process died on the way are found by it, and become `unknown`. */
export async function readOverview(ports: OverviewPorts): Promise<Overview> {
  const { ledger, batches: stored, clock, files } = ports
  const now = clock.now()
  await ledger.recover(now)
  const batches = await stored.list({ singles: true })
  const accepted = await ledger.list({ states: ['accepted'] })
  const attention = await attentionIn(ports, batches, accepted, now)
  return overviewOf({ accepted, batches, attention, files: await files() }, now)
}

/** What needs a person in these batches; `accepted`: the orders of them that the service accepted. */
export async function attentionIn(
  { batches, inbox }: Pick<OverviewPorts, 'batches' | 'inbox'>,
  all: readonly Batch[],
  accepted: readonly Submission[],
  now: number,
  states = unsent,
): Promise<Attention[]> {
  const found: Attention[] = []
  for (const batch of all) {
    const still = batchAttention(batch)
    if (still !== undefined) found.push(still)
    if (states.every((state) => batch.counts[state] === 0)) continue
    for await (const row of batches.rows(batch.id, { states })) {
      const each = attentionOf(row, batch, listedRow(row).error, now)
      if (each !== undefined) found.push(each)
    }
  }
  const byId = new Map(all.map((batch) => [batch.id, batch]))
  for (const order of accepted) {
    const batch = byId.get(order.batchId)
    const each = batch && attentionOf(order, batch, null, now)
    if (each === undefined) continue
    const reason =
      each.kind === 'error' ? await errorReason(inbox, order.baseUrl, order.requestId ?? '') : undefined
    found.push({ ...each, reason: reason ?? null })
  }
  return found
}

/** How a batch's checks go, and who of it needs somebody. */
export async function readBatchProgress(ports: OverviewPorts, batch: Batch): Promise<BatchProgressNow> {
  const accepted = await ports.ledger.list({ states: ['accepted'], batchId: batch.id })
  const attention = await attentionIn(ports, [batch], accepted, ports.clock.now(), unsentOfBatch)
  return {
    statuses: countedStatuses(accepted),
    checks: countedChecks(accepted),
    attention: attentionInOrder(attention),
  }
}
