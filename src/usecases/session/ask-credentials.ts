import { shellWord } from '../../domain/wording/shell-word.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { parseBaseUrl, checkApiKey, type Credentials } from '../../domain/session/session.ts'
import { checkEmail } from '../../domain/session/users.ts'

/** Credentials as far as they were given. */
export type Given = { [name in keyof Credentials]: string | undefined }

/** What was given, checked by its form alone. */
export function checkedForm(given: Given): Given {
  return {
    baseUrl: given.baseUrl === undefined ? undefined : parseBaseUrl(given.baseUrl, '--base-url'),
    apiKey: given.apiKey === undefined ? undefined : checkApiKey(given.apiKey),
    email: given.email === undefined ? undefined : checkEmail(given.email),
  }
}

/** All three, where nobody can be asked; a UsageError where one is missing. */
export function complete({ baseUrl, apiKey, email }: Given, profile: string | undefined): Credentials {
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
export async function askBaseUrl(prompter: Prompter, typed?: string): Promise<string> {
  const text = await prompter.text({
    message: 'Base URL of the service',
    help: 'https://…, as given to you by the provider',
    initial: typed,
    check: problemOf(parseBaseUrl),
  })
  return parseBaseUrl(text)
}

export async function askKey(prompter: Prompter): Promise<string> {
  return checkApiKey(await prompter.secret({ message: 'API key (not shown)', check: problemOf(checkApiKey) }))
}

/** A choice of the organisation's users where they are known, else whatever is typed. */
export async function askEmail(
  prompter: Prompter,
  offered: readonly string[],
  typed?: string,
): Promise<string> {
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
