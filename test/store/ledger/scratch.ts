import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store, StoreOptions } from '../../../src/store/ledger/store.ts'
import { clearStore, sharedStore } from '../../harness/postgres-store.ts'

/** What keeps a store: every promise of the Store interface is tested with each. */
export const backends = ['SQLite', 'PostgreSQL'] as const
export type Backend = (typeof backends)[number]

export interface Scratch {
  folder: string
  /** The default store of this folder, not made yet; of SQLite. */
  path: string
  /** Opens it, or another store; notices are kept. */
  store(chosen?: string): Promise<Store>
  /** The same, for its ledger alone. */
  open(chosen?: string): Promise<Ledger>
  messages: string[]
  /** What it opens stores with. */
  options: Omit<StoreOptions, 'chosen'>
  /** Closes what was opened and removes the folder. */
  end(): Promise<void>
}

/** A folder of its own for a test's stores. With PostgreSQL the tests of a file share a database, one after the other. */
export function scratch(busyMs = 50, backend: Backend = 'SQLite'): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-ledger-'))
  const opened: Store[] = []
  const messages: string[] = []
  const usual = backend === 'SQLite' ? undefined : sharedStore()
  const options: Scratch['options'] = {
    paths: { config: join(folder, 'config'), data: join(folder, 'data') },
    cwd: folder,
    clock: systemClock,
    random: systemRandom,
    // A database is asked in turns where a file is not.
    busyMs: backend === 'SQLite' ? busyMs : Math.max(busyMs, 2_000),
    patienceMs: 0,
    onMessage: (message) => messages.push(message),
  }
  const setup: Scratch = {
    folder,
    path: join(folder, 'data', 'ledger.sqlite'),
    messages,
    options,
    open: async (chosen) => (await setup.store(chosen)).ledger,
    async store(chosen) {
      const store = await openStore({ ...options, chosen: chosen ?? (await usual) })
      opened.push(store)
      return store
    },
    async end() {
      for (const store of opened) await store.close()
      rmSync(folder, { recursive: true })
      if (usual !== undefined) await clearStore(await usual)
    },
  }
  return setup
}
