import type { BatchRow } from './batch.ts'
import { UsageError } from '../../errors/kinds.ts'

/** "Not within 15 minutes of the attempt": an event may still come. */
const quietMs = 15 * 60_000

/** What the provider said of a row whose outcome is unknown, as a person records it. */
export type ProvidersAnswer =
  /** They have it. */
  | { kind: 'has'; requestId: string }
  /** They do not: it is sent again. The e-mail as typed; undefined: it has to be asked for. */
  | { kind: 'order'; confirmedEmail: string | undefined }
  /** Never send it. */
  | { kind: 'leave' }

/** A row that a person may settle; throws a UsageError for any other. Comes before any question. */
export function requireUnsettled(row: BatchRow): void {
  if (row.state === 'unknown' || row.state === 'dropped') return
  throw new UsageError(`row ${row.row} is ${row.state}, not unknown: there is nothing to decide`, {
    hint: `List the unknown rows with: refcheck batch rows ${row.batchId} --state unknown`,
  })
}

/** Why a row cannot be sent again now; throws a UsageError. Recording an id and dropping wait for nothing. */
export function requireSendable(row: BatchRow, now: number): void {
  requireUnsettled(row)
  const waitMs = (row.attemptedAt ?? row.changedAt) + quietMs - now
  if (waitMs > 0) {
    throw new UsageError(`row ${row.row} was sent less than 15 minutes ago: its event may still arrive`, {
      hint: `Nothing was sent. Run this again in ${Math.ceil(waitMs / 60_000)} min.`,
    })
  }
}
