import { UsageError } from '../../errors/kinds.ts'
import type { Environment } from '../../host/process.ts'
import type { Profile } from '../../domain/session/session.ts'
import type { Settings } from '../../store/config/settings.ts'
import type { Services } from '../services.ts'

export type ProfileSources = Pick<Services, 'settings' | 'env'> & Partial<Pick<Services, 'profile'>>

export interface ChosenProfile extends Profile {
  name: string
}

/** Returns the value of an environment variable; undefined if it is empty. */
export function fromEnvironment(env: Environment, name: string): string | undefined {
  const value = env[name]
  return value === '' ? undefined : value
}

/**
 * Returns the profile of `--profile`, or of REFCHECK_PROFILE, or else the current one; undefined if there is none.
 * Throws a UsageError with the list of profiles if the name is unknown.
 */
export async function findChosenProfile(sources: ProfileSources): Promise<ChosenProfile | undefined> {
  const { settings } = sources
  const name =
    sources.profile ?? fromEnvironment(sources.env, 'REFCHECK_PROFILE') ?? (await settings.currentProfile())
  if (name === undefined) return undefined
  const profile = await settings.profile(name)
  if (profile === undefined) throw await createUnknownProfileError(name, settings)
  return { name, ...profile }
}

export async function createUnknownProfileError(name: string, settings: Settings): Promise<UsageError> {
  const names = [...(await settings.profiles()).keys()]
  return new UsageError(`no profile named "${name}"`, {
    hint: names.length === 0 ? 'Log in with: refcheck auth login' : `Profiles: ${names.join(', ')}`,
  })
}
