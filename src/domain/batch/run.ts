import type { RefcheckError } from '../../errors/base.ts'
import type { CreateEvent } from '../request/events.ts'
import type { SubmissionState } from '../submission/states.ts'

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
  /** A row's outcome is unknown from before: nothing is sent until the service answers well. */
  afterUnknown?: boolean | undefined
}

/** How a run came to its end. */
export type RunEnd =
  | { kind: 'done' }
  /** As many were sent as were asked for. */
  | { kind: 'limited' }
  /** Ctrl-C; the row in flight was finished. */
  | { kind: 'interrupted' }
  /** Any other row would fare the same, so the rest is kept for when `error` is fixed. */
  | { kind: 'halted'; error: RefcheckError }
