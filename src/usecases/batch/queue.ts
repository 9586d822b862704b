import type { Batch } from '../../domain/batch/batch.ts'
import { type BatchPorts, findBatch } from './standing.ts'

/** Leaves a batch for a worker; what halted it before does no more. */
export async function queueBatch(ports: BatchPorts, batchId: string): Promise<Batch> {
  await ports.batches.recordHalt(batchId, undefined)
  await ports.batches.recordQueued(batchId, ports.clock.now())
  return findBatch(ports, batchId)
}
