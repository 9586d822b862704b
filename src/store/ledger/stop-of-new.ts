import { type Allowed, firstToTell, releasable, type Stop } from '../../domain/submission/match.ts'
import type { NewBatch, RowVersion } from '../../domain/submission/submission.ts'
import type { AddGuard } from './ledger.ts'
import type { ToCompare } from './match-rows.ts'

/** Orders that are not added yet, as they are compared. */
export function newToCompare(batch: NewBatch, guard: AddGuard): ToCompare[] {
  const { id: batchId, account = '', baseUrl, addedAt, kind, submissions } = batch
  const allowed = allowedBy(guard)
  return submissions.map(({ packageId, recipient }, index) => ({
    batchId,
    row: index + 1,
    baseUrl,
    account,
    addedAt,
    kind,
    packageId,
    recipient,
    allowed,
    prints: undefined,
  }))
}

/** What stands in an order's way, past what the person was shown. */
export function notShown(stops: readonly Stop[], { shown = [] }: AddGuard): Stop | undefined {
  const wasShown = (order: RowVersion): boolean =>
    shown.some((each) => each.batchId === order.batchId && each.row === order.row)
  return firstToTell(stops.filter(({ order, reason }) => !wasShown(order) || !releasable.includes(reason)))
}

export const allowedBy = ({ allowDuplicate, allowSimilar }: AddGuard): Allowed => ({
  duplicate: allowDuplicate,
  similar: allowSimilar === true,
  shared: [],
})
