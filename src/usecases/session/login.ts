import type { Api } from '../../api/api.ts'
import { isLoopbackUrl } from '../../contract/url.ts'
import type { User } from '../../contract/user.ts'
import {
  parseBaseUrl,
  checkApiKey,
  type Credentials,
  type Profile,
  type LoginResult,
  maskKey,
  type SessionStatus,
  type StatusAnswer,
} from '../../domain/session/session.ts'
import { checkEmail } from '../../domain/session/users.ts'
import { RefcheckError, ForbiddenError, NotFoundError, UsageError } from '../../errors/kinds.ts'
import type { Secrets } from '../../store/config/secrets.ts'
import type { Settings } from '../../store/config/settings.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { resolveSession, type SessionSources } from './resolve.ts'

/** Creates the API client for these credentials, without a call. */
export type ConnectAs = (credentials: Credentials) => Api

export interface LoginInput extends Credentials {
  /** Name of the profile to save; chosen automatically if undefined. */
  profile?: string | undefined
  /** Whether to store the key in a file even if there is a keychain. */
  insecure?: boolean | undefined
  settings: Settings
  secrets: Secrets
  connect: ConnectAs
  signal?: AbortSignal | undefined
}

/**
 * Checks the form of the credentials, then tries them with a call (GET /v1/users), and only then saves them as a
 * profile and makes it the current one. A failure before that changes nothing.
 */
export async function login(input: LoginInput): Promise<LoginResult> {
  const { settings, secrets } = input
  const credentials: Credentials = {
    baseUrl: parseBaseUrl(input.baseUrl),
    apiKey: checkApiKey(input.apiKey),
    email: checkEmail(input.email),
  }
  // Read before the call, so that an invalid name or a damaged file does not cost a call.
  if (input.profile !== undefined) await settings.profile(input.profile)
  const profiles = await settings.profiles()
  const user = await requireActiveUser(credentials, input)

  const name = input.profile ?? chooseProfileName(credentials, profiles, await settings.currentProfile())
  const replacedProfiles = await findProfilesWithOtherKeys(name, credentials, profiles, secrets)
  const { apiKey, baseUrl, email } = credentials
  const storage = await secrets.save(name, 'api-key', apiKey, { baseUrl, insecure: input.insecure })
  try {
    await settings.saveProfile(name, { baseUrl, userEmail: email }, { makeCurrent: true })
  } catch (error) {
    if (!profiles.has(name)) await secrets.remove(name, 'api-key')
    throw error
  }
  return { profile: name, storage, user, replaced: replacedProfiles }
}

/**
 * Returns the e-mails that the user may log in with: those of the organisation, read with the new key as a
 * user of a profile with the same base URL. Returns an empty list if no such call works.
 */
export async function listLoginEmails(
  input: Pick<LoginInput, 'baseUrl' | 'apiKey' | 'settings' | 'connect' | 'signal'>,
): Promise<string[]> {
  const baseUrl = parseBaseUrl(input.baseUrl)
  const apiKey = checkApiKey(input.apiKey)
  const profilesOfService = [...(await input.settings.profiles()).values()].filter(
    (each) => each.baseUrl === baseUrl,
  )
  for (const email of new Set(profilesOfService.map((each) => each.userEmail))) {
    try {
      const users = await input.connect({ baseUrl, apiKey, email }).listUsers(input.signal)
      return users.map((each) => each.email)
    } catch (error) {
      // The user of another profile may be active. A refused key or an unreachable service would fail for
      // every user.
      if (!(error instanceof RefcheckError) || error.code === 'interrupted') throw error
      if (error.code !== 'forbidden') return []
    }
  }
  return []
}

/** Replaces a "not found" by an error that names the base URL: there is no service at it. */
function toServiceMissingError(error: RefcheckError, baseUrl: string): RefcheckError {
  if (error.code !== 'not_found') return error
  return new NotFoundError(`there is no service at ${baseUrl}`, {
    hint: 'Compare the address with the one that the provider gave you.',
    cause: error,
  })
}

