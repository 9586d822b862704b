import { RefcheckError } from './base.ts'

/** Finished, but not all of it. */
export class IncompleteError extends RefcheckError {
  override readonly code = 'incomplete'
}
