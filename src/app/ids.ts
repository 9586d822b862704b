import { isWholeId } from '../domain/request/id-start.ts'
import { findBatch } from '../usecases/batch/read-batch.ts'
import type { App } from './app.ts'

/**
 * Whole ids of requests of the service in use that were named by their ids or the start of them; the store is asked for
 * starts alone.
 */
export async function requestIdsOf(app: App, named: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const each of named) {
    const baseUrl = isWholeId(each) ? undefined : (await app.services('session')).session.baseUrl
    ids.push(await requestIdOf(app, each, baseUrl))
  }
  return ids
}

/** The same of one, of any service where none is said. */
export async function requestIdOf(app: App, named: string, baseUrl?: string): Promise<string> {
  if (isWholeId(named)) return named
  const { findRequestId } = await import('../usecases/request/read-requests.ts')
  return findRequestId(await app.services('ledger', 'inbox'), named, baseUrl)
}

/** The whole id of a batch that was named by its id or the start of it; undefined for none. */
export async function batchIdOf(app: App, named: string | undefined): Promise<string | undefined> {
  if (named === undefined) return undefined
  return (await findBatch(await app.services('batches', 'waiting', 'ledger', 'clock'), named)).id
}