async function requireActiveUser(credentials: Credentials, { connect, signal }: LoginInput): Promise<User> {
  const users = await connect(credentials)
    .listUsers(signal)
    .catch((error: unknown) => {
      throw error instanceof RefcheckError ? toServiceMissingError(error, credentials.baseUrl) : error
    })
  const wantedEmail = credentials.email.toLowerCase()
  const user = users.find((each) => each.email.toLowerCase() === wantedEmail)
  if (user !== undefined) return user
  throw new ForbiddenError(`"${credentials.email}" is not an active user of the key’s organisation`, {
    hint: 'Use the e-mail of an active user. An Owner sees them in the organisation settings; a working profile lists them with: refcheck users list',
  })
}

/**
 * Returns the name of the profile with the same user, or `default`, or else a name made of the host's first label.
 */
function chooseProfileName(
  { baseUrl, email }: Credentials,
  profiles: ReadonlyMap<string, Profile>,
  current: string | undefined,
): string {
  const isSameUser = (profile: Profile | undefined): boolean =>
    profile?.baseUrl === baseUrl && profile.userEmail.toLowerCase() === email.toLowerCase()
  if (current !== undefined && isSameUser(profiles.get(current))) return current
  for (const [name, profile] of profiles) if (isSameUser(profile)) return name
  if (!profiles.has('default')) return 'default'
  const label = hostLabel(baseUrl)
  if (!profiles.has(label)) return label
  for (let number = 2; ; number++) if (!profiles.has(`${label}-${number}`)) return `${label}-${number}`
}

function hostLabel(baseUrl: string): string {
  if (isLoopbackUrl(baseUrl)) return 'local'
  const { hostname } = new URL(baseUrl)
  const isAddress = /^[\d.]+$|^\[/.test(hostname)
  const label = isAddress ? hostname : (hostname.split('.')[0] ?? '')
  const safeLabel = label.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '')
  return safeLabel.slice(0, 48) || 'service'
}

/** Returns the names of the other profiles of the same service whose stored key is another one. */
async function findProfilesWithOtherKeys(
  name: string,
  { baseUrl, apiKey }: Credentials,
  profiles: ReadonlyMap<string, Profile>,
  secrets: Secrets,
): Promise<string[]> {
  const otherNames: string[] = []
  for (const [otherName, profile] of profiles) {
    if (otherName === name || profile.baseUrl !== baseUrl) continue
    // A keychain that refuses to return a secret must not fail the login.
    const storedKey = await secrets.read(otherName, 'api-key').catch(() => undefined)
    if (storedKey !== undefined && storedKey.value !== apiKey) otherNames.push(otherName)
  }
  return otherNames
}

interface AskSources extends Omit<LoginInput, keyof GivenCredentials> {
  /** Undefined without a terminal. */
  prompter: Prompter | undefined
  /** Calls an endpoint that needs no key. Throws if the service does not respond at this base URL. */
  requireReachable: (baseUrl: string) => Promise<void>
  /** Called with the error before a value is asked for again. */
  onRefused: (error: RefcheckError) => void
}

/** The value that is asked for again after an error; the other values are kept. */
const partByErrorCode: Partial<Record<RefcheckError['code'], keyof GivenCredentials>> = {
  unauthenticated: 'apiKey',
  forbidden: 'email',
  unavailable: 'baseUrl',
  not_found: 'baseUrl',
}

/**
 * Logs in with the given values and asks for the others: the base URL, which is tried at once, the key and the
 * e-mail. Only a value that the service refuses is asked for again. For an existing profile only the new key is asked
 * for.
 */
