import { shellWord } from '../../domain/wording/shell-word.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Settings } from '../../store/config/settings.ts'
import { parseBaseUrl } from '../../domain/session/base-url.ts'
import { checkApiKey, type Credentials } from '../../domain/session/credentials.ts'
import { checkEmail } from '../../domain/session/user-email.ts'
import { type Connect, offerEmails } from './login.ts'

export interface AskSources {
  /** Undefined where nobody can be asked. */
  prompter: Prompter | undefined
  /** As --profile named it. */
  profile?: string | undefined
  settings: Settings
  connect: Connect
  signal?: AbortSignal | undefined
}

type Given = { [name in keyof Credentials]: string | undefined }

/** What was given, checked by its form, and the rest asked for. Throws a UsageError where nobody can be asked. */
export async function askCredentials(given: Given, sources: AskSources): Promise<Credentials> {
  const { prompter } = sources
  const baseUrl = given.baseUrl === undefined ? undefined : parseBaseUrl(given.baseUrl, '--base-url')
  const apiKey = given.apiKey === undefined ? undefined : checkApiKey(given.apiKey)
  const email = given.email === undefined ? undefined : checkEmail(given.email)
  if (prompter === undefined) return complete({ baseUrl, apiKey, email }, sources.profile)
  const address = baseUrl ?? (await askBaseUrl(prompter))
  const key = apiKey ?? (await askKey(prompter))
  return { baseUrl: address, apiKey: key, email: email ?? (await askEmail(prompter, address, key, sources)) }
}

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

async function askBaseUrl(prompter: Prompter): Promise<string> {
  const text = await prompter.text({
    message: 'Base URL of the service',
    help: 'https://…, as given to you by the provider',
    check: problemOf(parseBaseUrl),
  })
  return parseBaseUrl(text)
}

async function askKey(prompter: Prompter): Promise<string> {
  return checkApiKey(await prompter.secret({ message: 'API key (not shown)', check: problemOf(checkApiKey) }))
}

/** With a profile that works at hand, a choice of the organisation's users; else whatever is typed. */
async function askEmail(
  prompter: Prompter,
  baseUrl: string,
  apiKey: string,
  { settings, connect, signal }: AskSources,
): Promise<string> {
  const offered = await offerEmails({ baseUrl, apiKey, settings, connect, signal })
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
