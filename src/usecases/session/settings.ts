import type { SettingEntry } from '../../domain/session/session.ts'
import type { SettingDefinition } from '../../domain/session/setting-keys.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { containsApiKey } from '../../domain/wording/redact-argument.ts'
import { InvalidInputError, NotFoundError } from '../../errors/kinds.ts'
import type { Settings } from '../../store/config/settings.ts'
import type { Services } from '../services.ts'

interface Sources {
  settings: Settings
  /** `--profile`: settings of this profile instead of those for all. */
  profile?: string | undefined
}

/** Every setting that there is; values as the profile in use sees them. */
export async function listSettings(
  { settings, profile }: Sources,
  definitions: readonly SettingDefinition[],
): Promise<SettingEntry[]> {
  const values = await settings.values(profile ?? (await settings.currentProfile()))
  return definitions.map(({ key, meaning }) => {
    const stored = values.get(key)
    return { key, value: stored?.value ?? null, from: stored?.from ?? null, meaning }
  })
}

/** Throws NotFoundError where it is not set, UsageError where there is no such setting. */
export async function getSetting({ settings, profile }: Sources, key: string): Promise<string> {
  const value = await settings.value(key, profile ?? (await settings.currentProfile()))
  if (value !== undefined) return value
  throw new NotFoundError(`${key} is not set`, { hint: `Set it with: refcheck config set ${key} VALUE` })
}

/** The value as it is kept; an InvalidInputError where that would be an API key, since settings are no secrets. */
export async function setSetting({ settings, profile }: Sources, key: string, text: string): Promise<string> {
  if (containsApiKey(text)) {
    throw new InvalidInputError(`${key}: what looks like an API key is not kept in the settings`, {
      field: key,
      hint: 'Give the key to: refcheck auth login',
    })
  }
  // The names are many, and two libraries' own.
  if (key === 'encoding') await (await import('../../sheets/text.ts')).requireEncoding(text, key)
  return settings.setValue(key, text, profile)
}

/** False where it was not set. */
export function unsetSetting({ settings, profile }: Sources, key: string): Promise<boolean> {
  return settings.unsetValue(key, profile)
}

/**
 * What a person has to know before a setting changes the account: who is recorded under the one that is left. Undefined where
 * no person becomes new, as where there is no store yet.
 */
export async function accountChange(
  openStore: () => Promise<Pick<Services, 'accounts'> | undefined>,
  { from = '', to = '' }: { from: string | undefined; to: string | undefined },
): Promise<string | undefined> {
  // People without an account are seen by every account, and without an account all people are seen.
  if (from === '' || to === '' || from === to) return undefined
  const known = (await (await openStore())?.accounts.list()) ?? []
  const people = known.find(({ account: name }) => name === from)?.people ?? 0
  if (people === 0) return undefined
  const them = people === 1 ? 'this person' : 'they'
  return `${formatCount(people, 'person is', 'people are')} known under the account "${from}"; under "${to}" ${them} can be ordered again.`
}
