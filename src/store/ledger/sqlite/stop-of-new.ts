import type { Stop } from '../../../domain/submission/match.ts'
import type { NewBatch } from '../../../domain/submission/submission.ts'
import type { AddGuard } from '../ledger.ts'
import { newToCompare, notShown } from '../stop-of-new.ts'
import type { Matching } from './matching.ts'

/** What stands in the way of orders that are not added yet, past what the person was shown. */
export function stopOfNew(matching: Matching, batch: NewBatch, guard: AddGuard): Stop | undefined {
  for (const row of newToCompare(batch, guard)) {
    const stop = notShown(matching.stopsOf(row), guard)
    if (stop !== undefined) return stop
  }
  return undefined
}
