import { requireNoPassword } from '../domain/store/moving.ts'
import type { Migrated } from '../domain/store/types.ts'
import type { Store } from '../store/ledger/store.ts'
import type { App } from './app.ts'
import type { PurgedAll } from '../usecases/store/purge.ts'

/** Migrates the store to the newest format. Creates the file if it does not exist. */
export async function migrate(app: App): Promise<Migrated> {
  const { migrateStore } = await import('../store/ledger/open.ts')
  return migrateStore(await app.storeOptions())
}

/** Returns the two stores of a move and the services for it. The new store is not created yet. */
export async function openStoresToMove(app: App, from: string, to: string) {
  const { openFormerStore, openNewStore } = await import('../store/ledger/open.ts')
  const { storeLocation, resolveStoreAddress } = await import('../store/ledger/open.ts')
  const optionsOf = async (name: string, chosen: string) => {
    requireNoPassword(name, chosen)
    return { ...(await app.storeOptions(chosen)), patienceMs: 0 }
  }
  const [source, target] = [await optionsOf('FROM', from), await optionsOf('TO', to)]
  const closeAtEnd = <Made extends Store>(made: Made): Made => {
    app.onClose(() => made.close())
    return made
  }
  return {
    to: storeLocation(target),
    from: closeAtEnd(await openFormerStore(source)),
    address: resolveStoreAddress(target).kind === 'file' ? undefined : to,
    openTo: async () => closeAtEnd(await openNewStore(target)),
    ...(await app.services('clock', 'random')),
  }
}

/**
 * Removes data that is older than the setting `retention`, as `store purge` does, or only counts it with `dryRun`.
 * Undefined if the setting is not set.
 */
export async function purgeAllExpired(app: App, dryRun: boolean): Promise<PurgedAll | undefined> {
  const retention = await app.setting('retention')
  if (retention === undefined) return undefined
  const { purgeExpired, purgeServices } = await import('../usecases/store/purge.ts')
  return purgeExpired(await app.services(...purgeServices, 'clock'), retention, dryRun)
}
