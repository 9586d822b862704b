import { dirname, resolve } from 'node:path'

import { privateFolder } from '../../disk/private-modes.ts'
import { type StoreOptions, storePlace } from './options.ts'
import type { Store } from './store.ts'

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
