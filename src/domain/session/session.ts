import { apiKeyLength } from '../../contract/headers.ts'
import { InvalidInputError, RefcheckError } from '../../errors/kinds.ts'
import { isLoopbackUrl } from '../../contract/url.ts'
import { redactArgument, requireNoApiKey } from '../wording/redact-argument.ts'
import type { User } from '../../contract/user.ts'

/** Whom the service is called as. */
export interface Session extends Credentials {
  /** Undefined where the environment alone says it all. */
  profile: string | undefined
  keyFrom: 'environment' | SecretStorage
}

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

export type SecretName = 'api-key' | 'webhook-secret'

export type SecretStorage = 'keychain' | 'file'

export interface StoredSecret {
  value: string
  storage: SecretStorage
  /** The base URL it was saved for, and the only one it may be sent to; of an API key alone. */
  baseUrl: string | undefined
}

export interface Profile {
  /** No trailing slash. */
  baseUrl: string
  userEmail: string
}

const maxUrlLength = 2048

const addressHint = 'A base URL looks like https://api.example.com'

/**
 * A base URL as it is stored and called: scheme, host, perhaps a path, no trailing slash. https, or http
 * to this machine ("HTTPS only"). `source` names where it came from. The InvalidInputError repeats no
 * more of the text than a host: a text that was pasted by mistake may be a password or a key.
 */
export function parseBaseUrl(text: string, source = 'the base URL'): string {
  const refused = (why: string, hint: string): InvalidInputError =>
    new InvalidInputError(`${source} ${why}`, { hint, field: 'base_url' })
  const trimmed = text.trim()
  if (trimmed === '') throw refused('is empty', addressHint)
  if (trimmed.length > maxUrlLength) throw refused(`is longer than ${maxUrlLength} characters`, addressHint)
  if (/[\s\p{Cc}\\]/u.test(trimmed))
    throw refused('contains a space, a control character or a backslash', addressHint)
  if (!URL.canParse(trimmed)) {
    const isStarted = /^https?:\/\//i.test(trimmed)
    throw refused(isStarted ? 'is not a complete address' : 'does not start with https://', addressHint)
  }

  const url = new URL(trimmed)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refused('does not start with https://', addressHint)
  }
  if (/^[a-z]+:\/*[^/?#]*@/i.test(trimmed)) {
    throw refused('has a user name or a password in it', 'Remove the part before the @.')
  }
  if (trimmed.includes('?')) throw refused('has a query', 'Remove the ? and what follows it.')
  if (trimmed.includes('#')) throw refused('has a fragment', 'Remove the # and what follows it.')
  if (url.protocol === 'http:' && !isLoopbackUrl(url.href)) {
    throw refused(
      `would call ${url.host} unencrypted: https is required`,
      'http is allowed for this machine only (127.0.0.1, ::1, localhost).',
    )
  }
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  if (/\/v\d+$/.test(path)) {
    const version = path.slice(path.lastIndexOf('/'))
    throw refused(`ends in ${version}: leave ${version} out`, 'The version is added to every call.')
  }
  return `${url.origin}${path}`
}

/** Whether a key given for one may be sent to the other. */
export function sameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin
}

const maxProfileLength = 64

/** Names that JavaScript objects answer to by themselves. */
const reserved = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * A profile's name as it came in, or an InvalidInputError: letters, digits, - and _, at most 64. Dots
 * above all are out, since a settings key is split on them.
 */
export function checkProfileName(name: string): string {
  requireNoApiKey(name, 'a profile')
  if (name.length <= maxProfileLength && /^[A-Za-z0-9_-]+$/.test(name) && !reserved.has(name)) return name
  const shown = redactArgument(name)
  throw new InvalidInputError(`"${shown}" is not a valid name for a profile`, {
    hint: `Use letters, digits, - and _, at most ${maxProfileLength} characters.`,
  })
}

export interface LoginResult {
  profile: string
  storage: SecretStorage
  user: User
  /**
   * Other profiles on the same base URL with another key. "Generating a new key revokes the previous
   * one": if they are of the same organisation, their keys may be revoked.
   */
  replaced: string[]
}

export interface ProfileEntry {
  profile: string
  current: boolean
  base_url: string
  user_email: string
  /** Where the key is stored; null where there is none. */
  key_from: SecretStorage | null
  /** Its last four characters; null where there is none or the keychain will not hand it out. */
  key: string | null
  webhook_secret_from: SecretStorage | null
}

export interface LogoutResult {
  profile: string
  /** Which secrets it had. */
  removed: SecretName[]
  /** Those of them that the keychain did not give up; nothing refers to them any more. */
  left_in_keychain: SecretName[]
}

/** A setting that there is, with its value where it has one. */
export interface SettingEntry {
  key: string
  value: string | null
  from: 'profile' | 'settings' | null
  meaning: string
}

export interface SessionStatus {
  /** Null where the environment alone says it all. */
  profile: string | null
  base_url: string
  user_email: string
  key_from: Session['keyFrom']
  /** Its last four characters. */
  key: string
  /** Whether the service takes it now (GET /v1/users). */
  works: boolean
  /** Who that is; null where it does not work. */
  user: User | null
}

export interface StatusAnswer {
  status: SessionStatus
  /** Why it does not work. */
  error: RefcheckError | undefined
}
