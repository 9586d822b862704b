import { RefcheckError } from './base.ts'

/** The person stopped it (Ctrl-C); what was journaled stays. */
export class InterruptedError extends RefcheckError {
  override readonly code = 'interrupted'
}
