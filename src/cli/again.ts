import { shellWord } from '../domain/wording/shell-word.ts'
import { keeping } from '../domain/wording/kept-flags.ts'
import type { RefcheckError } from '../errors/base.ts'

/**
 * Makes the commands of a hint whole: those flags are repeated that say whose world it is about, and the command line that was
 * typed ends it, for a failure that says to run it again.
 */
export function nameCommand(failure: RefcheckError, argv: readonly string[]): void {
  if (failure.hint !== undefined) failure.hint = keeping(argv)(failure.hint)
  const { hint, again } = failure
  if (again === undefined || hint?.includes(again) === true) return
  // The token of a signed URL is not shown, not even to who typed it.
  const isSecret = argv.some((word) => /[?&]t=/.test(word))
  const command = isSecret ? 'the same command' : ['refcheck', ...argv].map(shellWord).join(' ')
  failure.hint = [hint, `${again}: ${command}`].filter(Boolean).join(' ')
}
