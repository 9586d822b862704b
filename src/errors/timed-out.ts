import { RefcheckError } from './base.ts'

/** A wait's own time limit has passed. */
export class TimedOutError extends RefcheckError {
  override readonly code = 'timed_out'
}
