import { expect, test } from 'vitest'

import { temporaryFolder } from '../../harness/world.ts'
import { killReceivers } from './campaign.ts'
import { seeded } from '../../harness/seeded-random.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

const faultRow = recordForFaultTable('receiver-killed', { mustNotHappen: 'kills with an event lost' })

const seed = 7
const kills = 5

test(`a receiver killed ${kills} times under load, seed ${seed}: nothing acknowledged is lost, nothing is forwarded out of order`, async () => {
  const tally = await killReceivers(temporaryFolder(), kills, seeded(seed))
  faultRow.countCases(kills)
  faultRow.addNote(`${tally.acknowledged} acknowledged, ${tally.lost} lost, seed ${seed}`)
  expect(tally).toMatchObject({ kills, lost: 0, outOfOrder: 0, notForwarded: 0 })
  expect(tally.acknowledged).toBeGreaterThan(kills * 20)
}, 120_000)
