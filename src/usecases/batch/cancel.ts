import type { Batch } from '../../domain/batch/batch.ts'
import { heldElsewhere } from '../../domain/batch/standing.ts'
import type { Stored } from './standing.ts'

/** `pending → cancelled` for every row that was not sent. How many. A batch that runs is left alone. */
export async function cancelBatch({ batches, clock }: Stored, batch: Batch): Promise<number> {
  const hold = await batches.hold(batch.id)
  if (hold === undefined) throw heldElsewhere(await batches.find(batch.id))
  try {
    return await batches.cancelPending(batch.id, clock.now(), 'dropped before it was sent')
  } finally {
    await hold.release()
  }
}
