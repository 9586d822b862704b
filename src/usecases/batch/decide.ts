import type { BatchRow } from '../../domain/batch/batch.ts'
import { changedElsewhere } from '../../domain/submission/attempt.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'

export interface DecidePorts {
  ledger: Ledger
  clock: Clock
}

/** Who decides, the user's e-mail, and why. */
export interface Word {
  by: string
  why: string
}

/** Queues a row that can be sent again, because a person says so. The batch is held by the caller. */
export async function decideToOrder(
  { ledger, clock }: DecidePorts,
  row: BatchRow,
  confirmedEmail: string,
  decision: Word,
): Promise<void> {
  if (confirmedEmail.trim().toLowerCase() !== row.recipient?.email.toLowerCase()) {
    throw new InvalidInputError(`row ${row.row}: this is not the recipient’s e-mail`, {
      hint: `Nothing was done. See whom the row is for with: refcheck batch rows ${row.batchId} --state unknown`,
    })
  }
  const reason = 'sent again by a person’s decision'
  if (!(await ledger.move(row, { to: 'pending', at: clock.now(), reason, decision })))
    throw changedElsewhere()
}

/** Gives a row that is not settled up: it is never sent. */
export async function decideToLeave(
  { ledger, clock }: DecidePorts,
  row: BatchRow,
  decision: Word,
): Promise<void> {
  const reason = 'dropped by a person’s decision'
  if (!(await ledger.move(row, { to: 'dropped', at: clock.now(), reason, decision })))
    throw changedElsewhere()
}
