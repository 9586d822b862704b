import type { SettingDefinition } from '../../domain/session/setting-keys.ts'
import type { SettingEntry } from '../../domain/session/session.ts'
import { holdsApiKey } from '../../domain/wording/redact-argument.ts'
import { InvalidInputError, NotFoundError } from '../../errors/kinds.ts'
import type { Settings } from '../../store/config/settings.ts'

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
    const kept = values.get(key)
    return { key, value: kept?.value ?? null, from: kept?.from ?? null, meaning }
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
  if (holdsApiKey(text)) {
    throw new InvalidInputError(`${key}: what looks like an API key is not kept in the settings`, {
      field: key,
      hint: 'Give the key to: refcheck auth login',
    })
  }
  // The names are many, and two libraries' own.
  if (key === 'encoding') await (await import('../../sheets/encoding.ts')).requireEncoding(text, key)
  return settings.setValue(key, text, profile)
}

/** False where it was not set. */
export function unsetSetting({ settings, profile }: Sources, key: string): Promise<boolean> {
  return settings.unsetValue(key, profile)
}
