import { changeColumns } from '../change-columns.ts'
import type { Database } from './connection.ts'
import type { Change } from '../../../domain/submission/change.ts'
import type { RowVersion } from '../../../domain/submission/submission.ts'
import { changeState, endAttempt, insertDecision, selectOtherHolder } from './ledger-statements.ts'

/**
 * Makes a change if the row still stands as `from` says, and no other order has the request that it is to have; whether
 * it did. Within its caller's transaction.
 */
export function changeRow(database: Database, from: RowVersion, change: Change): boolean {
  const { holder, row, attempt, decision } = changeColumns(from, change)
  if (holder !== undefined && database.get(selectOtherHolder, holder) !== undefined) return false
  if (database.run(changeState, row) === 0) return false
  if (attempt !== undefined) database.run(endAttempt, attempt)
  if (decision !== undefined) database.run(insertDecision, decision)
  return true
}
