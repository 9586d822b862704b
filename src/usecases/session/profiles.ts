import { findChosenProfile, type ProfileSources, createUnknownProfileError } from './chosen-profile.ts'
import { maskKey, type LogoutResult, type Profile, type ProfileEntry } from '../../domain/session/session.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Secrets } from '../../store/config/secrets.ts'
import type { Settings } from '../../store/config/settings.ts'

interface StoredProfiles {
  settings: Settings
  secrets: Secrets
}

const readProfilesByName = async (settings: Settings): Promise<[string, Profile][]> =>
  [...(await settings.profiles())].sort(([one], [other]) => (one < other ? -1 : 1))

/** Lists all profiles, sorted by name. */
export async function listProfiles({ settings, secrets }: StoredProfiles): Promise<ProfileEntry[]> {
  const current = await settings.currentProfile()
  return Promise.all(
    (await readProfilesByName(settings)).map(async ([name, profile]) => {
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

/** Returns the profile that the user chooses. Throws a UsageError without a terminal or without a profile. */
export async function askProfile(
  prompter: Prompter | undefined,
  { settings }: Pick<StoredProfiles, 'settings'>,
): Promise<string> {
  const profiles = await readProfilesByName(settings)
  if (prompter === undefined || profiles.length === 0) {
    const [message, hint] =
      profiles.length === 0
        ? ['there is no profile yet', 'Log in with: refcheck auth login']
        : ['the name of a profile is required', 'List the profiles with: refcheck auth list']
    throw new UsageError(message, { hint })
  }
  const current = await settings.currentProfile()
  return prompter.select({
    message: 'Which profile?',
    choices: profiles.map(([name, { userEmail, baseUrl }]) => ({
      value: name,
      label: `${name}${name === current ? ' (in use)' : ''}: ${userEmail} at ${baseUrl}`,
    })),
    initial: current,
  })
}

/** Makes a profile the current one. Throws a UsageError with the list of profiles if the name is unknown. */
export async function switchProfile(
  name: string,
  { settings }: Pick<StoredProfiles, 'settings'>,
): Promise<{ profile: string }> {
  await settings.switchTo(name)
  return { profile: name }
}

/**
 * Removes a profile, by default the one in use, with its key and webhook secret in every storage. If it was the
 * current one, no profile is current afterwards.
 */
export async function logout(
  sources: ProfileSources & StoredProfiles & { name?: string | undefined },
): Promise<LogoutResult> {
  const { settings, secrets } = sources
  const name = sources.name ?? (await findChosenProfile(sources))?.name
  if (name === undefined) {
    throw new UsageError('no profile is in use', {
      hint: 'List the profiles with: refcheck auth list',
    })
  }
  // The secrets are removed first: if the second step fails, the profile can be removed again.
  const { removed, leftInKeychain } = await secrets.remove(name)
  const wasRemoved = await settings.removeProfile(name)
  if (!wasRemoved && removed.length === 0) throw await createUnknownProfileError(name, settings)
  return { profile: name, removed, left_in_keychain: leftInKeychain }
}
