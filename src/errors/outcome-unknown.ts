import { RefcheckError } from './base.ts'

/** A create that may or may not have been accepted. */
export class OutcomeUnknownError extends RefcheckError {
  override readonly code = 'outcome_unknown'
}
