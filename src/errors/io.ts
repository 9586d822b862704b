import { RefcheckError } from './base.ts'

/** The disk or the operating system refused something. */
export class IoError extends RefcheckError {
  override readonly code = 'io'
}
