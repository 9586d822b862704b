import {
  checkApiKey,
  type Credentials,
  type LoginResult,
  parseBaseUrl,
  type Profile,
} from '../../domain/session/session.ts'
import { checkEmail } from '../../domain/session/users.ts'
import { shellWord } from '../../domain/wording/shell-word.ts'
import { RefcheckError } from '../../errors/base.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { login, type LoginInput, offerEmails } from './login.ts'

interface AskSources extends Omit<LoginInput, keyof Given> {
  /** Undefined without a terminal. */
  prompter: Prompter | undefined
  /** Calls what needs no key; throws where nothing answers there as the service does. */
  reach: (baseUrl: string) => Promise<void>
  /** Called with the reason why something is asked for again. */
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
  const name = isOpen ? await chooseProfile(prompter, profiles, await settings.currentProfile()) : named
  const existing = name === undefined ? undefined : profiles.get(name)
  return {
    profile: name,
    apiKey: given.apiKey,
    baseUrl: given.baseUrl ?? existing?.baseUrl,
    // Another service may know other users.
    email: given.email ?? (given.baseUrl === undefined ? existing?.userEmail : undefined),
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

/** Credentials as far as they were given. */
type Given = { [name in keyof Credentials]: string | undefined }

/** What was given, checked by its form alone. */
function checkedForm(given: Given): Given {
  return {
    baseUrl: given.baseUrl === undefined ? undefined : parseBaseUrl(given.baseUrl, '--base-url'),
    apiKey: given.apiKey === undefined ? undefined : checkApiKey(given.apiKey),
    email: given.email === undefined ? undefined : checkEmail(given.email),
  }
}

/** All three, without a terminal; a UsageError where one is missing. */
function complete({ baseUrl, apiKey, email }: Given, profile: string | undefined): Credentials {
  const missing = [
    ...(baseUrl === undefined ? ['--base-url URL'] : []),
    ...(apiKey === undefined ? ['--with-key'] : []),
    ...(email === undefined ? ['--email EMAIL'] : []),
  ]
  if (baseUrl !== undefined && apiKey !== undefined && email !== undefined) return { baseUrl, apiKey, email }
  const profiled = profile === undefined ? '' : ` --profile ${shellWord(profile)}`
  throw new UsageError(`there is no terminal to ask on; missing: ${missing.join(', ')}`, {
    hint: `Give all three with: refcheck auth login${profiled} --base-url URL --email EMAIL --with-key < key.txt`,
  })
}

/** `typed`: what was given before and did not do. */
async function askBaseUrl(prompter: Prompter, typed?: string): Promise<string> {
  const text = await prompter.text({
    message: 'Base URL of the service',
    help: 'https://…, as given to you by the provider',
    initial: typed,
    check: problemOf(parseBaseUrl),
  })
  return parseBaseUrl(text)
}

async function askKey(prompter: Prompter): Promise<string> {
  return checkApiKey(await prompter.secret({ message: 'API key (not shown)', check: problemOf(checkApiKey) }))
}

/** A choice of the organisation's users where they are known, else whatever is typed. */
async function askEmail(prompter: Prompter, offered: readonly string[], typed?: string): Promise<string> {
  const other = ''
  if (offered.length > 0) {
    const chosen = await prompter.select({
      message: 'User who makes the calls',
      choices: [
        ...offered.map((value) => ({ value, label: value })),
        { value: other, label: 'Another e-mail' },
      ],
    })
    if (chosen !== other) return checkEmail(chosen)
  }
  const text = await prompter.text({
    message: 'User e-mail',
    help: 'of an active user of the organisation, who is recorded as the requester',
    initial: typed,
    check: problemOf(checkEmail),
  })
  return checkEmail(text)
}

/** A check that throws, as one that answers with the reason. */
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