export async function loginAsking(
  given: GivenCredentials,
  sources: AskSources,
): Promise<LoginResult & { baseUrl: string }> {
  const { prompter } = sources
  const checkedGiven = checkGiven(given)
  if (prompter === undefined) {
    const credentials = requireComplete(checkedGiven, sources.profile)
    return { ...(await login({ ...sources, ...credentials })), baseUrl: credentials.baseUrl }
  }
  const { profile, ...knownValues } = await chooseProfileToRenew(prompter, checkedGiven, sources)
  const refusedValues: Partial<GivenCredentials> = {}
  for (;;) {
    try {
      const baseUrl = knownValues.baseUrl ?? (await askBaseUrl(prompter, refusedValues.baseUrl, sources))
      const apiKey = knownValues.apiKey ?? (await askKey(prompter))
      Object.assign(knownValues, { baseUrl, apiKey })
      const email =
        knownValues.email ?? (await askEmail(prompter, { ...sources, baseUrl, apiKey }, refusedValues.email))
      knownValues.email = email
      return { ...(await login({ ...sources, profile, baseUrl, apiKey, email })), baseUrl }
    } catch (error) {
      const part = error instanceof RefcheckError ? partByErrorCode[error.code] : undefined
      if (part === undefined || !(error instanceof RefcheckError)) throw error
      sources.onRefused(error)
      refusedValues[part] = knownValues[part]
      knownValues[part] = undefined
    }
  }
}

/**
 * Returns the profile whose key is renewed, named or chosen by the user, with its values; without such a
 * profile, the given values.
 */
async function chooseProfileToRenew(
  prompter: Prompter,
  given: GivenCredentials,
  { profile: namedProfile, settings }: AskSources,
): Promise<GivenCredentials & { profile: string | undefined }> {
  const profiles = await settings.profiles()
  const canChoose = namedProfile === undefined && given.baseUrl === undefined && given.email === undefined
  const name = canChoose
    ? await chooseProfile(prompter, profiles, await settings.currentProfile())
    : namedProfile
  const existingProfile = name === undefined ? undefined : profiles.get(name)
  return {
    profile: name,
    apiKey: given.apiKey,
    baseUrl: given.baseUrl ?? existingProfile?.baseUrl,
    // The users of another service may be different.
    email: given.email ?? (given.baseUrl === undefined ? existingProfile?.userEmail : undefined),
  }
}

async function chooseProfile(
  prompter: Prompter,
  profiles: ReadonlyMap<string, Profile>,
  current: string | undefined,
): Promise<string | undefined> {
  if (profiles.size === 0) return undefined
  const names = [...profiles.keys()].toSorted()
  const isCurrent = (name: string): boolean => name === current
  names.sort((one, other) => Number(isCurrent(other)) - Number(isCurrent(one)))
  return prompter.select<string | undefined>({
    message: 'What do you want to do?',
    choices: [
      ...names.map((name) => ({
        value: name,
        label: `Renew the key of profile "${name}"`,
        detail: `${profiles.get(name)?.userEmail ?? ''} at ${profiles.get(name)?.baseUrl ?? ''}`,
      })),
      { value: undefined, label: 'Log in to another service or as another user' },
    ],
  })
}

/** Credentials, as far as the command line gives them. */
type GivenCredentials = { [name in keyof Credentials]: string | undefined }

/** Checks the form of the given values. */
function checkGiven(given: GivenCredentials): GivenCredentials {
  return {
    baseUrl: given.baseUrl === undefined ? undefined : parseBaseUrl(given.baseUrl, '--base-url'),
    apiKey: given.apiKey === undefined ? undefined : checkApiKey(given.apiKey),
    email: given.email === undefined ? undefined : checkEmail(given.email),
  }
}

