import type { Profile, LoginResult } from '../../domain/session/session.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { askBaseUrl, askEmail, askKey, checkedForm, complete, type Given } from './ask-credentials.ts'
import { login, type LoginInput, offerEmails } from './login.ts'

export interface AskSources extends Omit<LoginInput, keyof Given> {
  /** Undefined where nobody can be asked. */
  prompter: Prompter | undefined
  /** Calls what needs no key; throws where nothing answers there as the service does. */
  reach: (baseUrl: string) => Promise<void>
  /** Told why something is asked for again. */
  onRefused: (error: RefcheckError) => void
}

/** What is asked for again after a failure: nothing else that was typed is. */
const wrongPart: Partial<Record<RefcheckError['code'], keyof Given>> = {
  unauthenticated: 'apiKey',
  forbidden: 'email',
  unavailable: 'baseUrl',
  not_found: 'baseUrl',
}

/**
 * Logs in with what was given, and asks for the rest: the base URL, which is tried at once, the key, the e-mail. What
 * the service refuses is asked for again, alone. A profile that is there needs its new key alone.
 */
export async function loginAsking(
  given: Given,
  sources: AskSources,
): Promise<LoginResult & { baseUrl: string }> {
  const { prompter } = sources
  const formed = checkedForm(given)
  if (prompter === undefined) {
    const credentials = complete(formed, sources.profile)
    return { ...(await login({ ...sources, ...credentials })), baseUrl: credentials.baseUrl }
  }
  const { profile, ...known } = await renewed(prompter, formed, sources)
  const refused: Partial<Given> = {}
  for (;;) {
    try {
      const baseUrl = known.baseUrl ?? (await askedUrl(prompter, refused.baseUrl, sources))
      const apiKey = known.apiKey ?? (await askKey(prompter))
      Object.assign(known, { baseUrl, apiKey })
      const email = known.email ?? (await askedEmail(prompter, { baseUrl, apiKey }, refused.email, sources))
      known.email = email
      return { ...(await login({ ...sources, profile, baseUrl, apiKey, email })), baseUrl }
    } catch (error) {
      const part = error instanceof RefcheckError ? wrongPart[error.code] : undefined
      if (part === undefined || !(error instanceof RefcheckError)) throw error
      sources.onRefused(error)
      refused[part] = known[part]
      known[part] = undefined
    }
  }
}

/** Tried before anything else is asked for, until something answers. */
async function askedUrl(
  prompter: Prompter,
  typed: string | undefined,
  { reach, onRefused }: AskSources,
): Promise<string> {
  for (let before = typed; ;) {
    const baseUrl = await askBaseUrl(prompter, before)
    try {
      await reach(baseUrl)
      return baseUrl
    } catch (error) {
      if (!(error instanceof RefcheckError) || error.code === 'interrupted') throw error
      onRefused(error)
      before = baseUrl
    }
  }
}

async function askedEmail(
  prompter: Prompter,
  known: { baseUrl: string; apiKey: string },
  typed: string | undefined,
  sources: AskSources,
): Promise<string> {
  const offered = typed === undefined ? await offerEmails({ ...sources, ...known }) : []
  return askEmail(prompter, offered, typed)
}

/** The profile whose key is renewed, named or chosen, with what it knows; else what was given. */
async function renewed(
  prompter: Prompter,
  given: Given,
  { profile: named, settings }: AskSources,
): Promise<Given & { profile: string | undefined }> {
  const profiles = await settings.profiles()
  const isOpen = named === undefined && given.baseUrl === undefined && given.email === undefined
  const name = isOpen ? await chosen(prompter, profiles, await settings.currentProfile()) : named
  const kept = name === undefined ? undefined : profiles.get(name)
  return {
    profile: name,
    apiKey: given.apiKey,
    baseUrl: given.baseUrl ?? kept?.baseUrl,
    // Another service may know other users.
    email: given.email ?? (given.baseUrl === undefined ? kept?.userEmail : undefined),
  }
}

async function chosen(
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
