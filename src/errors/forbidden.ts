import { RefcheckError } from './base.ts'

/** A 403: membership, role, credits, trial or subscription. */
export class ForbiddenError extends RefcheckError {
  override readonly code = 'forbidden'
}
