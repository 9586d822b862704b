import { RefcheckError } from './base.ts'

/** A fault of this program: a state it holds impossible. */
export class InternalError extends RefcheckError {
  override readonly code = 'internal'
}
