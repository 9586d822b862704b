/*
 * Kills running batches by SIGKILL repeatedly, and counts people who were ordered twice and orders that were lost.
 * Run: node test/bench/batch-kills/run.ts [KILLS [SEED [SQLite|PostgreSQL]]]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { killBatches } from '../../acceptance/batch/campaign.ts'
import { seeded } from '../../harness/seeded-random.ts'

const [kills = '100', seed = '1', store] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'refcheck-kills-'))
try {
  const tally = await killBatches(
    folder,
    Number(kills),
    seeded(Number(seed)),
    store === 'PostgreSQL' ? store : 'SQLite',
  )
  console.log(`seed ${seed}: ${JSON.stringify(tally)}`)
  if (tally.twice + tally.lost + tally.invented + tally.closed > 0 || tally.unknown > tally.kills)
    process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true })
}
