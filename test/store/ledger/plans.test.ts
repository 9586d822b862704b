import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { someTime } from './batches.ts'
import { fileBatch, orderRows } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import { queryDatabase } from '../../harness/postgres.ts'
import { sharedStore } from '../../harness/postgres-store.ts'
import {
  selectPageOf,
  selectCounts,
  selectLaterOrders,
  selectNextPending,
  selectRows,
} from '../../../src/store/ledger/batches.ts'
import { expandSql } from '../../../src/store/ledger/engine.ts'
import { countRepeats, selectKnown, selectLatest, updateStatuses } from '../../../src/store/ledger/inbox.ts'
import {
  lockNext,
  lockRow,
  selectCandidates,
  selectCandidatesOfMany,
  selectSharingFlags,
} from '../../../src/store/ledger/matching.ts'
import { selectMatchesOfCancelled } from '../../../src/store/ledger/held-rows.ts'
import { toStatement } from '../../../src/store/ledger/postgres/connection.ts'
import {
  filterClause,
  selectRequeuedUnknown,
  selectSubmissions,
} from '../../../src/store/ledger/submission-rows.ts'
import { sqliteDialect } from '../../../src/store/ledger/sqlite/engine.ts'
import { selectSecondOrders, selectUnmatched } from '../../../src/store/ledger/unmatched-requests.ts'

const rowCount = 2_000

const searchStatement = (filter: Parameters<typeof filterClause>[0]): string =>
  `${selectSubmissions} ${filterClause(filter).where}`

/** Statements that run for each row, event or keystroke: none of them may read a large table whole. */
const statements: Record<string, string> = {
  'the next row to send': lockNext,
  'a row to compare': lockRow,
  'whether a row shares anything': selectSharingFlags,
  'what a row shares': selectCandidates,
  'what rows share with requests that no row ordered': selectUnmatched,
  'the orders of people of requests that no row ordered': selectSecondOrders,
  'what many rows share': selectCandidatesOfMany,
  'the next pending row': selectNextPending,
  'a page of rows': selectPageOf(selectRows, false),
  'a page of rows of some states': selectPageOf(selectRows, true),
  'the counts of a batch': selectCounts,
  'the later orders of the people of a batch': selectLaterOrders(false),
  'the later orders of the people of a page of rows': selectLaterOrders(true),
  'pending rows of a batch with an attempt of unknown outcome': `${selectRequeuedUnknown} AND a.batch_id = :batch_id`,
  'the duplicates of cancelled rows': selectMatchesOfCancelled,
  'a request by its id': searchStatement({ requestId: 'a' }),
  'a request by the start of its id': searchStatement({ requestStart: 'a' }),
  'requests of an e-mail address': searchStatement({ email: 'a@example.com' }),
  'events that are stored already': selectKnown,
  'the status of an order that an event names': updateStatuses,
  'a repeated event': countRepeats,
  'the newest status of a request': selectLatest,
}

/** Methods of PostgreSQL's planner that read a whole table. */
const fullScanMethods = ['seqscan', 'hashjoin', 'mergejoin']

const largeTable = '(?:submissions|attempts|events)'

/** Returns the steps that read all rows of a large table, with or without an index. */
function findWholeReads(plan: readonly string[]): string[] {
  const tableScan = new RegExp(`^SCAN (?:${largeTable}|[srmate]\\b)(?!.*VIRTUAL)|Seq Scan on ${largeTable}`)
  // `submissions_first_form` has the few people without fingerprints, and is only read to see whether there is one.
  const indexScan = new RegExp(`Index (?:Only )?Scan (?:using|on) (?!submissions_first_form)${largeTable}_`)
  return plan.filter(
    (step, index) =>
      tableScan.test(step) || (indexScan.test(step) && plan[index + 1]?.startsWith('Index Cond:') !== true),
  )
}

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    const store = await setup.openStore()
    await store.batches.add(fileBatch(), orderRows(rowCount))
    const events = Array.from({ length: rowCount }, (_, number) => ({
      receivedAt: someTime,
      body: Buffer.from('{}'),
      signature: '',
      requestId: `${number}`.padStart(8, '0'),
      status: 'PARTIAL',
      event: undefined,
      oddity: undefined,
    }))
    await store.inbox.add(events, true)
    await runSql(`UPDATE submissions SET state = 'accepted', request_id = CAST(row_number AS text)
      WHERE row_number > ${rowCount / 2}`)
    await runSql(`INSERT INTO attempts (id, batch_id, row_number, user_email, body_sha256, began_at, began_monotonic,
        account, number)
      SELECT 'attempt ' || row_number, batch_id, row_number, '', '', 0, 0, '', row_number FROM submissions WHERE state = 'accepted'`)
    await runSql(`UPDATE submissions SET attempt_id = 'attempt ' || row_number WHERE state = 'accepted'`)
    // Otherwise the plans depend on whether the server has analyzed the tables by itself yet.
    if (backend === 'PostgreSQL') await runSql('ANALYZE')
  })
  afterEach(() => setup.remove())

  async function runSql(statement: string): Promise<Record<string, unknown>[]> {
    if (backend === 'SQLite') {
      const database = new DatabaseSync(setup.path)
      const rows = database.prepare(statement).all()
      database.close()
      return rows
    }
    const settings = ['search_path=refcheck', ...fullScanMethods.map((method) => `enable_${method}=off`)]
    const options = settings.map((setting) => `-c${setting}`).join(' ')
    return queryDatabase(`${await sharedStore()}?options=${encodeURIComponent(options)}`, statement)
  }

  /**
   * Returns the steps of a statement's plan. PostgreSQL prefers to read a small table whole, so these steps are disabled:
   * a table that is read whole nevertheless has no index for the statement.
   */
  async function planOf(statement: string): Promise<string[]> {
    if (backend === 'SQLite') {
      return (await runSql(`EXPLAIN QUERY PLAN ${expandSql(sqliteDialect, statement)}`)).map(({ detail }) =>
        String(detail),
      )
    }
    const plan = await runSql(`EXPLAIN (GENERIC_PLAN, COSTS OFF) ${toStatement(statement, '').text}`)
    return plan.map((line) => String(line['QUERY PLAN']).trim())
  }

  test('no statement that runs for each row or event reads all rows, all attempts or all events', async () => {
    const found: Record<string, string[]> = {}
    for (const [name, statement] of Object.entries(statements)) {
      const steps = findWholeReads(await planOf(statement))
      if (steps.length > 0) found[name] = steps
    }
    expect(found).toEqual({})
  })

  test.each(['the next row to send', 'the next pending row', 'a page of rows'])(
    '%s is read in the order of an index, and not sorted first',
    async (name) => {
      const plan = await planOf(statements[name] ?? '')
      expect(plan.filter((step) => /TEMP B-TREE|\bSort\b/.test(step))).toEqual([])
    },
  )
})
