import type { SettingEntry } from '../../domain/session/session.ts'
import type { SettingDefinition } from '../../domain/session/setting-keys.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { containsApiKey } from '../../domain/wording/redact-argument.ts'
import { InvalidInputError, NotFoundError } from '../../errors/kinds.ts'
import type { Settings } from '../../store/config/settings.ts'
import type { Services } from '../services.ts'

interface Sources {
  settings: Settings
  /** `--profile`: the settings of this profile are read and changed instead of those for all profiles. */
  profile?: string | undefined
}

/** Lists all settings, with the values for the current profile. */
export async function listSettings(
  { settings, profile }: Sources,
  definitions: readonly SettingDefinition[],
): Promise<SettingEntry[]> {
  const values = await settings.values(profile ?? (await settings.currentProfile()))
  return definitions.map(({ key, meaning }) => {
    const storedSetting = values.get(key)
    return { key, value: storedSetting?.value ?? null, from: storedSetting?.from ?? null, meaning }
  })
}

/** Returns a value. Throws NotFoundError if it is not set, and UsageError if there is no such setting. */
export async function getSetting({ settings, profile }: Sources, key: string): Promise<string> {
  const value = await settings.value(key, profile ?? (await settings.currentProfile()))
  if (value !== undefined) return value
  throw new NotFoundError(`${key} is not set`, { hint: `Set it with: refcheck config set ${key} VALUE` })
}

/**
 * Stores a setting and returns its value as stored. Throws an InvalidInputError for an API key, since
 * settings are not secret.
 */
export async function setSetting({ settings, profile }: Sources, key: string, text: string): Promise<string> {
  if (containsApiKey(text)) {
    throw new InvalidInputError(`${key}: what looks like an API key is not kept in the settings`, {
      field: key,
      hint: 'Give the key to: refcheck auth login',
    })
  }
  // Two libraries define the names of encodings, so they are loaded only for this check.
  if (key === 'encoding') await (await import('../../sheets/text.ts')).requireEncoding(text, key)
  return settings.setValue(key, text, profile)
}

/** Removes a setting. Returns false if it was not set. */
export function unsetSetting({ settings, profile }: Sources, key: string): Promise<boolean> {
  return settings.unsetValue(key, profile)
}

/**
 * Returns a warning before a setting changes the account: the number of people recorded under the former
 * account. Returns undefined if the store has no such people, or if there is no store yet.
 */
export async function findAccountChangeWarning(
  openStore: () => Promise<Pick<Services, 'accounts'> | undefined>,
  { from = '', to = '' }: { from: string | undefined; to: string | undefined },
): Promise<string | undefined> {
  // Orders without an account conflict with those of every account, so these changes need no warning.
  if (from === '' || to === '' || from === to) return undefined
  const accounts = (await (await openStore())?.accounts.list()) ?? []
  const people = accounts.find(({ account: name }) => name === from)?.people ?? 0
  if (people === 0) return undefined
  const them = people === 1 ? 'this person' : 'they'
  return `${formatCount(people, 'person is', 'people are')} known under the account "${from}"; under "${to}" ${them} can be ordered again.`
}
