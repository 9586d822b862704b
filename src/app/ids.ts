import { NotFoundError } from '../errors/kinds.ts'
import { isRequestIdStart, isWholeId, requestIdStart } from '../domain/request/id-start.ts'
import type { Prompter } from '../prompt/prompter.ts'
import { shellWord } from '../domain/wording/pasted-command.ts'
import { findBatch } from '../usecases/batch/read-batch.ts'
import type { App } from './app.ts'

/**
 * Returns the complete id of each request. A request is given as its id or the start of its id; on a terminal also as
 * the name or e-mail of its person, and `prompter` asks which one is meant if the person has several. The store is read
 * only for ids that are not complete. `what`: the flag or argument, for messages.
 */
export async function resolveRequestIds(
  app: App,
  typedIds: readonly string[],
  prompter: Prompter | undefined,
  what = 'REQUEST_ID',
): Promise<string[]> {
  const ids: string[] = []
  for (const each of typedIds) ids.push(await resolveRequestId(app, each, prompter, what))
  return ids
}

/** Returns the whole id of one request, as `resolveRequestIds` does. */
export async function resolveRequestId(
  app: App,
  text: string,
  prompter: Prompter | undefined,
  what: string,
): Promise<string> {
  // Without a terminal, persons are not accepted: a script could order or download for another person of the same
  // name.
  const isName = app.context.streams.stdout.isTTY && !isRequestIdStart(text)
  const id = isName ? '' : requestIdStart(text, what)
  if (isWholeId(id)) return id
  const session = await app.service('session')
  if (!isName) {
    try {
      return await completeRequestId(app, id, session.baseUrl)
    } catch (error) {
      // A name such as "Abbe" may also be the start of an id.
      if (!(error instanceof NotFoundError) || !/^[a-f]+$/.test(id) || !app.context.streams.stdout.isTTY)
        throw error
    }
  }
  const { findRequestOfPerson } = await import('../usecases/request/read-requests.ts')
  const { argv = [] } = app.context
  return findRequestOfPerson(await app.services('ledger', 'packageNames'), text, {
    baseUrl: session.baseUrl,
    prompter,
    commandFor: (requestId) =>
      ['refcheck', ...argv.map((word) => replaceValue(word, text, requestId))].map(shellWord).join(' '),
  })
}

/** Replaces a value in a word of a command line, which is the whole word or the text after `--flag=`. */
const replaceValue = (word: string, value: string, replacement: string): string =>
  word === value || (word.startsWith('--') && word.endsWith(`=${value}`))
    ? `${word.slice(0, word.length - value.length)}${replacement}`
    : word

/** Returns the whole id of a request by its id or the start of it; without `baseUrl`, of any service. */
export async function completeRequestId(app: App, typedId: string, baseUrl?: string): Promise<string> {
  if (isWholeId(typedId)) return typedId
  const { findRequestId } = await import('../usecases/request/read-requests.ts')
  return findRequestId(await app.services('ledger', 'inbox'), typedId, baseUrl)
}

/** Returns the whole id of a batch that was named by its id or the start of it; undefined if `typedId` is. */
export async function resolveBatchId(app: App, typedId: string | undefined): Promise<string | undefined> {
  if (typedId === undefined) return undefined
  return (await findBatch(await app.batchServices(), typedId)).id
}
