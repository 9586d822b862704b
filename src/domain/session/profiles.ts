import { UsageError } from '../../errors/kinds.ts'
import type { SecretName, Secrets, SecretStorage } from '../../store/config/secrets.ts'
import type { Settings } from '../../store/config/settings.ts'
import { chosenProfile, type ProfileSources, unknownProfile } from './chosen-profile.ts'
import { maskKey } from './credentials.ts'

interface Kept {
  settings: Settings
  secrets: Secrets
}

export interface ProfileEntry {
  profile: string
  current: boolean
  base_url: string
  user_email: string
  /** Where the key is kept; null where there is none. */
  key_from: SecretStorage | null
  /** Its last four characters; null where there is none or the keychain will not hand it out. */
  key: string | null
  webhook_secret_from: SecretStorage | null
}

/** Every profile, by name. */
export async function listProfiles({ settings, secrets }: Kept): Promise<ProfileEntry[]> {
  const current = await settings.currentProfile()
  const profiles = [...(await settings.profiles())].sort(([one], [other]) => (one < other ? -1 : 1))
  return Promise.all(
    profiles.map(async ([name, profile]) => {
      const key = await secrets.read(name, 'api-key').catch(() => undefined)
      return {
        profile: name,
        current: name === current,
        base_url: profile.baseUrl,
        user_email: profile.userEmail,
        key_from: (await secrets.storage(name, 'api-key')) ?? null,
        key: key === undefined ? null : maskKey(key.value),
        webhook_secret_from: (await secrets.storage(name, 'webhook-secret')) ?? null,
      }
    }),
  )
}

/** Makes a profile the current one; one that is not there is a UsageError that lists the others. */
export async function switchTo(
  name: string,
  { settings }: Pick<Kept, 'settings'>,
): Promise<{ profile: string }> {
  await settings.switchTo(name)
  return { profile: name }
}

export interface LogoutResult {
  profile: string
  /** Which secrets it had. */
  removed: SecretName[]
  /** Those of them that the keychain did not give up; nothing refers to them any more. */
  left_in_keychain: SecretName[]
}

/**
 * Removes a profile (the chosen one where none is named) with its key and webhook secret, wherever
 * they are. If it was the current one, none is afterwards.
 */
export async function logout(
  sources: ProfileSources & Kept & { name?: string | undefined },
): Promise<LogoutResult> {
  const { settings, secrets } = sources
  const name = sources.name ?? (await chosenProfile(sources))?.name
  if (name === undefined) {
    throw new UsageError('there is no profile to log out of', {
      hint: 'Name one: refcheck auth logout NAME (refcheck auth list shows them)',
    })
  }
  // The secrets first: if the second step fails, the profile is still there to be removed again.
  const { removed, left } = await secrets.remove(name)
  const was = await settings.removeProfile(name)
  if (!was && removed.length === 0) throw await unknownProfile(name, settings)
  return { profile: name, removed, left_in_keychain: left }
}
