import {
  type ChosenProfile,
  findChosenProfile,
  fromEnvironment,
  type ProfileSources,
} from './chosen-profile.ts'
import {
  parseBaseUrl,
  isSameOrigin,
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
 * Returns the credentials and base URL of the session (src/docs/cli.md, "Environment"). `--profile` determines all
 * three values. Without it, each of REFCHECK_BASE_URL, REFCHECK_API_KEY and REFCHECK_USER_EMAIL overrides the
 * profile's value, and with all three set no file is read. A stored key is sent only to the origin that it was saved
 * for. Throws an UnauthenticatedError without a key, and a UsageError if another value is missing.
 */
export async function resolveSession(sources: SessionSources): Promise<Session> {
  if (sources.profile !== undefined) return resolveNamedProfile(sources)
  const { env } = sources
  const values: EnvironmentValues = {
    baseUrl: readVariable(env, 'REFCHECK_BASE_URL', parseBaseUrl),
    apiKey: readVariable(env, 'REFCHECK_API_KEY', checkApiKey),
    email: readVariable(env, 'REFCHECK_USER_EMAIL', checkEmail),
  }
  const { baseUrl, apiKey, email } = values
  if (baseUrl !== undefined && apiKey !== undefined && email !== undefined) {
    return { baseUrl, apiKey, email, profile: undefined, keyFrom: 'environment' }
  }
  const profile = await findChosenProfile(sources)
  if (profile === undefined) throw missingError(values, [...(await sources.settings.profiles()).keys()])
  return mergeWithProfile(profile, values, sources)
}

/** Returns the base URL, for calls that need no key. */
export async function resolveBaseUrl(sources: ProfileSources): Promise<string> {
  const text = fromEnvironment(sources.env, 'REFCHECK_BASE_URL')
  if (sources.profile === undefined && text !== undefined) return parseBaseUrl(text, 'REFCHECK_BASE_URL')
  const profile = await findChosenProfile(sources)
  if (profile === undefined) throw createNoBaseUrlError()
  return baseUrlOf(profile)
}

/**
 * Returns the base URL of the service that signs with the webhook secret. Returns undefined if the secret
 * comes from the environment and neither a profile nor a base URL was named: the current profile may be for
 * another service.
 */
export async function findSigningService(
  sources: SessionSources,
  from: 'environment' | SecretStorage,
): Promise<string | undefined> {
  const { env, profile } = sources
  const namedSource =
    profile ?? fromEnvironment(env, 'REFCHECK_BASE_URL') ?? fromEnvironment(env, 'REFCHECK_PROFILE')
  return from === 'environment' && namedSource === undefined ? undefined : resolveBaseUrl(sources)
}

type EnvironmentValues = { [name in keyof Credentials]: string | undefined }

function readVariable(
  env: Environment,
  name: string,
  check: (text: string, source: string) => string,
): string | undefined {
  const text = fromEnvironment(env, name)
  return text === undefined ? undefined : check(text, name)
}

/**
 * Returns the error for the first missing value, the key before all others. `profiles`: the profiles that could be
 * used.
 */
function missingError(
  { baseUrl, apiKey }: EnvironmentValues,
  profiles: readonly string[],
): UnauthenticatedError | UsageError {
  if (apiKey === undefined && profiles.length > 0) {
    return new UnauthenticatedError('no profile is in use', {
      hint: `Use one with: refcheck auth switch ${profiles[0]}${profiles.length === 1 ? '' : ` (or ${profiles.slice(1).join(', ')})`}`,
    })
  }
  if (apiKey === undefined) return createNoKeyError()
  if (baseUrl === undefined) return createNoBaseUrlError()
  return new UsageError('the user e-mail is missing', {
    hint: 'Set REFCHECK_USER_EMAIL, or log in with: refcheck auth login',
  })
}

/** Returns the values of the environment, completed by those of the profile. */
async function mergeWithProfile(
  profile: ChosenProfile,
  values: EnvironmentValues,
  sources: SessionSources,
): Promise<Session> {
  const baseUrl = values.baseUrl ?? baseUrlOf(profile)
  const email = values.email ?? emailOf(profile)
  if (values.apiKey !== undefined) {
    return { baseUrl, apiKey: values.apiKey, email, profile: profile.name, keyFrom: 'environment' }
  }
  const storedKey = await sources.secrets.read(profile.name, 'api-key')
  if (storedKey === undefined) throw createNoKeyError(profile.name)
  const savedBaseUrl = storedKey.baseUrl ?? profile.baseUrl
  if (values.baseUrl !== undefined && !isSameOrigin(values.baseUrl, savedBaseUrl)) {
    throw new UsageError(
      `REFCHECK_BASE_URL is ${values.baseUrl}, but the key of profile "${profile.name}" is for ${savedBaseUrl}`,
      { hint: 'Set REFCHECK_API_KEY and REFCHECK_USER_EMAIL as well, or unset REFCHECK_BASE_URL.' },
    )
  }
  return withStoredKey(profile, storedKey, { baseUrl, email })
}

/**
 * Returns the session for `--profile`: the profile's values, and the environment's key only if the profile has none.
 */
async function resolveNamedProfile(sources: SessionSources): Promise<Session> {
  const profile = await findChosenProfile(sources)
  if (profile === undefined) throw createNoKeyError()
  const baseUrl = baseUrlOf(profile)
  const email = emailOf(profile)
  const storedKey = await sources.secrets.read(profile.name, 'api-key')
  if (storedKey !== undefined) return withStoredKey(profile, storedKey, { baseUrl, email })
  const environmentBaseUrl = fromEnvironment(sources.env, 'REFCHECK_BASE_URL')
  const apiKey = readVariable(sources.env, 'REFCHECK_API_KEY', checkApiKey)
  if (
    apiKey === undefined ||
    (environmentBaseUrl !== undefined && !isSameOrigin(environmentBaseUrl, baseUrl))
  ) {
    throw createNoKeyError(profile.name)
  }
  return { baseUrl, apiKey, email, profile: profile.name, keyFrom: 'environment' }
}

function withStoredKey(
  profile: ChosenProfile,
  storedKey: StoredSecret,
  { baseUrl, email }: Pick<Credentials, 'baseUrl' | 'email'>,
): Session {
  if (storedKey.baseUrl !== undefined && !isSameOrigin(baseUrl, storedKey.baseUrl)) {
    throw new UsageError(
      `profile "${profile.name}" has the base URL ${baseUrl}, but its key was saved for ${storedKey.baseUrl}`,
      { hint: `Log in again with: refcheck auth login --profile ${profile.name} --base-url ${baseUrl}` },
    )
  }
  const apiKey = checkApiKey(storedKey.value, `the kept API key of profile "${profile.name}"`)
  return { baseUrl, apiKey, email, profile: profile.name, keyFrom: storedKey.storage }
}

/** Returns the profile's base URL, which is checked because the file may have been edited by hand. */
function baseUrlOf(profile: ChosenProfile): string {
  return parseBaseUrl(profile.baseUrl, `the base URL of profile "${profile.name}"`)
}

function emailOf(profile: ChosenProfile): string {
  return checkEmail(profile.userEmail, `the e-mail of profile "${profile.name}"`)
}

function createNoKeyError(profile?: string): UnauthenticatedError {
  const login = `refcheck auth login${profile === undefined ? '' : ` --profile ${profile}`}`
  return new UnauthenticatedError(
    profile === undefined ? 'you are not logged in' : `profile "${profile}" has no API key`,
    {
      hint: `Log in with: ${login}\nIn a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead.`,
    },
  )
}

function createNoBaseUrlError(): UsageError {
  return new UsageError('the base URL is missing', {
    hint: 'Log in with: refcheck auth login\nIn a script, set REFCHECK_BASE_URL instead.',
  })
}
