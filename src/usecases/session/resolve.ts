import { type ChosenProfile, chosenProfile, fromEnvironment, type ProfileSources } from './chosen-profile.ts'
import {
  parseBaseUrl,
  sameOrigin,
  checkApiKey,
  type Credentials,
  type StoredSecret,
  type SecretStorage,
  type Session,
} from '../../domain/session/session.ts'
import { checkEmail } from '../../domain/session/users.ts'
import { UnauthenticatedError, UsageError } from '../../errors/kinds.ts'
import type { Environment } from '../../host/process.ts'
import type { Services } from '../services.ts'

export type SessionSources = ProfileSources & Pick<Services, 'secrets'>

/**
 * Who calls, and where to (src/docs/cli.md, "Environment"): `--profile` names all three values; without it
 * each of REFCHECK_BASE_URL, REFCHECK_API_KEY and REFCHECK_USER_EMAIL overrides the profile's, and
 * with all three no profile and no file is touched. A kept key goes to the origin it was saved for and
 * nowhere else. No key is an UnauthenticatedError, any other gap a UsageError.
 */
export async function resolveSession(sources: SessionSources): Promise<Session> {
  if (sources.profile !== undefined) return ofNamedProfile(sources)
  const { env } = sources
  const values: EnvironmentValues = {
    baseUrl: checked(env, 'REFCHECK_BASE_URL', parseBaseUrl),
    apiKey: checked(env, 'REFCHECK_API_KEY', checkApiKey),
    email: checked(env, 'REFCHECK_USER_EMAIL', checkEmail),
  }
  const { baseUrl, apiKey, email } = values
  if (baseUrl !== undefined && apiKey !== undefined && email !== undefined) {
    return { baseUrl, apiKey, email, profile: undefined, keyFrom: 'environment' }
  }
  const profile = await chosenProfile(sources)
  if (profile === undefined) throw missing(values, [...(await sources.settings.profiles()).keys()])
  return mixed(profile, values, sources)
}

/** Where to call; for what needs no key. */
export async function resolveBaseUrl(sources: ProfileSources): Promise<string> {
  const text = fromEnvironment(sources.env, 'REFCHECK_BASE_URL')
  if (sources.profile === undefined && text !== undefined) return parseBaseUrl(text, 'REFCHECK_BASE_URL')
  const profile = await chosenProfile(sources)
  if (profile === undefined) throw noBaseUrl()
  return baseUrlOf(profile)
}

/**
 * The base URL of the service that signs with the secret: the profile's that has it, or the one that was named.
 * Undefined for a secret of the environment with nothing but the profile in use, which may be another service's.
 */
export async function signingService(
  sources: SessionSources,
  from: 'environment' | SecretStorage,
): Promise<string | undefined> {
  const { env, profile } = sources
  const named =
    profile ?? fromEnvironment(env, 'REFCHECK_BASE_URL') ?? fromEnvironment(env, 'REFCHECK_PROFILE')
  return from === 'environment' && named === undefined ? undefined : resolveBaseUrl(sources)
}

type EnvironmentValues = { [name in keyof Credentials]: string | undefined }

function checked(
  env: Environment,
  name: string,
  check: (text: string, source: string) => string,
): string | undefined {
  const text = fromEnvironment(env, name)
  return text === undefined ? undefined : check(text, name)
}

/** The first thing that is not there, the key before all. `profiles`: those that could be switched to. */
function missing(
  { baseUrl, apiKey }: EnvironmentValues,
  profiles: readonly string[],
): UnauthenticatedError | UsageError {
  if (apiKey === undefined && profiles.length > 0) {
    return new UnauthenticatedError('no profile is in use', {
      hint: `Use one with: refcheck auth switch ${profiles[0]}${profiles.length === 1 ? '' : ` (or ${profiles.slice(1).join(', ')})`}`,
    })
  }
  if (apiKey === undefined) return noKey()
  if (baseUrl === undefined) return noBaseUrl()
  return new UsageError('the user e-mail is missing', {
    hint: 'Set REFCHECK_USER_EMAIL, or log in with: refcheck auth login',
  })
}

