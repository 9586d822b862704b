import type { Scope } from '../cli/scope.ts'
import { keptSince } from '../domain/store/retention.ts'
import { setting } from './session.ts'
import { store } from './store.ts'

/** The setting `retention` as it is written, and the moment before which it keeps nothing; undefined where none is set. */
export async function retention(scope: Scope): Promise<{ text: string; endedBefore: number } | undefined> {
  const text = await setting(scope, 'retention')
  if (text === undefined) return undefined
  const endedBefore = keptSince(text, scope.context.clock.now())
  return endedBefore === undefined ? undefined : { text, endedBefore }
}

/** Removes what is older than the setting says at that time. */
export function retirement(scope: Scope): () => Promise<{ rows: number; events: number } | undefined> {
  return async () => {
    const limit = await retention(scope)
    if (limit === undefined) return undefined
    const { maintenance } = await store(scope)
    return maintenance.purge(limit, { dryRun: false, completely: false })
  }
}
