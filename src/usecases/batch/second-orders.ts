import type { RequestResource } from '../../contract/request.ts'
import {
  type OrderedTwice,
  possibleSecondOrders,
  readable,
  type SecondOrder,
  withAcknowledged,
  withRead,
} from '../../domain/batch/second-orders.ts'
import { samePerson } from '../../domain/submission/identity.ts'
import { RefcheckError } from '../../errors/base.ts'
import { NotFoundError } from '../../errors/kinds.ts'
import type { Orphans } from '../../store/ledger/orphans.ts'
import type { ReconcilePorts } from './reconcile.ts'

export interface SecondOrderPorts extends ReconcilePorts {
  orphans: Orphans
}

/**
 * Reads requests that events told of and that no order here has, as far as ten calls an hour allow, and answers those
 * that are for a person and package ordered here: a proxy may have repeated an order, or a colleague made it. Told
 * until somebody acknowledges it.
 */
export async function secondOrders(ports: SecondOrderPorts, ids: Iterable<string>): Promise<SecondOrder[]> {
  const { api, ledger, clock, governor, signal, orphans } = ports
  const reader = `${api.baseUrl} ${api.userEmail}`
  const unheld: string[] = []
  for (const id of ids) if ((await ledger.list({ requestId: id })).length === 0) unheld.push(id)
  for (const id of readable(await orphans.book(), unheld, { reader, now: clock.now() })) {
    await governor.take('create', { signal })
    const request = await read(ports, id)
    // The service is away: what is known is told, and the rest is read another time.
    if (request === 'failed') break
    const found = request && { createdAt: request.created_at, order: await orderOf(ports, request) }
    await orphans.update((book) => withRead(book, id, { reader, now: clock.now() }, found))
  }
  const told: SecondOrder[] = []
  for (const each of possibleSecondOrders(await orphans.book())) {
    // A row whose outcome was unknown may have become it since.
    if ((await ledger.list({ requestId: each.requestId })).length === 0) told.push(each)
  }
  return told
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
  return orphans.update((book) => withAcknowledged(book, requestId, { at: clock.now(), by: api.userEmail }))
}

/** The newest order of this service for the same person and package. */
async function orderOf(
  { api, ledger }: SecondOrderPorts,
  { recipient, package_id }: RequestResource,
): Promise<OrderedTwice | undefined> {
  const orders = await ledger.list({ email: recipient.email, states: ['accepted'] })
  const same = orders.findLast(
    (each) =>
      each.baseUrl === api.baseUrl &&
      each.packageId === package_id &&
      each.recipient !== undefined &&
      samePerson(each.recipient, recipient),
  )
  if (same?.requestId === undefined) return undefined
  return { requestId: same.requestId, batchId: same.batchId, row: same.row }
}
