import { type Allowed, firstToTell, releasable, type Stop } from '../../../domain/submission/match.ts'
import type { NewBatch, RowVersion } from '../../../domain/submission/submission.ts'
import type { AddGuard } from '../ledger.ts'
import type { Matching } from './matching.ts'

/** What stands in the way of orders that are not added yet, past what the person was shown. */
export function stopOfNew(
  matching: Matching,
  { id, account = '', baseUrl, addedAt, kind, submissions }: NewBatch,
  guard: AddGuard,
): Stop | undefined {
  const { shown = [] } = guard
  const wasShown = (order: RowVersion): boolean =>
    shown.some((each) => each.batchId === order.batchId && each.row === order.row)
  for (const [index, { packageId, recipient }] of submissions.entries()) {
    const row = { batchId: id, row: index + 1, baseUrl, account, addedAt, kind, packageId, recipient }
    const stops = matching.stopsOf({ ...row, allowed: allowedBy(guard), prints: undefined })
    const stop = firstToTell(
      stops.filter(({ order, reason }) => !wasShown(order) || !releasable.includes(reason)),
    )
    if (stop !== undefined) return stop
  }
  return undefined
}

export const allowedBy = ({ allowDuplicate, allowSimilar }: AddGuard): Allowed => ({
  duplicate: allowDuplicate,
  similar: allowSimilar === true,
  shared: [],
})
