import { dirname, resolve } from 'node:path'

import { privateFolder } from '../../disk/private-modes.ts'
import type { Migrated } from '../../domain/store/told.ts'
import { type StoreOptions, storePlace } from './options.ts'
import type { Store } from './store.ts'

/** Brings a store to the newest format. A file is brought there by opening it. */
export async function migrateStore(options: StoreOptions): Promise<Migrated> {
  const place = storePlace(options)
  if (place.kind === 'postgres') {
    const { migratePostgresStore } = await import('./postgres/open.ts')
    return migratePostgresStore(place.server, options)
  }
  const store = await openStore(options)
  try {
    const { location, format } = await store.maintenance.info()
    return { location, from: format, to: format }
  } finally {
    await store.close()
  }
}

/** Opens the store; a file is made on the first use. Throws IoError where it cannot be used, saying why. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { paths, cwd, onNotice } = options
  const place = storePlace(options)
  if (place.kind === 'postgres') {
    const { openPostgresStore } = await import('./postgres/open.ts')
    return openPostgresStore(place.server, options)
  }
  const location = place.path
  if (dirname(location) === resolve(cwd, paths.data)) {
    const notice = await privateFolder(dirname(location))
    if (notice !== undefined) onNotice?.(notice)
  }
  const { openSqliteStore } = await import('./sqlite/open.ts')
  return openSqliteStore(location, options)
}
