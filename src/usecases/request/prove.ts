import type { RequestResource } from '../../contract/request.ts'
import { differences } from '../../domain/batch/reconciliation.ts'
import type { RowVersion } from '../../domain/submission/submission.ts'
import { rowsOfRequest } from './find-id.ts'
import type { OrderPorts } from './ports.ts'

/**
 * Reads the id that came with a failed answer: "After a 5xx, if a request_id was obtained, read the
 * request before creating another." A 200 with this package, person, requester and time, on an id that no other order
 * of the store has, proves the order: it becomes `accepted`. Undefined where nothing is proven.
 */
export async function prove(
  ports: OrderPorts,
  unknown: RowVersion,
  offeredId: string,
): Promise<RequestResource | undefined> {
  const { ledger, clock, onEvent } = ports
  onEvent?.({ name: 'proving', requestId: offeredId })
  const request = await read(ports, offeredId)
  if (request === undefined) return undefined
  if (request.request_id.toLowerCase() !== offeredId.toLowerCase()) return undefined
  const rows = await ledger.list({ batchId: unknown.batchId, states: ['unknown'] })
  const sent = rows.find(({ row }) => row === unknown.row)
  if (sent === undefined || differences(sent, request, await serviceAheadMs(ports))?.length !== 0)
    return undefined
  if ((await rowsOfRequest(ports, request.request_id)).length > 0) return undefined
  const took = await ledger.move(unknown, {
    to: 'accepted',
    at: clock.now(),
    requestId: request.request_id,
    requestStatus: request.status,
    decision: {
      by: 'refcheck',
      why: 'the answer named this request, and reading it showed the same package, person, requester and time',
    },
  })
  return took ? request : undefined
}

/**
 * How far the service's clock is ahead of the one that times attempts: on PostgreSQL that is the database's, and not this
 * machine's. Undefined where the service has not said its time.
 */
export async function serviceAheadMs({
  api,
  ledger,
  clock,
}: Pick<OrderPorts, 'api' | 'ledger' | 'clock'>): Promise<number | undefined> {
  const aheadOfMachine = api.clockDifferenceMs()
  if (aheadOfMachine === undefined) return undefined
  return aheadOfMachine + (await ledger.clockAheadMs(clock.now()))
}

/** A read that fails proves nothing, whatever made it fail. */
async function read({ api, signal }: OrderPorts, requestId: string): Promise<RequestResource | undefined> {
  try {
    return await api.getRequest(requestId, signal)
  } catch {
    return undefined
  }
}
