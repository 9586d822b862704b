import type { Scope } from '../cli/scope.ts'
import { isWholeId } from '../domain/request/id-start.ts'
import { session } from './session.ts'
import { store } from './store.ts'

/**
 * Whole ids of requests of the service in use that were named by their ids or the start of them; the store is asked for
 * starts alone.
 */
export async function requestIdsOf(scope: Scope, named: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const each of named) {
    const baseUrl = isWholeId(each) ? undefined : (await session(scope)).baseUrl
    ids.push(await requestIdOf(scope, each, baseUrl))
  }
  return ids
}

/** The same of one, of any service where none is said. */
export async function requestIdOf(scope: Scope, named: string, baseUrl?: string): Promise<string> {
  if (isWholeId(named)) return named
  const { findRequestId } = await import('../usecases/request/find-id.ts')
  return findRequestId(await store(scope), named, baseUrl)
}
