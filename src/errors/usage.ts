import { RefcheckError } from './base.ts'

/** The command line itself is wrong: flags, arguments, or a prompt needed and no terminal. */
export class UsageError extends RefcheckError {
  override readonly code = 'usage'
}
