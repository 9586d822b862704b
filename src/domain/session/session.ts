import { apiKeyLength } from '../../contract/headers.ts'
import { InvalidInputError, RefcheckError } from '../../errors/kinds.ts'
import { isLoopbackUrl } from '../../contract/url.ts'
import { redactArgument, requireNoApiKey } from '../wording/redact-argument.ts'
import type { User } from '../../contract/user.ts'

/** The credentials of a command, and their origin. */
export interface Session extends Credentials {
  /** Undefined if all credentials come from the environment. */
  profile: string | undefined
  keyFrom: 'environment' | SecretStorage
}

/** The service, key and user of a call ("Authentication"). */
export interface Credentials {
  /** Has no trailing slash. */
  baseUrl: string
  apiKey: string
  email: string
}

/**
 * Returns an API key ("API keys are 32-character opaque values") without the line break that a pipe may add at the
 * end. Throws an InvalidInputError that contains the number of characters, but not the characters themselves.
 */
export function checkApiKey(text: string, source = 'the API key'): string {
  const key = withoutLastLineBreak(text)
  const hint = `Copy it again from the organisation settings: ${apiKeyLength} characters, with nothing before or after.`
  const invalid = (why: string): InvalidInputError => new InvalidInputError(`${source} ${why}`, { hint })
  if (key === '') throw invalid('is empty')
  if (key.length !== apiKeyLength) throw invalid(`has ${key.length} characters instead of ${apiKeyLength}`)
  const invalidCharacter = /[^\u0021-\u007e]/.exec(key)
  if (invalidCharacter !== null) {
    throw invalid(
      `has ${key.length} characters, but number ${invalidCharacter.index + 1} is a space, a line break or not plain ASCII`,
    )
  }
  return key
}

/**
 * Returns the webhook secret of the organisation without the line break that a pipe may add at the end. Throws
 * InvalidInputError if it is empty or has a control character.
 */
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

/** Returns the only form of a key that may be printed: asterisks and its last four characters. */
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
  /** The only base URL to which an API key may be sent; undefined for webhook secrets. */
  baseUrl: string | undefined
}

export interface Profile {
  /** Has no trailing slash. */
  baseUrl: string
  userEmail: string
}

const maxUrlLength = 2048

const addressHint = 'A base URL looks like https://api.example.com'

/**
 * Returns a base URL in the form that is stored: scheme, host and optional path, without trailing slash. http is
 * allowed for this machine only ("HTTPS only"). Throws an InvalidInputError that names `source` and at most the host
 * of the URL, because a text that was pasted by mistake may be a password or a key.
 */
export function parseBaseUrl(text: string, source = 'the base URL'): string {
  const invalid = (why: string, hint: string): InvalidInputError =>
    new InvalidInputError(`${source} ${why}`, { hint, field: 'base_url' })
  const trimmed = text.trim()
  if (trimmed === '') throw invalid('is empty', addressHint)
  if (trimmed.length > maxUrlLength) throw invalid(`is longer than ${maxUrlLength} characters`, addressHint)
  if (/[\s\p{Cc}\\]/u.test(trimmed))
    throw invalid('contains a space, a control character or a backslash', addressHint)
  if (!URL.canParse(trimmed)) {
    const isStarted = /^https?:\/\//i.test(trimmed)
    throw invalid(isStarted ? 'is not a complete address' : 'does not start with https://', addressHint)
  }

  const url = new URL(trimmed)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw invalid('does not start with https://', addressHint)
  }
  if (/^[a-z]+:\/*[^/?#]*@/i.test(trimmed)) {
    throw invalid('has a user name or a password in it', 'Remove the part before the @.')
  }
  if (trimmed.includes('?')) throw invalid('has a query', 'Remove the ? and what follows it.')
  if (trimmed.includes('#')) throw invalid('has a fragment', 'Remove the # and what follows it.')
  if (url.protocol === 'http:' && !isLoopbackUrl(url.href)) {
    throw invalid(
      `would call ${url.host} unencrypted: https is required`,
      'http is allowed for this machine only (127.0.0.1, ::1, localhost).',
    )
  }
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  if (/\/v\d+$/.test(path)) {
    const version = path.slice(path.lastIndexOf('/'))
    throw invalid(`ends in ${version}: leave ${version} out`, 'The version is added to every call.')
  }
  return `${url.origin}${path}`
}

/** Whether two URLs have the same origin, so that a key for one may be sent to the other. */
export function isSameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin
}

const maxProfileLength = 64

/** Names that every JavaScript object already has as properties. */
const reservedNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Returns the name of a profile unchanged. Throws InvalidInputError unless it has 1 to 64 letters, digits, - and _.
 * Dots are refused because a settings key is split at dots.
 */
export function checkProfileName(name: string): string {
  requireNoApiKey(name, 'a profile')
  if (name.length <= maxProfileLength && /^[A-Za-z0-9_-]+$/.test(name) && !reservedNames.has(name))
    return name
  throw new InvalidInputError(`"${redactArgument(name)}" is not a valid name for a profile`, {
    hint: `Use letters, digits, - and _, at most ${maxProfileLength} characters.`,
  })
}

export interface LoginResult {
  profile: string
  storage: SecretStorage
  user: User
  /**
   * Other profiles with the same base URL and another key. If they belong to the same organisation, their keys may be
   * revoked: "Generating a new key revokes the previous one".
   */
  replaced: string[]
}

export interface ProfileEntry {
  profile: string
  current: boolean
  base_url: string
  user_email: string
  /** The storage of the key; null if the profile has no key. */
  key_from: SecretStorage | null
  /** The key as `maskKey` shows it; null if the profile has none, or if the keychain does not return it. */
  key: string | null
  webhook_secret_from: SecretStorage | null
}

export interface LogoutResult {
  profile: string
  /** The secrets that the profile had. */
  removed: SecretName[]
  /** The removed secrets that the keychain did not delete. refcheck no longer uses them. */
  left_in_keychain: SecretName[]
}

/** A setting that can be set; `value` and `from` are null if it is not set. */
export interface SettingEntry {
  key: string
  value: string | null
  from: 'profile' | 'settings' | null
  meaning: string
}

export interface SessionStatus {
  /** Null if all credentials come from the environment. */
  profile: string | null
  base_url: string
  user_email: string
  key_from: Session['keyFrom']
  /** The key as `maskKey` shows it. */
  key: string
  /** Whether the service accepted the credentials (GET /v1/users). */
  works: boolean
  /** The user of the credentials; null if the service did not accept them. */
  user: User | null
}

export interface StatusAnswer {
  status: SessionStatus
  /** The error of the service; undefined if the credentials work. */
  error: RefcheckError | undefined
}
