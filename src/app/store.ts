import { requireNoPassword } from '../domain/store/moving.ts'
import type { Migrated } from '../domain/store/types.ts'
import type { Store } from '../store/ledger/store.ts'
import type { App } from './app.ts'
import type { PurgedAll } from '../usecases/store/purge.ts'

/** Brings it to the newest format; a file is made where there is none. */
export async function migratedStore(app: App): Promise<Migrated> {
  const { migrateStore } = await import('../store/ledger/open.ts')
  return migrateStore(await app.storeOptions())
}

/** Two places, and what moving a store from one to the other needs; nothing is made yet. */
export async function storeToMove(app: App, from: string, to: string) {
  const { openFormerStore, openNewStore } = await import('../store/ledger/open.ts')
  const { storeLocation, resolveStoreAddress } = await import('../store/ledger/open.ts')
  const optionsOf = async (name: string, chosen: string) => {
    requireNoPassword(name, chosen)
    return { ...(await app.storeOptions(chosen)), patienceMs: 0 }
  }
  const [source, target] = [await optionsOf('FROM', from), await optionsOf('TO', to)]
  const remember = <Made extends Store>(made: Made): Made => {
    app.onClose(() => made.close())
    return made
  }
  return {
    to: storeLocation(target),
    from: remember(await openFormerStore(source)),
    address: resolveStoreAddress(target).kind === 'file' ? undefined : to,
    openTo: async () => remember(await openNewStore(target)),
    ...(await app.services('clock', 'random')),
  }
}

/**
 * Removes what is older than the setting `retention` says, as `store purge` does, or with `dryRun` counts it; undefined where
 * it is not set.
 */
export async function purgeAllExpired(app: App, dryRun: boolean): Promise<PurgedAll | undefined> {
  const retention = await app.setting('retention')
  if (retention === undefined) return undefined
  const { purgeExpired, purgeServices } = await import('../usecases/store/purge.ts')
  return purgeExpired(await app.services(...purgeServices, 'clock'), retention, dryRun)
}
