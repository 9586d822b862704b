import type { Api } from '../../api/api.ts'
import { formatIssues } from '../../contract/issue-words.ts'
import { type RequestBody, requestBody } from '../../contract/request.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import { RefcheckError, InterruptedError, InvalidInputError } from '../../errors/kinds.ts'

/** The internals of a client that refcheck/journal uses; not part of the public interface. */
export interface ClientInternals {
  api: Api
  apiKey: string
}

const internalsByClient = new WeakMap<object, ClientInternals>()

export function registerClient<T extends object>(client: T, internals: ClientInternals): T {
  internalsByClient.set(client, internals)
  return client
}

export function internalsOf(client: object): ClientInternals {
  const internals = Object(client) === client ? internalsByClient.get(client) : undefined
  if (internals === undefined) throw invalidOption('client', 'must be a client that createClient made')
  return internals
}

/**
 * Runs a call of the library. Rewrites the hints of its RefcheckErrors so that they name options and methods instead
 * of commands. `file` is the path of a journal, some of whose faults only the command line can repair.
 */
export async function runLibraryCall<T>(
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
  file?: string,
): Promise<T> {
  try {
    if (signal?.aborted === true) throw signal.reason
    checkSignal(signal)
    return await call()
  } catch (error) {
    throw toLibraryError(error, signal, file)
  }
}

export function toLibraryError(error: unknown, signal: AbortSignal | undefined, file?: string): unknown {
  if (signal?.aborted === true && !(error instanceof RefcheckError)) {
    return new InterruptedError('the call was aborted', { cause: signal.reason })
  }
  for (let each = error; each instanceof RefcheckError; each = each.cause) {
    each.hint = toLibraryHint(each.hint, file)
  }
  return error
}

/** Sentences of hints for the command line, each with the sentence for programs that replaces it. */
const replacements: readonly [RegExp, string][] = [
  [
    /Check whether the service is up with: refcheck ping/,
    'Check whether the service is up with client.ping().',
  ],
  [/(List the packages that .*?) with: refcheck packages list.*/, '$1 with client.listPackages().'],
  [
    /An active user can list them with: refcheck users list/,
    'An active user can list them with client.listUsers().',
  ],
  [
    /Run it again in (\d+) s\b[^.]*\./,
    'Call it again in $1 s, or wait longer: timeoutMs for reads, waitMs for orders.',
  ],
  [/[Rr]un it again\./, 'Call it again.'],
  [/Correct REFCHECK_API_KEY and REFCHECK_USER_EMAIL, or .*/, 'Correct the options apiKey and userEmail.'],
  [/If REFCHECK_API_KEY is set, .*/, 'Pass the current key as the option apiKey.'],
  [
    /Check the ids and whether the report is ready with "refcheck.*/,
    'Check the ids, and whether client.getRequest() shows the report as ready.',
  ],
  [
    /Download the report by .*?: refcheck report .*/,
    'Download the report by its ids: client.report({ checkId, refereeId }).',
  ],
  [/[;,] compare with: refcheck doctor/, '.'],
  [/add --allow-(duplicate|similar)\./, 'pass allow-$1: true.'],
  [/--allow-duplicate does not override this\./, 'allow-duplicate does not override this.'],
  [/Show the request with: refcheck request get .*/, 'Read the request with client.getRequest().'],
  [/See who ordered it: refcheck request get .*/, 'See who ordered it with client.getRequest().'],
  [/Settle (it with|that order first): refcheck batch reconcile.*/, 'Reconcile it with journal.reconcile().'],
  [/Wait until that command has ended, then .*/, 'Wait until that call has ended.'],
]

const commandLineText = /\brefcheck [a-z]|REFCHECK_|(?:^|\s)--[a-z]/

/**
 * Returns a hint without command lines and flags. A sentence without a replacement is removed. For a journal, the
 * commands are appended with the REFCHECK_STORE value for its file.
 */
function toLibraryHint(hint: string | undefined, file: string | undefined): string | undefined {
  const sentences = hint?.split(/(?<=\.)\s+(?=[A-Z-])|\n/).map((sentence) => {
    let text = sentence
    for (const [words, replacement] of replacements) text = text.replace(words, replacement)
    return text.replace(/allow-(d|s)/g, (_, letter: string) => `allow${letter.toUpperCase()}`)
  })
  const librarySentences = sentences?.filter((sentence) => !commandLineText.test(sentence)) ?? []
  const commands = sentences?.filter((sentence) => /\brefcheck [a-z]/.test(sentence)) ?? []
  if (file !== undefined && commands.length > 0)
    librarySentences.push(
      `On the command line, with REFCHECK_STORE=${shellWord(file)}: ${commands.join(' ')}`,
    )
  return librarySentences.length === 0 ? undefined : librarySentences.join(' ')
}

export function invalidOption(name: string, problem: string): InvalidInputError {
  return new InvalidInputError(`${name} ${problem}`, { field: name, hint: 'Nothing was sent.' })
}

/** Returns an option in milliseconds; Infinity is allowed. Throws an InvalidInputError for any other value. */
export function checkMilliseconds(value: unknown, name: string): number {
  if (typeof value === 'number' && value >= 0) return value
  throw invalidOption(name, 'must be a number of milliseconds, 0 or more')
}

export function checkText(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalidOption(name, 'must be a text that is not empty')
}

function checkSignal(value: unknown): void {
  if (value !== undefined && !(value instanceof AbortSignal))
    throw invalidOption('signal', 'must be an AbortSignal')
}

/** Returns `order` as it is sent. Throws an InvalidInputError if it is not a valid order. */
export function checkOrderBody(order: unknown): RequestBody {
  const result = requestBody.safeParse(order, formatIssues)
  if (result.success) return order as RequestBody
  const [issue] = result.error.issues
  throw invalidOption(issue?.path.join('.') || 'body', issue?.message ?? 'is not valid')
}
