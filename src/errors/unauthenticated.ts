import { RefcheckError } from './base.ts'

/** A 401, or no key at hand. */
export class UnauthenticatedError extends RefcheckError {
  override readonly code = 'unauthenticated'
}
