import type { BatchRow } from '../../domain/batch/batch.ts'
import { type PersonsDecision, requireDecidable } from '../../domain/batch/decision.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'

/** Takes a row out of `unknown` because a person says so; who, when and why is kept. The batch is held by the caller. */
export async function decide(
  { ledger, clock }: { ledger: Ledger; clock: Clock },
  row: BatchRow,
  { to, confirmedEmail, by, why }: PersonsDecision,
): Promise<boolean> {
  requireDecidable(row, clock.now())
  if (confirmedEmail.trim().toLowerCase() !== row.recipient?.email.toLowerCase()) {
    throw new InvalidInputError(`row ${row.row}: the e-mail typed is not the recipient’s`, {
      hint: `Nothing was done. "refcheck batch rows ${row.batchId} --state unknown" shows whom the row is for.`,
    })
  }
  return ledger.move(row, {
    to,
    at: clock.now(),
    reason: to === 'pending' ? 'sent again by a person’s decision' : 'dropped by a person’s decision',
    decision: { by, why },
  })
}
