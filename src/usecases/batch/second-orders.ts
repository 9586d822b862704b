import type { RequestResource } from '../../contract/request.ts'
import type { SecondOrder } from '../../domain/batch/second-orders.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { RefcheckError } from '../../errors/base.ts'
import { NotFoundError } from '../../errors/kinds.ts'
import { rowsOfRequest } from '../request/find-id.ts'
import type { UnmatchedRequests } from '../../store/ledger/unmatched-requests.ts'
import type { ReconcilePorts } from './reconcile.ts'

export interface SecondOrderPorts extends ReconcilePorts {
  orphans: UnmatchedRequests
}

/**
 * Reads requests that events name and that no row ordered, as far as ten calls an hour allow: new orders are compared with
 * them from then on. Answers those for a person and package that were ordered here: a proxy may have repeated an order, or
 * a colleague made it. They are reported until a person acknowledges them.
 */
export async function secondOrders(ports: SecondOrderPorts, ids: Iterable<string>): Promise<SecondOrder[]> {
  const { api, clock, governor, signal, orphans } = ports
  const service = serviceOf(api.baseUrl)
  const unheld: string[] = []
  for (const id of ids) if ((await rowsOfRequest(ports, id)).length === 0) unheld.push(id)
  const reading = () => ({ service, reader: api.userEmail, now: clock.now() })
  for (const id of unheld.length === 0 ? [] : await orphans.toRead(unheld, reading())) {
    await governor.take('create', { signal })
    const request = await read(ports, id)
    // The service is away: what is known is reported, and the rest is read another time.
    if (request === 'failed') break
    await orphans.record(id, reading(), request)
  }
  return orphans.secondOrders(service)
}

async function read(
  { api, signal }: SecondOrderPorts,
  id: string,
): Promise<RequestResource | undefined | 'failed'> {
  try {
    return await api.getRequest(id, signal)
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    if (error instanceof RefcheckError && signal?.aborted !== true) return 'failed'
    throw error
  }
}

/** Whether there was one to acknowledge. */
export function acknowledgeSecondOrder(
  { api, clock, orphans }: SecondOrderPorts,
  requestId: string,
): Promise<boolean> {
  return orphans.acknowledge(serviceOf(api.baseUrl), requestId, { at: clock.now(), by: api.userEmail })
}
