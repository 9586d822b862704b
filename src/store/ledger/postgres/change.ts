import { changeColumns } from '../change-columns.ts'
import type { Sql } from './connection.ts'
import type { Change } from '../../../domain/submission/change.ts'
import type { RowVersion } from '../../../domain/submission/submission.ts'
import { changeState, endAttempt, insertDecision, putPause, selectOtherHolder } from './ledger-statements.ts'

/**
 * Makes a change if the row still stands as `from` says, and no other order has the request that it is to have; whether
 * it did. Within its caller's transaction.
 */
export async function changeRow(sql: Sql, from: RowVersion, change: Change): Promise<boolean> {
  const { holder, row, attempt, decision } = changeColumns(from, change)
  if (holder !== undefined && (await sql.get(selectOtherHolder, holder)) !== undefined) return false
  if ((await sql.run(changeState, row)) === 0) return false
  if (attempt !== undefined) await sql.run(endAttempt, attempt)
  if (decision !== undefined) await sql.run(insertDecision, decision)
  // Everybody who sends to that service asks whether it is well before the next row goes out.
  if (from.state === 'sending' && change.to === 'unknown') {
    await sql.run(putPause, { batch_id: from.batchId, attempt_id: from.attemptId })
  }
  return true
}
