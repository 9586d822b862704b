import type { RequestResource } from '../../contract/request.ts'
import {
  type OrderedTwice,
  type OrphanPerson,
  possibleSecondOrders,
  readable,
  type SecondOrder,
  withAcknowledged,
  withOrder,
  withoutOrder,
  withRead,
} from '../../domain/batch/second-orders.ts'
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
 * Reads requests that events told of and that no order here has, as far as ten calls an hour allow, and answers those
 * that are for a person and package ordered here: a proxy may have repeated an order, or a colleague made it. Told
 * until somebody acknowledges it.
 */
export async function secondOrders(ports: SecondOrderPorts, ids: Iterable<string>): Promise<SecondOrder[]> {
  const { api, clock, governor, signal, orphans } = ports
  const service = serviceOf(api.baseUrl)
  const reader = `${service} user ${api.userEmail}`
  const unheld: string[] = []
  for (const id of ids) if ((await rowsOfRequest(ports, id)).length === 0) unheld.push(id)
  for (const id of readable(await orphans.book(), unheld, { service, reader, now: clock.now() })) {
    await governor.take('create', { signal })
    const request = await read(ports, id)
    // The service is away: what is known is told, and the rest is read another time.
    if (request === 'failed') break
    const found = request && (await foundOf(ports, request))
    await orphans.update((book) => withRead(book, id, { service, reader, now: clock.now() }, found))
  }
  for (const { requestId, person } of withoutOrder(await orphans.book(), service)) {
    if ((await rowsOfRequest(ports, requestId)).length > 0) continue
    const order = await orderOf(ports, person)
    if (order !== undefined) await orphans.update((book) => withOrder(book, service, requestId, order))
  }
  const told: SecondOrder[] = []
  for (const each of possibleSecondOrders(await orphans.book(), service)) {
    // A row whose outcome was unknown may have become it since.
    if ((await rowsOfRequest(ports, each.requestId)).length === 0) told.push(each)
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
  return orphans.update((book) =>
    withAcknowledged(book, serviceOf(api.baseUrl), requestId, { at: clock.now(), by: api.userEmail }),
  )
}

async function foundOf(ports: SecondOrderPorts, request: RequestResource) {
  const fingerprint = await ports.ledger.personFingerprint(request.recipient)
  const person = { fingerprint, packageId: request.package_id }
  return { createdAt: request.created_at, order: await orderOf(ports, person), person }
}

/** The newest order of this service for the same person and package. */
async function orderOf(
  { api, ledger }: SecondOrderPorts,
  { fingerprint, packageId }: OrphanPerson,
): Promise<OrderedTwice | undefined> {
  const orders = await ledger.list({ person: fingerprint, states: ['accepted'] })
  const same = orders.findLast((each) => each.baseUrl === api.baseUrl && each.packageId === packageId)
  if (same?.requestId === undefined) return undefined
  return { requestId: same.requestId, batchId: same.batchId, row: same.row }
}
