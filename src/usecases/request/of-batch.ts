import { NotFoundError } from '../../errors/kinds.ts'
import { requireSameService } from '../batch/same-organisation.ts'
import { type BatchPorts, findBatch } from '../batch/read-batch.ts'

/** Ids of the requests of a batch of this service, in the order of its rows, and how many of its rows have none. */
export async function requestsOfBatch(
  ports: BatchPorts,
  named: string,
  baseUrl: string,
): Promise<{ batchId: string; requestIds: string[]; others: number }> {
  const batch = await findBatch(ports, named)
  const { id: batchId, name, counts } = batch
  requireSameService(batch, { baseUrl })
  const accepted = await ports.ledger.list({ states: ['accepted'], batchId })
  if (accepted.length === 0) {
    throw new NotFoundError(`no row of ${name} was accepted, so there is no request to wait for`, {
      hint: `Show the rows with: refcheck batch rows ${batchId}`,
    })
  }
  const requestIds = accepted.flatMap(({ requestId }) => requestId ?? [])
  return { batchId, requestIds, others: counts.total - requestIds.length }
}
