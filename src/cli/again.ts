import { keysIn, redactKeys } from '../domain/wording/redact-argument.ts'
import { shellWord } from '../domain/wording/shell-word.ts'
import { keeping } from '../domain/wording/kept-flags.ts'
import type { RefcheckError } from '../errors/base.ts'
import type { Secrets } from '../host/secrets.ts'

/**
 * Makes the commands of a hint whole: those flags are repeated that say whose world it is about, and the command line that was
 * typed ends it, for a failure that says to run it again. Neither `secrets` nor what looks like one is left in any text of it.
 */
export function nameCommand(failure: RefcheckError, argv: readonly string[], secrets?: Secrets): void {
  if (failure.hint !== undefined) failure.hint = keeping(argv)(failure.hint)
  const keys = argv.flatMap(keysIn)
  const redacted = (text: string): string => withoutTyped(redactKeys(secrets?.redact(text) ?? text), keys)
  const { hint, again } = failure
  if (again !== undefined && hint?.includes(again) !== true) {
    const isSecret = argv.some((word) => redacted(word) !== word)
    const command = isSecret ? 'the same command' : ['refcheck', ...argv].map(shellWord).join(' ')
    failure.hint = [hint, `${again}: ${command}`].filter(Boolean).join(' ')
  }
  failure.message = redacted(failure.message)
  if (failure.hint !== undefined) failure.hint = redacted(failure.hint)
  failure.problems = failure.problems?.map(({ value, text, ...rest }) => ({
    ...rest,
    ...(value !== undefined && { value: redacted(value) }),
    text: redacted(text),
  }))
}

/** Ids are compared in lowercase, and a key in lowercase is harder to tell from words. */
function withoutTyped(text: string, keys: readonly string[]): string {
  return keys.reduce((rest, key) => rest.replaceAll(key, '…').replaceAll(key.toLowerCase(), '…'), text)
}
