import { RefcheckError } from './base.ts'

/** The same order (package and recipient) was made before. */
export class DuplicateError extends RefcheckError {
  override readonly code = 'duplicate'
}
