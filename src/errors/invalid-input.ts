import { RefcheckError } from './base.ts'

/** A value fails validation, here or by a 400 of the service. */
export class InvalidInputError extends RefcheckError {
  override readonly code = 'invalid_input'
}
