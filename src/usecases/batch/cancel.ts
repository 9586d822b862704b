import type { Batch } from '../../domain/batch/batch.ts'
import { heldElsewhere } from '../../domain/batch/standing.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { BatchPorts } from './standing.ts'

const reason = 'cancelled before it was sent'

/** Every row that was not sent is `cancelled`, or those of some numbers. How many. A batch that runs is left alone. */
export async function cancelBatch(
  { batches, waiting, clock }: BatchPorts,
  batch: Batch,
  rows?: readonly number[],
): Promise<number> {
  const hold = await batches.hold(batch.id)
  if (hold === undefined) throw heldElsewhere(await batches.find(batch.id))
  try {
    if (rows === undefined) return await batches.cancelWaiting(batch.id, clock.now(), reason)
    for (const row of rows) {
      if (await waiting.cancelRow(batch.id, row, clock.now(), reason)) continue
      throw new UsageError(`row ${row} of batch ${batch.id} is not waiting to be sent`, {
        hint: `Rows that can be cancelled: refcheck batch rows ${batch.id} --state pending,held,duplicate`,
      })
    }
    return rows.length
  } finally {
    await hold.release()
  }
}
