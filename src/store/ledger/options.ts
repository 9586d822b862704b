import { resolve } from 'node:path'

import { storeAddress } from '../../domain/store/address.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'

export interface StoreOptions {
  /** REFCHECK_STORE, else the setting `store`: a file or `:memory:`; the data folder's own file when undefined. */
  chosen: string | undefined
  paths: Paths
  /** What a relative path starts from. */
  cwd: string
  clock: Clock
  random: Random
  /** Milliseconds to wait for a store another process is writing to; 5,000 unless told. */
  busyMs?: number | undefined
  /** Told in one sentence what was fixed on the way (a file or folder others could read). */
  onNotice?: ((notice: string) => void) | undefined
}

/**
 * Where the store is: the chosen file or `:memory:`, else `ledger.sqlite` in the data folder.
 * Absolute, but for `:memory:`. Throws UsageError for anything else.
 */
export function storeLocation(options: Pick<StoreOptions, 'chosen' | 'paths' | 'cwd'>): string {
  const { chosen, paths, cwd } = options
  if (chosen === undefined || chosen === '') return resolve(cwd, paths.data, 'ledger.sqlite')
  const address = storeAddress(chosen)
  switch (address.kind) {
    case 'memory':
      return chosen
    case 'file':
      return resolve(cwd, address.path)
    case 'postgres':
      throw refused('a store on PostgreSQL (postgres://) is not supported yet')
    case 'none':
      throw refused(address.why)
  }
}

function refused(why: string): UsageError {
  return new UsageError(why, {
    hint: 'Set REFCHECK_STORE to a file, or unset it to use the one in the data folder.',
  })
}
