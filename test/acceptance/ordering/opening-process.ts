/**
 * Opens and closes one new store after the other, each at the same time as the other processes of the test. Run: node
 * opening-process.ts FOLDER START ROUNDS EVERY_MS. The store of round N is opened N × EVERY_MS after START.
 */
import { join } from 'node:path'

import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'

const [folder = '', start = '', rounds = '', everyMs = ''] = process.argv.slice(2)

const paths = { config: folder, data: join(folder, 'data') }

for (let round = 0; round < Number(rounds); round += 1) {
  const openTime = Number(start) + round * Number(everyMs)
  // A busy loop ends closer to the given time than a timer would.
  while (clock.now() < openTime);
  const store = await openStore({ chosenAddress: `${round}.sqlite`, paths, cwd: folder, clock, random })
  await store.ledger.list({})
  await store.close()
}
