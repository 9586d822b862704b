import type { PurgedAll } from '../usecases/store/purge.ts'
import type { App } from './app.ts'

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
