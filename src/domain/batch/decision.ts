import type { BatchRow } from './batch.ts'
import { DuplicateError, UsageError } from '../../errors/kinds.ts'

/** "Not within 15 minutes of the attempt": an event may still come. */
const quietMs = 15 * 60_000

/** A person's word on a row whose outcome is unknown. */
export interface PersonsDecision {
  /** `pending`: to be sent again. `cancelled`: never. */
  to: 'pending' | 'cancelled'
  /** As typed by the person; must be the recipient's. */
  confirmedEmail: string
  /** Who decides: the user's e-mail. */
  by: string
  why: string
}

/** Why a row cannot be decided on now; throws a UsageError or InvalidInputError. Comes before any question. */
export function requireDecidable(row: BatchRow, now: number): void {
  if (row.state !== 'unknown') {
    throw new UsageError(`row ${row.row} is ${row.state}: there is nothing to decide about it`, {
      hint: `Rows to settle: refcheck batch rows ${row.batchId} --state unknown`,
    })
  }
  const waitMs = (row.attemptedAt ?? row.changedAt) + quietMs - now
  if (waitMs > 0) {
    throw new UsageError(`row ${row.row} was sent less than 15 minutes ago: proof of it may still come`, {
      hint: `Nothing was sent. Run this again in ${Math.ceil(waitMs / 60_000)} min.`,
    })
  }
  if (row.recipient === undefined) {
    throw new DuplicateError(`row ${row.row}: the person was removed from this store`, {
      hint: 'It can be dropped, but not sent again.',
    })
  }
}
