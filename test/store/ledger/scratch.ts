import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import { openLedger } from '../../../src/store/ledger/open.ts'

export interface Scratch {
  folder: string
  /** The default store of this folder, not made yet. */
  path: string
  /** Opens it, or another store; notices are kept. */
  open(chosen?: string): Promise<Ledger>
  notices: string[]
  /** Closes what was opened and removes the folder. */
  end(): Promise<void>
}

/** A folder of its own for a test's stores. */
export function scratch(busyMs = 50): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-ledger-'))
  const opened: Ledger[] = []
  const notices: string[] = []
  return {
    folder,
    path: join(folder, 'data', 'ledger.sqlite'),
    notices,
    async open(chosen) {
      const ledger = await openLedger({
        chosen,
        paths: { config: join(folder, 'config'), data: join(folder, 'data') },
        cwd: folder,
        clock: systemClock,
        random: systemRandom,
        busyMs,
        onNotice: (notice) => notices.push(notice),
      })
      opened.push(ledger)
      return ledger
    },
    async end() {
      for (const ledger of opened) await ledger.close()
      rmSync(folder, { recursive: true })
    },
  }
}
