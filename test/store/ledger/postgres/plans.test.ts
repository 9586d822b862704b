import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'

import type { NewRow } from '../../../../src/domain/batch/batch.ts'
import { fileBatch, orderRows } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { queryDatabase, dropDatabase } from '../../../harness/postgres.ts'
import { createTestStore } from '../../../harness/postgres-store.ts'
import { claimShared } from '../../../../src/store/ledger/claim.ts'
import { selectLaterOrders } from '../../../../src/store/ledger/batches.ts'
import { selectMatchesOfCancelled } from '../../../../src/store/ledger/held-rows.ts'
import { lockNext } from '../../../../src/store/ledger/matching.ts'
import { toStatement } from '../../../../src/store/ledger/postgres/connection.ts'

let setup: TemporaryStores

beforeEach(() => {
  setup = createTemporaryStores(50, 'PostgreSQL')
})
afterEach(() => setup.remove())

/** Creates a store in a database that makes no statistics by itself, and adds a batch of each list of rows. */
async function storeWithoutStatistics(
  ...files: NewRow[][]
): Promise<{ database: string; batchIds: string[] }> {
  const database = await createTestStore()
  onTestFinished(() => dropDatabase(database))
  for (const table of ['batches', 'submissions', 'attempts', 'releases'])
    await queryDatabase(database, `ALTER TABLE refcheck.${table} SET (autovacuum_enabled = false)`)
  const store = await setup.openStore(database)
  const batches = files.map(() => fileBatch())
  for (const [index, batch] of batches.entries()) await store.batches.add(batch, files[index] ?? [])
  return { database, batchIds: batches.map(({ id }) => id) }
}

const inSchema = '?options=-csearch_path%3Drefcheck'
/** The program switches these methods off in transactions that compare people. */
const withoutScans = ['seqscan', 'sort', 'hashjoin', 'mergejoin']
  .map((each) => `%20-cenable_${each}%3Doff`)
  .join('')

/** Returns the scans of submissions in the plan of a statement, in a database without statistics of its rows. */
async function listScans(statement: string): Promise<string[]> {
  const { database } = await storeWithoutStatistics(orderRows(2000))
  const url = `${database}${inSchema}%20-cenable_seqscan%3Doff%20-cenable_sort%3Doff`
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

/** A step of a plan, with the rows that it returned. */
interface Step {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Step[]
}

/** Returns how many rows and entries of indexes the scans of a plan read. */
function countRead(step: Step): number {
  const isScan = step['Node Type'].includes('Scan')
  const rows = (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']
  return (step.Plans ?? []).map(countRead).reduce((sum, each) => sum + each, isScan ? rows : 0)
}

const rowCount = 1000
const states = ['cancelled', 'duplicate']

describe.each([
  ['alone', ''],
  ['in a transaction that compares people', withoutScans],
])('%s', (_, options) => {
  test.each([
    ['the later orders of the people of a batch', selectLaterOrders(false), {}],
    ['the later orders of the people of a page', selectLaterOrders(true), { after: 0, last: rowCount }],
    ['the duplicates of cancelled rows', selectMatchesOfCancelled, {}],
  ])('%s are found in time that grows with the batch, not with its square', async (__, statement, page) => {
    const rows = orderRows(rowCount)
    const { database, batchIds } = await storeWithoutStatistics(rows, rows)
    const [batchId = ''] = batchIds
    // The people of the cancelled rows of the first batch are ordered by the second.
    await queryDatabase(
      database,
      `UPDATE refcheck.submissions SET state = CASE WHEN batch_id = '${batchId}' THEN 'cancelled' ELSE 'unknown' END
      WHERE batch_id = '${batchId}' OR row_number <= ${rowCount / 2}`,
    )
    const values = { batchId, batchIds, states, cancelledBatch: undefined, ...page }
    const { text, order } = toStatement(statement, '')
    const literals = order.map((name) => literalOf(values[name as keyof typeof values]))
    const plan = await queryDatabase(
      `${database}${inSchema}${options}`,
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text.replaceAll(/\$(\d+)/g, (___, number) => literals[number - 1] ?? '')}`,
    )
    const [
      {
        'QUERY PLAN': [{ Plan: firstStep }],
      },
    ] = plan as unknown as [{ 'QUERY PLAN': [{ Plan: Step }] }]
    expect(countRead(firstStep)).toBeLessThan(30 * rowCount)
  })
})

function literalOf(value: string | number | string[] | undefined): string {
  if (value === undefined) return 'NULL'
  return typeof value === 'number' ? String(value) : `'${Array.isArray(value) ? `{${value.join()}}` : value}'`
}
