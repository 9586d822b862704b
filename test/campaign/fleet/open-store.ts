import { join } from 'node:path'

import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

/** Opens the store of a campaign in this process, with its own settings folder, which no machine of the campaign uses. */
export function openCampaignStore(url: string, folder: string): Promise<Store> {
  const paths = { config: join(folder, 'counting'), data: join(folder, 'counting') }
  return openStore({ chosenAddress: url, paths, cwd: folder, clock: systemClock, random: systemRandom })
}
