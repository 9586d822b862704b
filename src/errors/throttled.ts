import { RefcheckError } from './base.ts'

/** A 429, and waiting was not allowed or ran out. */
export class ThrottledError extends RefcheckError {
  override readonly code = 'throttled'
}
