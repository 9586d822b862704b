import { shellWord } from '../domain/wording/shell-word.ts'
import type { RefcheckError } from '../errors/base.ts'

/** Ends the hint with the command line that was typed, for a failure that says to run it again. */
export function nameCommand(failure: RefcheckError, argv: readonly string[]): void {
  const { hint, again } = failure
  if (again === undefined || hint?.includes(again) === true) return
  // The token of a signed URL is not shown, not even to who typed it.
  const isSecret = argv.some((word) => /[?&]t=/.test(word))
  const command = isSecret ? 'the same command' : ['refcheck', ...argv].map(shellWord).join(' ')
  failure.hint = [hint, `${again}: ${command}`].filter(Boolean).join(' ')
}
