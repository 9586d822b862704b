import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { BatchRow } from '../../../src/domain/batch/batch.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { queryDatabase } from '../../harness/postgres.ts'
import { sharedStore } from '../../harness/postgres-store.ts'
import { beginAttempt, addOne, batchOf, newAttempt, someTime } from './batches.ts'
import { fileBatch, orderRow, rowsOf } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'

const at = someTime + 100
const requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55'

describe.each(backends)('%s: a damaged row is not sent', (backend) => {
  let setup: TemporaryStores
  let store: Store
  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  /** Changes the row directly in the database, without the program. */
  async function runSql(sql: string): Promise<Record<string, unknown>[]> {
    if (backend === 'PostgreSQL')
      return queryDatabase(await sharedStore(), `SET search_path = refcheck; ${sql}`)
    const database = new DatabaseSync(setup.path)
    const rows = database.prepare(sql).all()
    database.close()
    return rows.map((row) => Object.assign({}, row))
  }

  const toSqlBody = (text: string): string =>
    backend === 'PostgreSQL' ? `convert_to('${text}', 'UTF8')` : `CAST('${text}' AS BLOB)`

  const damagedError = { code: 'io', message: expect.stringContaining('damaged') as string }

  /** Adds a batch with two pending rows. */
  async function addPendingRows(): Promise<{ rows: BatchRow[]; batchId: string }> {
    const batch = fileBatch()
    await store.batches.add(batch, [orderRow(1, 'ann@example.com'), orderRow(2, 'bob@example.com')])
    return { rows: await rowsOf(store, batch.id), batchId: batch.id }
  }

  const unlimitedQuota = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

  test.each([
    ['body', ''],
    ['fingerprint of the person', `person_print = email_print`],
    ['fingerprint of the e-mail', `email_print = phone_print`],
    ['fingerprint of the phone', `phone_print = email_print`],
  ])('if its %s was changed in the database', async (_, change) => {
    const { rows } = await addPendingRows()
    const assignment = change === '' ? `body = ${toSqlBody('{"for":"bob@example.com"}')}` : change
    await runSql(`UPDATE submissions SET ${assignment} WHERE row_number = 1`)
    const [row] = rows
    if (row === undefined) throw new Error('no row')
    await expect(beginAttempt(store.ledger, row, newAttempt())).rejects.toMatchObject(damagedError)
    await expect(store.ledger.beginInQuota(row, newAttempt(), unlimitedQuota)).rejects.toMatchObject(
      damagedError,
    )
    expect(await store.ledger.list({ states: ['sending'] })).toEqual([])
  })

  test('the outcome of the row before a damaged row is recorded', async () => {
    const { rows, batchId } = await addPendingRows()
    await runSql(`UPDATE submissions SET body = ${toSqlBody('{}')} WHERE row_number = 2`)
    const [one, two] = rows
    const attempt = one && (await beginAttempt(store.ledger, one, newAttempt()))
    if (attempt === undefined || two === undefined) throw new Error('the attempt did not begin')
    const accepted = { to: 'accepted', at, requestId, requestStatus: 'RECEIVED' } as const
    expect(
      await store.ledger.moveAndBegin(attempt, accepted, two, newAttempt(), unlimitedQuota),
    ).toMatchObject({
      isMoved: true,
      attempt: undefined,
    })
    expect(await store.batches.countRows(batchId)).toMatchObject({ accepted: 1, pending: 1 })
  })

  test('a person with the e-mail of a damaged row is not ordered, although the fingerprints differ', async () => {
    await addOne(store.ledger, 'ann@example.com')
    await runSql(`UPDATE submissions SET email_print = phone_print, person_print = phone_print`)
    await expect(
      store.ledger.add(batchOf(['Ann@example.com']), { allowDuplicate: false }),
    ).rejects.toMatchObject(damagedError)
    expect(await store.ledger.add(batchOf(['bob@example.com']), { allowDuplicate: false })).toBeUndefined()
  })

  test('a store without the key of its fingerprints is refused, because with a new key every person would be new', async () => {
    await addOne(store.ledger, 'ann@example.com')
    await runSql(`DELETE FROM meta WHERE name = 'fingerprint_key'`)
    await expect(setup.openStore()).rejects.toMatchObject({
      code: 'io',
      message: expect.stringMatching(
        /^the store ".*" is damaged: the key of its fingerprints is missing$/,
      ) as string,
      hint: 'Nothing was sent. Restore a backup of the store.',
    })
    if (backend === 'PostgreSQL') {
      await runSql(`INSERT INTO meta (name, value) VALUES ('fingerprint_key', '${'x'.repeat(32)}')`)
    }
  })
})