/** The environment's values, the profile's where it has none. */
async function mixed(
  profile: ChosenProfile,
  env: EnvironmentValues,
  sources: SessionSources,
): Promise<Session> {
  const baseUrl = env.baseUrl ?? baseUrlOf(profile)
  const email = env.email ?? emailOf(profile)
  if (env.apiKey !== undefined) {
    return { baseUrl, apiKey: env.apiKey, email, profile: profile.name, keyFrom: 'environment' }
  }
  const stored = await sources.secrets.read(profile.name, 'api-key')
  if (stored === undefined) throw noKey(profile.name)
  const savedFor = stored.baseUrl ?? profile.baseUrl
  if (env.baseUrl !== undefined && !sameOrigin(env.baseUrl, savedFor)) {
    throw new UsageError(
      `REFCHECK_BASE_URL is ${env.baseUrl}, but the key of profile "${profile.name}" is for ${savedFor}`,
      { hint: 'Set REFCHECK_API_KEY and REFCHECK_USER_EMAIL as well, or unset REFCHECK_BASE_URL.' },
    )
  }
  return withStoredKey(profile, stored, { baseUrl, email })
}

/** `--profile`: the profile's values, and the environment's key only where the profile has none. */
async function ofNamedProfile(sources: SessionSources): Promise<Session> {
  const profile = await chosenProfile(sources)
  if (profile === undefined) throw noKey()
  const baseUrl = baseUrlOf(profile)
  const email = emailOf(profile)
  const stored = await sources.secrets.read(profile.name, 'api-key')
  if (stored !== undefined) return withStoredKey(profile, stored, { baseUrl, email })
  const elsewhere = fromEnvironment(sources.env, 'REFCHECK_BASE_URL')
  const apiKey = checked(sources.env, 'REFCHECK_API_KEY', checkApiKey)
  if (apiKey === undefined || (elsewhere !== undefined && !sameOrigin(elsewhere, baseUrl))) {
    throw noKey(profile.name)
  }
  return { baseUrl, apiKey, email, profile: profile.name, keyFrom: 'environment' }
}

function withStoredKey(
  profile: ChosenProfile,
  stored: StoredSecret,
  { baseUrl, email }: Pick<Credentials, 'baseUrl' | 'email'>,
): Session {
  if (stored.baseUrl !== undefined && !sameOrigin(baseUrl, stored.baseUrl)) {
    throw new UsageError(
      `profile "${profile.name}" has the base URL ${baseUrl}, but its key was saved for ${stored.baseUrl}`,
      { hint: `Log in again with: refcheck auth login --profile ${profile.name} --base-url ${baseUrl}` },
    )
  }
  const apiKey = checkApiKey(stored.value, `the kept API key of profile "${profile.name}"`)
  return { baseUrl, apiKey, email, profile: profile.name, keyFrom: stored.storage }
}

/** The file may have been edited by hand. */
function baseUrlOf(profile: ChosenProfile): string {
  return parseBaseUrl(profile.baseUrl, `the base URL of profile "${profile.name}"`)
}

function emailOf(profile: ChosenProfile): string {
  return checkEmail(profile.userEmail, `the e-mail of profile "${profile.name}"`)
}

function noKey(profile?: string): UnauthenticatedError {
  const login = `refcheck auth login${profile === undefined ? '' : ` --profile ${profile}`}`
  return new UnauthenticatedError(
    profile === undefined ? 'you are not logged in' : `profile "${profile}" has no API key`,
    {
      hint: `Log in with: ${login}\nIn a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead.`,
    },
  )
}

function noBaseUrl(): UsageError {
  return new UsageError('the base URL is missing', {
    hint: 'Log in with: refcheck auth login\nIn a script, set REFCHECK_BASE_URL instead.',
  })
}
