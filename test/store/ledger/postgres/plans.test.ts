import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'

import { fileBatch, orderRows } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { queryDatabase, dropDatabase } from '../../../harness/postgres.ts'
import { createTestStore } from '../../../harness/postgres-store.ts'
import { claimShared } from '../../../../src/store/ledger/claim.ts'
import { lockNext } from '../../../../src/store/ledger/matching.ts'
import { toStatement } from '../../../../src/store/ledger/postgres/connection.ts'

let setup: TemporaryStores

beforeEach(() => {
  setup = createTemporaryStores(50, 'PostgreSQL')
})
afterEach(() => setup.remove())

/** Returns the scans of submissions in the plan of a statement, in a database without statistics of its rows. */
async function listScans(statement: string): Promise<string[]> {
  const database = await createTestStore()
  onTestFinished(() => dropDatabase(database))
  await queryDatabase(database, 'ALTER TABLE refcheck.submissions SET (autovacuum_enabled = false)')
  const store = await setup.openStore(database)
  await store.batches.add(fileBatch(), orderRows(2000))
  const url = `${database}?options=-csearch_path%3Drefcheck%20-cenable_seqscan%3Doff%20-cenable_sort%3Doff`
  const plan = await queryDatabase(
    url,
    `EXPLAIN (GENERIC_PLAN, COSTS OFF) ${toStatement(statement, '').text}`,
  )
  const lines = plan.map((line) => String(line['QUERY PLAN']))
  return lines.flatMap((line) => /(\w+ Scan.*) on submissions/.exec(line)?.[1] ?? [])
}

test('a claim reads its row by position, not by a scan of the file that was just added', async () => {
  expect(await listScans(claimShared)).toEqual(['Tid Scan'])
})

test('the next row is found by the index of pending rows', async () => {
  expect(await listScans(lockNext)).toEqual([
    'Index Scan using submissions_pending',
    // The other scans find rows that share the e-mail or the phone.
    'Index Scan using submissions_by_person',
    'Index Scan using submissions_by_email_print',
    'Index Scan using submissions_by_phone_print',
    'Index Scan using submissions_by_email',
  ])
})
