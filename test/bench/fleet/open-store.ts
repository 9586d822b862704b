import { join } from 'node:path'

import { type Clock, systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

/** Opens a store as a machine with this folder does. */
export function openMachineStore(url: string, folder: string, clock: Clock = systemClock): Promise<Store> {
  return openStore({
    chosenAddress: url,
    paths: { config: join(folder, 'config'), data: join(folder, 'data') },
    cwd: folder,
    clock,
    random: systemRandom,
  })
}
