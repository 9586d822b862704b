import type { BatchRow } from '../../domain/batch/batch.ts'
import { changedElsewhere } from '../../domain/submission/attempt.ts'
import type { Change } from '../../domain/submission/change.ts'
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

/**
 * Queues a row that can be sent again, because a person says so. A row without its recipient cannot be sent: it is `cancelled`, so
 * that the person can be ordered. The batch is held by the caller.
 */
export async function decideToOrder(
  { ledger, clock }: DecidePorts,
  row: BatchRow,
  confirmedEmail: string,
  decision: Word,
): Promise<void> {
  const isTheirs =
    row.recipient === undefined
      ? await ledger.isEmailOf(row, confirmedEmail)
      : confirmedEmail.trim().toLowerCase() === row.recipient.email.toLowerCase()
  if (!isTheirs) {
    throw new InvalidInputError(`row ${row.row}: this is not the recipient’s e-mail`, {
      hint: `Nothing was done. See whom the row is for with: refcheck batch rows ${row.batchId} --state unknown`,
    })
  }
  const change: Change =
    row.recipient === undefined
      ? { to: 'cancelled', at: clock.now(), reason: 'the provider has no such request', decision }
      : { to: 'pending', at: clock.now(), reason: 'sent again by a person’s decision', decision }
  if (!(await ledger.move(row, change))) throw changedElsewhere()
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
