import type { RefcheckError } from '../../../errors/base.ts'
import type { Batches } from '../../../store/ledger/batches.ts'
import type { SubmissionState } from '../../../store/ledger/types.ts'
import type { SchemaCache } from '../../form/load-schema.ts'
import type { CreateEvent, Ordering } from '../../request/ordering.ts'

/** When the next create may go. */
export interface Pace {
  /** Waits until the quota has a place for a create, and takes it. Rejects when `signal` aborts. */
  take(signal: AbortSignal | undefined): Promise<void>
  /** The same for a read of a loop; creates go first. */
  takeRead(signal: AbortSignal | undefined): Promise<void>
  /** Takes a place for a create if there is one at this moment. */
  tryTake(): Promise<boolean>
  /** The service takes calls again in `seconds` (Retry-After of a 429). */
  throttled(seconds: number): Promise<void>
}

/** What running a batch needs of the world. */
export interface Running extends Omit<Ordering, 'onEvent'> {
  batches: Batches
  pace: Pace
  cache: SchemaCache
  onEvent?: ((event: RunEvent) => void) | undefined
}

/** What happens on the way, for whoever shows progress. */
export type RunEvent =
  | CreateEvent
  /** A row has come into a new state, and that is on disk. */
  | { name: 'row'; row: number; state: SubmissionState; reason: string | undefined }
  /** The service does not answer well; it is asked again after `seconds`, and nothing is sent until then. */
  | { name: 'outage'; reason: string; seconds: number }
  | { name: 'well' }

export interface RunLimits {
  /** Orders to send in this run. */
  max: number
  /** This row alone, where it is pending. */
  only?: number | undefined
  /** Milliseconds that each wait on 429s or an unreachable service may take; Infinity for no limit. */
  waitBudgetMs: number
}

/** How a run came to its end. */
export type RunEnd =
  | { kind: 'done' }
  /** As many were sent as were asked for. */
  | { kind: 'limited' }
  /** Ctrl-C; the row in flight was finished. */
  | { kind: 'interrupted' }
  /** Any other row would fare the same, so the rest is kept for when `error` is mended. */
  | { kind: 'halted'; error: RefcheckError }
