import type { Scope } from '../cli/scope.ts'
import { keptSince } from '../domain/store/retention.ts'
import type { PurgedAll } from '../usecases/store/purge.ts'
import { orderPlans } from './approval.ts'
import { drafts } from './drafts.ts'
import { setting } from './session.ts'
import { store } from './store.ts'
import { filePorts } from './written-files.ts'

/** The setting `retention` as it is written, and the moment before which it keeps nothing; undefined where none is set. */
export async function retention(scope: Scope): Promise<{ text: string; endedBefore: number } | undefined> {
  const text = await setting(scope, 'retention')
  if (text === undefined) return undefined
  const endedBefore = keptSince(text, scope.context.clock.now())
  return endedBefore === undefined ? undefined : { text, endedBefore }
}

/** Removes what is older than the setting says at that time, as `store purge` does; undefined where nothing is set. */
export function retirement(scope: Scope): () => Promise<PurgedAll | undefined> {
  return () => retired(scope, false)
}

/** What that would be; undefined where nothing is set. */
export const due = (scope: Scope): Promise<PurgedAll | undefined> => retired(scope, true)

async function retired(scope: Scope, dryRun: boolean): Promise<PurgedAll | undefined> {
  const limit = await retention(scope)
  if (limit === undefined) return undefined
  const { maintenance, ledger } = await store(scope)
  const { purgeAll } = await import('../usecases/store/purge.ts')
  return purgeAll(
    {
      maintenance,
      ledger,
      drafts: await drafts(scope),
      plans: await orderPlans(scope),
      ...(await filePorts(scope)),
      // Whoever set it has said so.
      confirm: async () => undefined,
      deletesFiles: () => Promise.resolve(false),
    },
    limit,
    { dryRun, completely: false },
  )
}
