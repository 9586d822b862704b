import { afterEach, beforeEach, expect, test } from 'vitest'

import { fileBatch, orderRows } from '../files.ts'
import { type Scratch, scratch } from '../scratch.ts'
import { asked } from '../../../harness/postgres.ts'
import { suiteStore } from '../../../harness/postgres-store.ts'
import { claimRow } from '../../../../src/store/ledger/postgres/ledger-statements.ts'
import { lockNext } from '../../../../src/store/ledger/postgres/matching-statements.ts'
import { numbered } from '../../../../src/store/ledger/postgres/statement.ts'

let place: Scratch

beforeEach(() => {
  place = scratch(50, 'PostgreSQL')
})
afterEach(() => place.end())

/** Indexes of submissions that a statement goes through, while the server has no figures of the rows. */
async function indexesOf(statement: string): Promise<string[]> {
  const store = await place.store()
  await store.batches.add(fileBatch(), orderRows(2000))
  const url = `${await suiteStore()}?options=-csearch_path%3Drefcheck`
  const plan = await asked(url, `EXPLAIN (GENERIC_PLAN, COSTS OFF) ${numbered(statement, '').text}`)
  const lines = plan.map((line) => String(line['QUERY PLAN']))
  return lines.flatMap((line) => /using (submissions_\w+)/.exec(line)?.[1] ?? [])
}

test('a claim goes by the key of its row through a file that was taken in just now', async () => {
  expect(await indexesOf(claimRow)).toEqual(['submissions_pkey'])
})

test('the next row is looked for among those that are to be sent, in their order', async () => {
  expect(await indexesOf(lockNext)).toEqual(['submissions_pending'])
})
