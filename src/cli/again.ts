import { isKeyLike } from '../domain/wording/redact-argument.ts'
import { shellWord } from '../domain/wording/shell-word.ts'
import { keeping } from '../domain/wording/kept-flags.ts'
import type { RefcheckError } from '../errors/base.ts'

/**
 * Makes the commands of a hint whole: those flags are repeated that say whose world it is about, and the command line that was
 * typed ends it, for a failure that says to run it again. What looks like an API key in it is shown nowhere.
 */
export function nameCommand(failure: RefcheckError, argv: readonly string[]): void {
  const keys = argv.flatMap((word) => word.split('=')).filter(isKeyLike)
  if (failure.hint !== undefined) failure.hint = keeping(argv)(failure.hint)
  const { hint, again } = failure
  if (again !== undefined && hint?.includes(again) !== true) {
    // The token of a signed URL is not shown, not even to who typed it.
    const isSecret = keys.length > 0 || argv.some((word) => /[?&]t=/.test(word))
    const command = isSecret ? 'the same command' : ['refcheck', ...argv].map(shellWord).join(' ')
    failure.hint = [hint, `${again}: ${command}`].filter(Boolean).join(' ')
  }
  for (const key of keys) redactIn(failure, key)
}

/** A key pasted as an id or a name; ids are compared in lowercase. */
function redactIn(failure: RefcheckError, key: string): void {
  const without = (text: string): string => text.replaceAll(key, '…').replaceAll(key.toLowerCase(), '…')
  failure.message = without(failure.message)
  if (failure.hint !== undefined) failure.hint = without(failure.hint)
}
