import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store, StoreOptions } from '../../../src/store/ledger/store.ts'
import { clearStore, sharedStore } from '../../harness/postgres-store.ts'

/** The database engines: every rule of the Store interface is tested with each. */
export const backends = ['SQLite', 'PostgreSQL'] as const
export type Backend = (typeof backends)[number]

export interface TemporaryStores {
  folder: string
  /** Path of the default SQLite store in this folder. The store is created when it is first opened. */
  path: string
  /** Opens the default store or the given one. Its messages are added to `messages`. */
  openStore(chosen?: string): Promise<Store>
  /** Opens a store and returns its ledger. */
  openLedger(chosen?: string): Promise<Ledger>
  messages: string[]
  /** The options that stores are opened with. */
  options: Omit<StoreOptions, 'chosenAddress'>
  /** Closes all opened stores and removes the folder. */
  remove(): Promise<void>
}

/** Creates a folder for the stores of a test. With PostgreSQL the tests of a file use one database in turn. */
export function createTemporaryStores(lockWaitMs = 50, backend: Backend = 'SQLite'): TemporaryStores {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-ledger-'))
  const openedStores: Store[] = []
  const messages: string[] = []
  const sharedUrl = backend === 'SQLite' ? undefined : sharedStore()
  const options: TemporaryStores['options'] = {
    paths: { config: join(folder, 'config'), data: join(folder, 'data') },
    cwd: folder,
    clock: systemClock,
    random: systemRandom,
    // PostgreSQL needs longer than a file until a lock is released.
    lockWaitMs: backend === 'SQLite' ? lockWaitMs : Math.max(lockWaitMs, 2_000),
    reconnectMs: 0,
    onMessage: (message) => messages.push(message),
  }
  const setup: TemporaryStores = {
    folder,
    path: join(folder, 'data', 'ledger.sqlite'),
    messages,
    options,
    openLedger: async (chosen) => (await setup.openStore(chosen)).ledger,
    async openStore(chosen) {
      const store = await openStore({ ...options, chosenAddress: chosen ?? (await sharedUrl) })
      openedStores.push(store)
      return store
    },
    async remove() {
      for (const store of openedStores) await store.close()
      rmSync(folder, { recursive: true })
      if (sharedUrl !== undefined) await clearStore(await sharedUrl)
    },
  }
  return setup
}
