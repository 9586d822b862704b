import type { Batch } from '../../domain/batch/batch.ts'
import { heldElsewhere } from '../../domain/batch/standing.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { BatchPorts } from './standing.ts'
import type { Batches } from '../../store/ledger/batches.ts'

/** Rejected rows, or some of them, are queued again. How many. */
export async function retryBatch(
  { batches, clock }: BatchPorts,
  batch: Batch,
  rows: readonly number[] | undefined,
): Promise<number> {
  const hold = await batches.hold(batch.id)
  if (hold === undefined) throw heldElsewhere(await batches.find(batch.id))
  try {
    for (const row of rows ?? []) await requireRejected(batches, batch.id, row)
    return await batches.requeue(batch.id, clock.now(), rows)
  } finally {
    await hold.release()
  }
}

/** A row that was named is one that can be queued: above all none whose outcome is unknown. */
async function requireRejected(batches: Batches, batchId: string, number: number): Promise<void> {
  const { value: row } = await batches.rows(batchId, { after: number - 1, limit: 1 }).next()
  if (row?.row !== number) {
    throw new UsageError(`row ${number} is not in batch ${batchId}`, {
      hint: `List the rejected rows with: refcheck batch rows ${batchId} --state rejected`,
    })
  }
  if (row.state === 'rejected') return
  throw new UsageError(`row ${number} is ${row.state}; only rejected rows can be queued again`, {
    hint:
      row.state === 'unknown'
        ? `It may have been ordered. Settle it first with: refcheck batch reconcile ${batchId}`
        : `List the rejected rows with: refcheck batch rows ${batchId} --state rejected`,
  })
}
