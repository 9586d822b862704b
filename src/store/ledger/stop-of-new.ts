import { type Allowed, firstToTell, releasable, type Stop } from '../../domain/submission/match.ts'
import type { NewBatch, RowVersion } from '../../domain/submission/submission.ts'
import type { Work } from './engine.ts'
import type { ToCompare } from './match-rows.ts'
import type { Matching } from './matching.ts'

/** What a person allowed along with a new order. */
export interface AddGuard {
  allowDuplicate: boolean
  allowSimilar?: boolean | undefined
  /** Orders that the person was shown, and said of each that it is no reason to stop; kept as releases. */
  shown?: readonly RowVersion[] | undefined
}

/** Orders that are not added yet, as they are compared. */
function newToCompare(batch: NewBatch, guard: AddGuard): ToCompare[] {
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

/** The conflict of orders that are not added yet, past what the person was shown. */
export function* findConflictOfNew(
  matching: Matching,
  batch: NewBatch,
  guard: AddGuard,
): Work<Stop | undefined> {
  for (const row of newToCompare(batch, guard)) {
    const stop = notShown(yield* matching.findConflicts(row), guard)
    if (stop !== undefined) return stop
  }
  return undefined
}

function notShown(stops: readonly Stop[], { shown = [] }: AddGuard): Stop | undefined {
  const wasShown = (order: RowVersion): boolean =>
    shown.some((each) => each.batchId === order.batchId && each.row === order.row)
  return firstToTell(stops.filter(({ order, reason }) => !wasShown(order) || !releasable.includes(reason)))
}

export const allowedBy = ({ allowDuplicate, allowSimilar }: AddGuard): Allowed => ({
  duplicate: allowDuplicate,
  similar: allowSimilar === true,
  shared: [],
})
