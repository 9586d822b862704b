import { RefcheckError } from './base.ts'

/** A 404, or a name this machine does not know. */
export class NotFoundError extends RefcheckError {
  override readonly code = 'not_found'
}
