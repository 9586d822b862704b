import type { Api } from '../../api/api.ts'
import { isLoopbackUrl } from '../../contract/loopback.ts'
import type { User } from '../../contract/user.ts'
import {
  parseBaseUrl,
  checkApiKey,
  type Credentials,
  type Profile,
  type LoginResult,
} from '../../domain/session/session.ts'
import { checkEmail } from '../../domain/session/users.ts'
import { RefcheckError } from '../../errors/base.ts'
import { ForbiddenError } from '../../errors/kinds.ts'
import type { Secrets } from '../../store/config/secrets.ts'
import type { Settings } from '../../store/config/settings.ts'

/** Makes the API of these credentials; nothing is called yet. */
export type Connect = (credentials: Credentials) => Api

export interface LoginInput extends Credentials {
  /** Name to save it under; chosen where it is left out. */
  profile?: string | undefined
  /** Into a file even where there is a keychain. */
  insecure?: boolean | undefined
  settings: Settings
  secrets: Secrets
  connect: Connect
  signal?: AbortSignal | undefined
}

/**
 * Checks the credentials by their form, then live (GET /v1/users), and only then saves them as a
 * profile and makes it the current one. Whatever fails before that leaves everything as it was.
 */
export async function login(input: LoginInput): Promise<LoginResult> {
  const { settings, secrets } = input
  const credentials: Credentials = {
    baseUrl: parseBaseUrl(input.baseUrl),
    apiKey: checkApiKey(input.apiKey),
    email: checkEmail(input.email),
  }
  // Looked up before the call, so that an impossible name or a damaged file costs none.
  if (input.profile !== undefined) await settings.profile(input.profile)
  const profiles = await settings.profiles()
  const user = await activeUser(credentials, input)

  const name = input.profile ?? (await freeName(credentials, settings))
  const replaced = await otherKeys(name, credentials, profiles, secrets)
  const { apiKey, baseUrl, email } = credentials
  const storage = await secrets.save(name, 'api-key', apiKey, { baseUrl, insecure: input.insecure })
  try {
    await settings.saveProfile(name, { baseUrl, userEmail: email }, { makeCurrent: true })
  } catch (error) {
    if (!profiles.has(name)) await secrets.remove(name, 'api-key')
    throw error
  }
  return { profile: name, storage, user, replaced }
}

/**
 * The e-mails a person may log in with, learnt with the new key and the users of the profiles that
 * already call the same base URL. Empty where none of that works.
 */
export async function offerEmails(
  input: Pick<LoginInput, 'baseUrl' | 'apiKey' | 'settings' | 'connect' | 'signal'>,
): Promise<string[]> {
  const baseUrl = parseBaseUrl(input.baseUrl)
  const apiKey = checkApiKey(input.apiKey)
  const known = [...(await input.settings.profiles()).values()].filter((each) => each.baseUrl === baseUrl)
  for (const email of new Set(known.map((each) => each.userEmail))) {
    try {
      const users = await input.connect({ baseUrl, apiKey, email }).listUsers(input.signal)
      return users.map((each) => each.email)
    } catch (error) {
      // The next user may be an active one; a key that is refused, or no answer, is the same for all.
      if (!(error instanceof RefcheckError) || error.code === 'interrupted') throw error
      if (error.code !== 'forbidden') return []
    }
  }
  return []
}

async function activeUser(credentials: Credentials, { connect, signal }: LoginInput): Promise<User> {
  const users = await connect(credentials).listUsers(signal)
  const wanted = credentials.email.toLowerCase()
  const user = users.find((each) => each.email.toLowerCase() === wanted)
  if (user !== undefined) return user
  throw new ForbiddenError(`"${credentials.email}" is not an active user of the key’s organisation`, {
    hint: 'Use the e-mail of an active user. An Owner sees them in the organisation settings; a working profile lists them with: refcheck users list',
  })
}

/** The profile that is already this one, else `default`, else the host's first label. */
async function freeName({ baseUrl, email }: Credentials, settings: Settings): Promise<string> {
  const profiles = await settings.profiles()
  const same = (profile: Profile | undefined): boolean =>
    profile?.baseUrl === baseUrl && profile.userEmail.toLowerCase() === email.toLowerCase()
  const current = await settings.currentProfile()
  if (current !== undefined && same(profiles.get(current))) return current
  for (const [name, profile] of profiles) if (same(profile)) return name
  if (!profiles.has('default')) return 'default'
  const label = hostLabel(baseUrl)
  if (!profiles.has(label)) return label
  for (let number = 2; ; number++) if (!profiles.has(`${label}-${number}`)) return `${label}-${number}`
}

function hostLabel(baseUrl: string): string {
  if (isLoopbackUrl(baseUrl)) return 'local'
  const { hostname } = new URL(baseUrl)
  const address = /^[\d.]+$|^\[/.test(hostname)
  const label = address ? hostname : (hostname.split('.')[0] ?? '')
  const safe = label.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '')
  return safe.slice(0, 48) || 'service'
}

async function otherKeys(
  name: string,
  { baseUrl, apiKey }: Credentials,
  profiles: ReadonlyMap<string, Profile>,
  secrets: Secrets,
): Promise<string[]> {
  const others: string[] = []
  for (const [each, profile] of profiles) {
    if (each === name || profile.baseUrl !== baseUrl) continue
    // A keychain that will not tell is no reason to fail a login.
    const stored = await secrets.read(each, 'api-key').catch(() => undefined)
    if (stored !== undefined && stored.value !== apiKey) others.push(each)
  }
  return others
}
