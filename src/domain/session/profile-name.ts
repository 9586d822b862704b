import { holdsApiKey, redactArgument } from '../wording/redact-argument.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

const longest = 64

/** Names that JavaScript objects answer to by themselves. */
const reserved = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * A profile's name as it came in, or an InvalidInputError: letters, digits, - and _, at most 64. Dots
 * above all are out, since a settings key is split on them.
 */
export function checkProfileName(name: string): string {
  if (holdsApiKey(name)) {
    throw new InvalidInputError('what looks like an API key is not a name for a profile', {
      hint: 'Give the key to: refcheck auth login',
    })
  }
  if (name.length <= longest && /^[A-Za-z0-9_-]+$/.test(name) && !reserved.has(name)) return name
  const shown = redactArgument(name)
  throw new InvalidInputError(`"${shown}" is not a valid name for a profile`, {
    hint: `Use letters, digits, - and _, at most ${longest} characters.`,
  })
}
