import { afterEach, beforeEach, expect, test } from 'vitest'

import { fileBatch, orderRows } from '../files.ts'
import { type Scratch, scratch } from '../scratch.ts'
import { asked } from '../../../harness/postgres.ts'
import { suiteStore } from '../../../harness/postgres-store.ts'
import { claimStatements } from '../../../../src/store/ledger/claim.ts'
import { matchingStatements } from '../../../../src/store/ledger/matching.ts'
import { postgresDialect } from '../../../../src/store/ledger/postgres/engine.ts'
import { numbered } from '../../../../src/store/ledger/postgres/connection.ts'

let place: Scratch

beforeEach(() => {
  place = scratch(50, 'PostgreSQL')
})
afterEach(() => place.end())

/** How a statement gets at submissions while the server has no figures of the rows. */
async function waysOf(statement: string): Promise<string[]> {
  const store = await place.store()
  await store.batches.add(fileBatch(), orderRows(2000))
  const url = `${await suiteStore()}?options=-csearch_path%3Drefcheck`
  const plan = await asked(url, `EXPLAIN (GENERIC_PLAN, COSTS OFF) ${numbered(statement, '').text}`)
  const lines = plan.map((line) => String(line['QUERY PLAN']))
  return lines.flatMap((line) => /(\w+ Scan.*) on submissions/.exec(line)?.[1] ?? [])
}

test('a claim goes to the place of its row, not through a file that was taken in just now', async () => {
  expect(await waysOf(claimStatements(postgresDialect).claim[0] ?? '')).toEqual(['Tid Scan'])
})

test('the next row is looked for among those that are to be sent, in their order', async () => {
  expect(await waysOf(matchingStatements(postgresDialect).lockNext)).toEqual([
    'Index Scan using submissions_pending',
  ])
})
