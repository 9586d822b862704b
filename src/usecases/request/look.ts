import type { RequestBody } from '../../contract/request-body.ts'
import type { Stop } from '../../domain/submission/match.ts'
import type { BatchRef, NewBatch } from '../../domain/submission/submission.ts'
import type { OrderPorts } from './ports.ts'

type LookPorts = Pick<OrderPorts, 'api' | 'ledger' | 'account' | 'clock' | 'random'>

/** What would stand in the way of an order, with nothing ordered and nothing kept. */
export async function lookForOrder(
  ports: LookPorts,
  order: RequestBody,
  guard: { allowDuplicate: boolean; allowSimilar: boolean },
): Promise<Stop | undefined> {
  const batch = { id: ports.random.uuid(), kind: 'single' } as const
  return ports.ledger.look(singleOrder(ports, batch, order), guard)
}

/** An order as a batch of one. */
export function singleOrder(
  { api: { baseUrl, userEmail }, clock, account }: Pick<LookPorts, 'api' | 'clock' | 'account'>,
  batch: BatchRef,
  order: RequestBody,
): NewBatch {
  const { package_id: packageId, recipient } = order
  const body = new TextEncoder().encode(JSON.stringify(order))
  return {
    ...batch,
    addedAt: clock.now(),
    baseUrl,
    userEmail,
    account,
    submissions: [{ packageId, recipient, body }],
  }
}
