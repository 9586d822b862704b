import { dirname, resolve } from 'node:path'
import { IoError } from '../../errors/kinds.ts'
import { existsSync } from 'node:fs'
import { makeOwnFolders } from '../../disk/private-modes.ts'
import type { Migrated } from '../../domain/store/types.ts'
import { type Store, type StoreOptions, storePlace } from './store.ts'

/** Brings a store to the newest format. A file is brought there by opening it. */
export async function migrateStore(options: StoreOptions): Promise<Migrated> {
  const place = storePlace(options)
  if (place.kind === 'postgres') {
    const { migratePostgresStore } = await import('./postgres/open.ts')
    return migratePostgresStore(place.server, options, false)
  }
  const store = await openStore(options)
  try {
    const { location, format } = await store.maintenance.info()
    return { location, from: format, to: format }
  } finally {
    await store.close()
  }
}

/** A store that is there; one that is not is never made by looking. */
export async function openFormerStore(options: StoreOptions): Promise<Store> {
  const place = storePlace(options)
  if (place.kind === 'file' && place.path !== ':memory:' && !existsSync(place.path)) {
    throw new IoError(`cannot use the store "${place.path}": the file is missing`, {
      hint: 'See which store is used with: refcheck store info',
    })
  }
  return openStore(options)
}

/** A store, made where there is none. */
export async function openNewStore(options: StoreOptions): Promise<Store> {
  const place = storePlace(options)
  if (place.kind === 'postgres') {
    const { migratePostgresStore } = await import('./postgres/open.ts')
    await migratePostgresStore(place.server, options, true)
  }
  return openStore(options)
}

/** Opens the store; a file is made on the first use. Throws IoError where it cannot be used, saying why. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { paths, cwd } = options
  const place = storePlace(options)
  if (place.kind === 'postgres') {
    const { openPostgresStore } = await import('./postgres/open.ts')
    return openPostgresStore(place.server, options)
  }
  const location = place.path
  if (dirname(location) === resolve(cwd, paths.data)) makeOwnFolders(dirname(location))
  const { openSqliteStore } = await import('./sqlite/open.ts')
  return openSqliteStore(location, options)
}