/** Returns all three values, for use without a terminal. Throws a UsageError if one is missing. */
function requireComplete(
  { baseUrl, apiKey, email }: GivenCredentials,
  profile: string | undefined,
): Credentials {
  const missingFlags = [
    ...(baseUrl === undefined ? ['--base-url URL'] : []),
    ...(apiKey === undefined ? ['--with-key'] : []),
    ...(email === undefined ? ['--email EMAIL'] : []),
  ]
  if (baseUrl !== undefined && apiKey !== undefined && email !== undefined) return { baseUrl, apiKey, email }
  const profileFlag = profile === undefined ? '' : ` --profile ${shellWord(profile)}`
  throw new UsageError(`there is no terminal to ask on; missing: ${missingFlags.join(', ')}`, {
    hint: `Give all three with: refcheck auth login${profileFlag} --base-url URL --email EMAIL --with-key < key.txt`,
  })
}

/**
 * Asks for the base URL, before anything else, until the service responds there. `refusedUrl`: the URL that was refused
 * before.
 */
async function askBaseUrl(
  prompter: Prompter,
  refusedUrl: string | undefined,
  { requireReachable, onRefused }: AskSources,
): Promise<string> {
  for (let initial = refusedUrl; ;) {
    const text = await prompter.text({
      message: 'Base URL of the service',
      help: 'https://…, as given to you by the provider',
      initial,
      check: problemOf(parseBaseUrl),
    })
    const baseUrl = parseBaseUrl(text)
    try {
      await requireReachable(baseUrl)
      return baseUrl
    } catch (error) {
      if (!(error instanceof RefcheckError) || error.code === 'interrupted') throw error
      onRefused(toServiceMissingError(error, baseUrl))
      initial = baseUrl
    }
  }
}

async function askKey(prompter: Prompter): Promise<string> {
  return checkApiKey(await prompter.secret({ message: 'API key (not shown)', check: problemOf(checkApiKey) }))
}

/** Lets the user choose among the organisation's users if they could be read, or else type an e-mail. */
async function askEmail(
  prompter: Prompter,
  connection: Parameters<typeof listLoginEmails>[0],
  refusedEmail: string | undefined,
): Promise<string> {
  const offeredEmails = refusedEmail === undefined ? await listLoginEmails(connection) : []
  const otherChoice = ''
  if (offeredEmails.length > 0) {
    const chosenEmail = await prompter.select({
      message: 'User who makes the calls',
      choices: [
        ...offeredEmails.map((value) => ({ value, label: value })),
        { value: otherChoice, label: 'Another e-mail' },
      ],
    })
    if (chosenEmail !== otherChoice) return checkEmail(chosenEmail)
  }
  const text = await prompter.text({
    message: 'User e-mail',
    help: 'of an active user of the organisation, who is recorded as the requester',
    initial: refusedEmail,
    check: problemOf(checkEmail),
  })
  return checkEmail(text)
}

/** Turns a check that throws into one that returns the reason. */
function problemOf(check: (text: string) => string): (text: string) => string | undefined {
  return (text) => {
    try {
      check(text)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : 'this is not valid'
    }
  }
}

/**
 * Returns the session that the next command would use, and whether its credentials work. Throws if there is no
 * session.
 */
export async function readSessionStatus(
  sources: SessionSources & { connect: ConnectAs; signal?: AbortSignal | undefined },
): Promise<StatusAnswer> {
  const session = await resolveSession(sources)
  const status: SessionStatus = {
    profile: session.profile ?? null,
    base_url: session.baseUrl,
    user_email: session.email,
    key_from: session.keyFrom,
    key: maskKey(session.apiKey),
    works: false,
    user: null,
  }
  try {
    const users = await sources.connect(session).listUsers(sources.signal)
    const user = users.find((each) => each.email.toLowerCase() === session.email.toLowerCase())
    if (user !== undefined) return { status: { ...status, works: true, user }, error: undefined }
    const error = new ForbiddenError(`"${session.email}" is not an active user of the key’s organisation`, {
      hint: 'Log in with the e-mail of an active user: refcheck auth login',
    })
    return { status, error }
  } catch (error) {
    if (error instanceof RefcheckError && error.code !== 'interrupted') return { status, error }
    throw error
  }
}
