/*
 * Kills a receiver under load by SIGKILL repeatedly, and counts the events that were lost.
 * Run: node test/bench/receiver-kills/run.ts [KILLS [SEED]]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { killReceivers } from '../../acceptance/receiver/campaign.ts'
import { seeded } from '../../harness/seeded-random.ts'

const [kills = '100', seed = '1'] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'refcheck-kills-'))
try {
  const tally = await killReceivers(folder, Number(kills), seeded(Number(seed)))
  console.log(`seed ${seed}: ${JSON.stringify(tally)}`)
  if (tally.lost + tally.outOfOrder + tally.notForwarded > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}
