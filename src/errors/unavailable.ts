import { RefcheckError } from './base.ts'

/** Unreachable, a 5xx or a malformed answer, and nothing was created. */
export class UnavailableError extends RefcheckError {
  override readonly code = 'unavailable'
}
