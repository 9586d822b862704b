import { apiKeyLength } from '../../contract/headers.ts'
import { emailAddress } from '../../contract/request-body.ts'
import { InvalidInputError } from '../../errors/invalid-input.ts'

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
  const hint = `Copy it again from the organisation settings: ${apiKeyLength} characters, nothing before or after.`
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
      hint: 'Without a secret anybody could sign; give the one of the organisation’s webhook.',
    })
  }
  if (/\p{Cc}/u.test(secret)) {
    throw new InvalidInputError(`${source} holds a line break or another control character`, {
      hint: 'Give the secret alone, on one line.',
    })
  }
  return secret
}

/** A user's e-mail as it goes into a header. Only what looks like one is repeated in the InvalidInputError. */
export function checkEmail(text: string, source = 'the e-mail'): string {
  const refused = (why: string, hint: string): InvalidInputError =>
    new InvalidInputError(`${source} ${why}`, { hint, field: 'email' })
  const hint = 'Give the e-mail of an active user of the organisation, like ana@example.com.'
  if (text === '') throw refused('is empty', hint)
  if (/\p{Cc}/u.test(text)) throw refused('holds a line break or another control character', hint)
  if (text.length > 254) throw refused(`has ${text.length} characters; 254 are the most`, hint)
  if (emailAddress.safeParse(text).success) return text
  throw refused(text.includes('@') ? `"${text}" is not an address` : 'is not an address', hint)
}

/** All that may be shown of a key: its last four characters. */
export function maskKey(key: string): string {
  return `****${key.slice(-4)}`
}

function withoutLastLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '')
}
