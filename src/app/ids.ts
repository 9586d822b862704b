import { NotFoundError } from '../errors/kinds.ts'
import { isRequestIdStart, isWholeId, requestIdStart } from '../domain/request/id-start.ts'
import { findBatch } from '../usecases/batch/read-batch.ts'
import type { App } from './app.ts'

/**
 * Whole ids of requests of the service in use that were named by their ids or the start of them, on a terminal also by the
 * name or e-mail of a person with one order. The store is asked for those that are no whole id. `what`: the flag or argument.
 */
export async function requestIdsOf(
  app: App,
  named: readonly string[],
  what = 'REQUEST_ID',
): Promise<string[]> {
  const ids: string[] = []
  for (const each of named) ids.push(await requestIdNamed(app, each, what))
  return ids
}

/** The same of one. */
export async function requestIdNamed(app: App, text: string, what: string): Promise<string> {
  // A script that names people could order or download for another one of the same name.
  const isName = app.context.streams.stdout.isTTY && !isRequestIdStart(text)
  const id = isName ? '' : requestIdStart(text, what)
  if (isWholeId(id)) return id
  const session = await app.service('session')
  if (!isName) {
    try {
      return await requestIdOf(app, id, session.baseUrl)
    } catch (error) {
      // "Abbe" is the start of an id too.
      if (!(error instanceof NotFoundError) || !/^[a-f]+$/.test(id) || !app.context.streams.stdout.isTTY)
        throw error
    }
  }
  const { findRequestOfPerson } = await import('../usecases/request/read-requests.ts')
  return findRequestOfPerson(await app.services('ledger'), text, session.baseUrl)
}

/** By its id or the start of it alone, of any service where none is said. */
export async function requestIdOf(app: App, named: string, baseUrl?: string): Promise<string> {
  if (isWholeId(named)) return named
  const { findRequestId } = await import('../usecases/request/read-requests.ts')
  return findRequestId(await app.services('ledger', 'inbox'), named, baseUrl)
}

/** The whole id of a batch that was named by its id or the start of it; undefined for none. */
export async function batchIdOf(app: App, named: string | undefined): Promise<string | undefined> {
  if (named === undefined) return undefined
  return (await findBatch(await app.batchServices(), named)).id
}
