import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { BatchRow } from '../../../src/domain/batch/batch.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { queryDatabase } from '../../harness/postgres.ts'
import { sharedStore } from '../../harness/postgres-store.ts'
import { beginAttempt, addOne, batchOf, newAttempt, someTime } from './batches.ts'
import { fileBatch, orderRow, rowsOf } from './files.ts'
import { backends, scratch, type Scratch } from './scratch.ts'

const at = someTime + 100
const requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55'

describe.each(backends)('%s: a row that was damaged is sent no more', (backend) => {
  let setup: Scratch
  let store: Store
  beforeEach(async () => {
    setup = scratch(50, backend)
    store = await setup.store()
  })
  afterEach(() => setup.end())

  /** Changes the row directly in the database, without the program. */
  async function inStore(sql: string): Promise<Record<string, unknown>[]> {
    if (backend === 'PostgreSQL')
      return queryDatabase(await sharedStore(), `SET search_path = refcheck; ${sql}`)
    const database = new DatabaseSync(setup.path)
    const rows = database.prepare(sql).all()
    database.close()
    return rows.map((row) => Object.assign({}, row))
  }

  const bodyOf = (text: string): string =>
    backend === 'PostgreSQL' ? `convert_to('${text}', 'UTF8')` : `CAST('${text}' AS BLOB)`

  const damaged = { code: 'io', message: expect.stringContaining('damaged') as string }

  /** Adds a batch with two pending rows. */
  async function pending(): Promise<{ rows: BatchRow[]; batchId: string }> {
    const batch = fileBatch()
    await store.batches.add(batch, [orderRow(1, 'ann@example.com'), orderRow(2, 'bob@example.com')])
    return { rows: await rowsOf(store, batch.id), batchId: batch.id }
  }

  const room = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

  test.each([
    ['body', ''],
    ['fingerprint of the person', `person_print = email_print`],
    ['fingerprint of the e-mail', `email_print = phone_print`],
    ['fingerprint of the phone', `phone_print = email_print`],
  ])('by another %s', async (_, change) => {
    const { rows } = await pending()
    const what = change === '' ? `body = ${bodyOf('{"for":"bob@example.com"}')}` : change
    await inStore(`UPDATE submissions SET ${what} WHERE row_number = 1`)
    const [row] = rows
    if (row === undefined) throw new Error('no row')
    await expect(beginAttempt(store.ledger, row, newAttempt())).rejects.toMatchObject(damaged)
    await expect(store.ledger.beginInQuota(row, newAttempt(), room)).rejects.toMatchObject(damaged)
    expect(await store.ledger.list({ states: ['sending'] })).toEqual([])
  })

  test('does not prevent recording the outcome of the row before it', async () => {
    const { rows, batchId } = await pending()
    await inStore(`UPDATE submissions SET body = ${bodyOf('{}')} WHERE row_number = 2`)
    const [one, two] = rows
    const attempt = one && (await beginAttempt(store.ledger, one, newAttempt()))
    if (attempt === undefined || two === undefined) throw new Error('not begun')
    const accepted = { to: 'accepted', at, requestId, requestStatus: 'RECEIVED' } as const
    expect(await store.ledger.moveAndBegin(attempt, accepted, two, newAttempt(), room)).toMatchObject({
      moved: true,
      attempt: undefined,
    })
    expect(await store.batches.countRows(batchId)).toMatchObject({ accepted: 1, pending: 1 })
  })

  test('nor may the same person be ordered next to it: the e-mail shows that they are one', async () => {
    await addOne(store.ledger, 'ann@example.com')
    await inStore(`UPDATE submissions SET email_print = phone_print, person_print = phone_print`)
    await expect(
      store.ledger.add(batchOf(['Ann@example.com']), { allowDuplicate: false }),
    ).rejects.toMatchObject(damaged)
    expect(await store.ledger.add(batchOf(['bob@example.com']), { allowDuplicate: false })).toBeUndefined()
  })

  test('a store without the key of its fingerprints is refused, because with a new key every person would be new', async () => {
    await addOne(store.ledger, 'ann@example.com')
    await inStore(`DELETE FROM meta WHERE name = 'fingerprint_key'`)
    await expect(setup.store()).rejects.toMatchObject({
      code: 'io',
      message: expect.stringMatching(
        /^the store ".*" is damaged: the key of its fingerprints is missing$/,
      ) as string,
      hint: 'Nothing was sent. Restore a backup of the store.',
    })
    if (backend === 'PostgreSQL') {
      await inStore(`INSERT INTO meta (name, value) VALUES ('fingerprint_key', '${'x'.repeat(32)}')`)
    }
  })
})
