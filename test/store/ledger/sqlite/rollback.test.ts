import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test } from 'vitest'

import { formatRecord, type LogRecord } from '../../../../src/domain/store/attempt-log.ts'
import { digest } from '../../../../src/store/ledger/attempt-log.ts'
import {
  accepted,
  beginRows,
  closed,
  copied,
  entries,
  freshFolders,
  goOn,
  letIn,
  logNames,
  logPath,
  setup,
  records,
  shut,
  tries,
} from './rolled-back.ts'
import { beginAttempt, addOne, newAttempt, personOf, someTime } from '../batches.ts'
import { fileBatch, orderRow, orderRows, rowsOf, statesOf } from '../files.ts'

freshFolders()

const append = (record: LogRecord): void => appendFileSync(logPath(), formatRecord(record, digest))

/** The store as it was after one attempt of three. */
async function restore(count = 2) {
  const { store, batchId } = await beginRows(1)
  await store.close()
  const back = copied()
  const again = await setup.store()
  await goOn(again, batchId, count)
  await again.close()
  back()
  return { store: await setup.store(), batchId }
}

describe('a store that lost attempts', () => {
  test('is closed for every runner at once, and nothing is sent', async () => {
    const { store, batchId } = await restore()
    expect(await tries(store, batchId)).toEqual(shut('it lacked 2 attempts that were made with it'))
    const other = await setup.store()
    expect(await tries(other, batchId)).toEqual(shut('it lacked 2 attempts'))
    const row = await other.batches.findNextPending(batchId)
    if (row === undefined) throw new Error('no row is left')
    await expect(beginAttempt(other.ledger, row, newAttempt())).rejects.toMatchObject(closed('is closed'))
  })

  test('has them back as unknown, under new numbers, by name', async () => {
    const { store, batchId } = await restore()
    const { closing, step, recovered } = await store.rollbacks.examine()
    expect(closing).toMatchObject({
      reasons: ['older'],
      recovered: [expect.any(String), expect.any(String)],
    })
    expect(step).toBe('acceptance')
    expect(await statesOf(store, batchId)).toEqual(['sending', 'unknown', 'unknown', 'pending'])
    expect(recovered).toEqual(
      [2, 3].map(
        (row) =>
          `Ana Silva (person${row}@example.com): package 12, sent at 2026-11-21 09:30 +00:00, people.csv, unknown`,
      ),
    )
    expect(await store.ledger.list({ batchId, states: ['unknown'] })).toMatchObject([
      { row: 2, attempts: 1, attemptedAt: someTime + 10, userEmail: 'member@example.com' },
      { row: 3, attempts: 1 },
    ])
    const again = await store.rollbacks.examine()
    expect(again.closing).toEqual(closing)
  })

  test('has what its log knows of their outcomes', async () => {
    const { store, batchId } = await beginRows(0)
    await store.close()
    const back = copied()
    const again = await setup.store()
    await goOn(again, batchId, 4)
    const [one, two, three] = await rowsOf(again, batchId)
    if (one === undefined || two === undefined || three === undefined) throw new Error('no rows')
    await again.ledger.move(one, accepted(batchId))
    await again.ledger.move(two, { to: 'rejected', at: someTime, reason: 'no', field: 'recipient.email' })
    await again.ledger.move(three, { to: 'pending', at: someTime, reason: 'no byte left' })
    await again.close()
    back()
    const older = await setup.store()
    expect(await tries(older, batchId)).toEqual(shut('it lacked 4 attempts'))
    expect(await rowsOf(older, batchId)).toMatchObject([
      { state: 'accepted', requestId: batchId, attempts: 1 },
      { state: 'rejected', attempts: 1 },
      { state: 'pending', attempts: 1 },
      { state: 'unknown', attempts: 1 },
    ])
  })

  test('goes on once a person has accepted it: what waits is held, and those people are not ordered again', async () => {
    const { store, batchId } = await restore()
    const before = records()[0]
    expect(await store.rollbacks.acceptOlder()).toEqual({ held: 1 })
    expect(await tries(store, batchId)).toEqual(letIn)
    expect(await rowsOf(store, batchId)).toMatchObject([
      { state: 'sending' },
      { state: 'unknown' },
      { state: 'unknown' },
      { state: 'held', heldFor: 'store_forgot', reason: 'the store had lost attempts' },
    ])
    expect(logNames()).toHaveLength(1)
    const headers = records().filter((record) => record.kind === 'header')
    expect(headers.at(-1)).not.toMatchObject({ generation: before?.kind === 'header' && before.generation })
    const by = { at: someTime, by: 'owner@example.com' }
    expect(await store.waiting.recheck(batchId, someTime)).toBe(0)
    expect(
      await store.waiting.release(batchId, { kind: 'shared', value: 'x@example.com' }, by),
    ).toMatchObject({ rows: [] })
    expect(await store.waiting.release(batchId, { kind: 'all' }, by)).toMatchObject({ rows: [4] })
    await goOn(store, batchId, 1)
    // Its number is above all that the log had before.
    expect(entries().at(-1)?.number).toBeGreaterThan(3)
    const again = fileBatch()
    await store.batches.add(again, orderRows(4))
    expect(await statesOf(store, again.id)).toEqual(Array(4).fill('duplicate'))
    expect(await tries(await setup.store(), batchId)).toEqual(letIn)
    expect(await store.rollbacks.acceptOlder()).toEqual({ held: 0 })
  })

  test('restored once more, to before it was accepted, is the older one', async () => {
    const { store, batchId } = await restore()
    await store.close()
    const back = copied()
    const first = await setup.store()
    await first.rollbacks.acceptOlder()
    await tries(first, batchId)
    await goOn(
      first,
      (await first.batches.add(fileBatch({ id: randomUUID() }), orderRows(1, 50)))?.id ?? batchId,
      0,
    )
    await first.close()
    back()
    const older = await setup.store()
    expect(await tries(older, batchId)).toEqual(shut('it is an older copy of the store'))
  })

  test('an attempt of a row that was ordered by another one is a row of its own, a possible duplicate', async () => {
    const { store, batchId } = await beginRows(2)
    const [one] = await rowsOf(store, batchId)
    if (one === undefined) throw new Error('no rows')
    await store.ledger.move(one, accepted(batchId))
    await store.batches.cancelWaiting(batchId, someTime, 'cancelled', 3)
    const entry = entries()[0]
    if (entry === undefined) throw new Error('nothing is recorded')
    for (const row of [1, 2, 3]) append({ ...entry, row, number: 10 + row, attemptId: randomUUID() })
    const { closing, recovered } = await store.rollbacks.examine()
    expect(closing).toMatchObject({ reasons: ['older'] })
    expect(await rowsOf(store, batchId)).toMatchObject([
      { state: 'accepted', requestId: batchId, attempts: 1 },
      { state: 'sending', attempts: 1 },
      { state: 'unknown', attempts: 1 },
      { state: 'pending' },
    ])
    expect(recovered).toHaveLength(3)
    const duplicates = recovered.flatMap(
      (each) => /a possible duplicate of row \d of batch .*/.exec(each) ?? [],
    )
    expect(duplicates.sort()).toEqual(
      [1, 2].map((row) => `a possible duplicate of row ${row} of batch ${batchId}`),
    )
    expect(await store.ledger.list({ states: ['unknown'] })).toHaveLength(3)
  })

  test('has the batch back too: the file that it came from finds its people, and who is similar is held', async () => {
    const first = await setup.store()
    await addOne(first.ledger, 'another@example.com')
    await first.close()
    const back = copied()
    const { store, batchId } = await beginRows(2, await setup.store())
    await store.close()
    back()
    const again = await setup.store()
    expect((await again.rollbacks.examine()).recovered[0]).toMatch(
      /^a person whose name is lost: package 12, .* row 1 of batch/,
    )
    await again.rollbacks.acceptOlder()
    const anne = {
      ...orderRow(5, 'person1@example.com'),
      recipient: { ...personOf('person1@example.com'), first_name: 'Anne' },
    }
    const rerun = fileBatch()
    await again.batches.add(rerun, [...orderRows(3), anne])
    expect(await rowsOf(again, rerun.id)).toMatchObject([
      { state: 'duplicate', matches: { batchId, row: 1, state: 'unknown' } },
      { state: 'duplicate', matches: { batchId, row: 2 } },
      { state: 'pending' },
      { state: 'held', heldFor: 'similar_unknown' },
    ])
  })

  test('of the packages that were one, the log tells too: the person is not new under the other one', async () => {
    const { store, batchId } = await beginRows(0)
    await store.close()
    const back = copied()
    const again = await setup.store()
    const database = new DatabaseSync(setup.path)
    database.exec(
      `INSERT INTO joined_packages VALUES ('http://localhost:4010', 11, 12, 'moved', 0) ON CONFLICT DO NOTHING`,
    )
    database.close()
    await goOn(again, batchId, 1)
    await again.close()
    expect(entries()[0]?.relatedIds).toEqual([11])
    back()
    const older = await setup.store()
    await older.rollbacks.acceptOlder()
    const other = fileBatch({ packageId: 11 })
    await older.batches.add(other, [{ ...orderRow(1, 'person1@example.com'), packageId: 11 }])
    expect(await statesOf(older, other.id)).toEqual(['duplicate'])
  })
})

describe('a backup', () => {
  test('sends nothing when it is opened as a store, until it is accepted; the other one goes on', async () => {
    const { store, batchId } = await beginRows(1)
    const path = join(setup.folder, 'backup.sqlite')
    await store.backup(path)
    const backup = await setup.store(path)
    expect(await tries(backup, batchId)).toEqual(shut('it is a backup that is used as a store'))
    expect(await tries(store, batchId)).toEqual(letIn)
  })

  test('was restored, as a person says: the store waits for its machines, then for a person', async () => {
    const { store, batchId } = await beginRows(1)
    await store.rollbacks.closeAsRestored()
    expect((await tries(store, batchId))[0]).toContain('a backup of it was restored')
    const { step, unreported } = await store.rollbacks.examine()
    expect([step, unreported]).toEqual(['confirmation', []])
    expect(await store.rollbacks.acceptOlder()).toEqual({ held: 0 })
    expect(await tries(store, batchId)).toEqual(letIn)
  })
})
