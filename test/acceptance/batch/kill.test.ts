import { expect, test } from 'vitest'

import { seeded } from '../../harness/seeded-random.ts'
import { temporaryFolder } from '../../harness/world.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'
import { killBatches } from './campaign.ts'

const faultRow = recordForFaultTable('kill', { mustNotHappen: 'kills with a second or lost order' })

const seed = 11
const kills = 8

test(`a batch killed ${kills} times and run again, seed ${seed}: no second or lost order, at most one unknown outcome a kill, no store closed`, async () => {
  const tally = await killBatches(temporaryFolder(), kills, seeded(seed))
  faultRow.countCases(kills)
  faultRow.addNote(`${tally.unknown} unknown, seed ${seed}`)
  expect(tally).toMatchObject({ kills, twice: 0, lost: 0, invented: 0, closed: 0 })
  expect(tally.accepted + tally.unknown).toBe(tally.rows)
  expect(tally.unknown).toBeLessThanOrEqual(kills)
}, 120_000)
