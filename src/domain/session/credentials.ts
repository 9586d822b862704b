import { apiKeyLength } from '../../contract/headers.ts'
import { InvalidInputError } from '../../errors/kinds.ts'

/** What a call is made with ("Authentication"). */
export interface Credentials {
  /** No trailing slash. */
  baseUrl: string
  apiKey: string
  email: string
}

/**
 * An API key ("API keys are 32-character opaque values"), without the line break that a pipe leaves
 * at its end. The InvalidInputError says how many characters came, never which.
 */
export function checkApiKey(text: string, source = 'the API key'): string {
  const key = withoutLastLineBreak(text)
  const hint = `Copy it again from the organisation settings: ${apiKeyLength} characters, with nothing before or after.`
  const refused = (why: string): InvalidInputError => new InvalidInputError(`${source} ${why}`, { hint })
  if (key === '') throw refused('is empty')
  if (key.length !== apiKeyLength) throw refused(`has ${key.length} characters instead of ${apiKeyLength}`)
  const odd = /[^\u0021-\u007e]/.exec(key)
  if (odd !== null) {
    throw refused(
      `has ${key.length} characters, but number ${odd.index + 1} is a space, a line break or not plain ASCII`,
    )
  }
  return key
}

/** The secret of the organisation's webhook, without the line break that a pipe leaves at its end. */
export function checkWebhookSecret(text: string, source = 'the webhook secret'): string {
  const secret = withoutLastLineBreak(text)
  if (secret === '') {
    throw new InvalidInputError(`${source} is empty`, {
      hint: 'Give the secret of the organisation’s webhook. Without one, anybody could sign.',
    })
  }
  if (/\p{Cc}/u.test(secret)) {
    throw new InvalidInputError(`${source} contains a line break or another control character`, {
      hint: 'Give the secret alone, on one line.',
    })
  }
  return secret
}

/** All that may be shown of a key: its last four characters. */
export function maskKey(key: string): string {
  return `****${key.slice(-4)}`
}

function withoutLastLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '')
}
