import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test } from 'vitest'

import { formatRecord, type LogRecord } from '../../../../src/domain/store/attempt-log.ts'
import { digest } from '../../../../src/store/ledger/attempt-log.ts'
import {
  acceptedOutcome,
  beginRows,
  ioErrorWith,
  copyDataFolder,
  readEntries,
  useFreshFolders,
  beginNextRows,
  allAllowed,
  listLogNames,
  findLogPath,
  setup,
  readRecords,
  refusedWith,
  tryToOrder,
} from './rolled-back.ts'
import { beginAttempt, addOne, newAttempt, personOf, someTime } from '../batches.ts'
import { fileBatch, orderRow, orderRows, rowsOf, statesOf } from '../files.ts'

useFreshFolders()

const appendRecord = (record: LogRecord): void => appendFileSync(findLogPath(), formatRecord(record, digest))

/** Makes one attempt and `count` more, and restores the store to its state after the first one. */
async function restoreOlderStore(count = 2) {
  const { store, batchId } = await beginRows(1)
  await store.close()
  const restoreCopy = copyDataFolder()
  const reopened = await setup.openStore()
  await beginNextRows(reopened, batchId, count)
  await reopened.close()
  restoreCopy()
  return { store: await setup.openStore(), batchId }
}

describe('a store that lost attempts', () => {
  test('is closed immediately for every runner, and nothing is sent', async () => {
    const { store, batchId } = await restoreOlderStore()
    expect(await tryToOrder(store, batchId)).toEqual(
      refusedWith('it lacked 2 attempts that were made with it'),
    )
    const otherStore = await setup.openStore()
    expect(await tryToOrder(otherStore, batchId)).toEqual(refusedWith('it lacked 2 attempts'))
    const row = await otherStore.batches.findNextPending(batchId)
    if (row === undefined) throw new Error('no row is left')
    await expect(beginAttempt(otherStore.ledger, row, newAttempt())).rejects.toMatchObject(
      ioErrorWith('is closed'),
    )
  })

  test('recovers them as unknown, with new numbers, and names their people', async () => {
    const { store, batchId } = await restoreOlderStore()
    const { closing, reopenStep, recovered } = await store.rollbacks.examine()
    expect(closing).toMatchObject({
      reasons: ['older'],
      recovered: [expect.any(String), expect.any(String)],
    })
    expect(reopenStep).toBe('acceptance')
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
    const secondExamination = await store.rollbacks.examine()
    expect(secondExamination.closing).toEqual(closing)
  })

  test('recovers the outcomes that the log has', async () => {
    const { store, batchId } = await beginRows(0)
    await store.close()
    const restoreCopy = copyDataFolder()
    const reopened = await setup.openStore()
    await beginNextRows(reopened, batchId, 4)
    const [one, two, three] = await rowsOf(reopened, batchId)
    if (one === undefined || two === undefined || three === undefined) throw new Error('no rows')
    await reopened.ledger.move(one, acceptedOutcome(batchId))
    await reopened.ledger.move(two, { to: 'rejected', at: someTime, reason: 'no', field: 'recipient.email' })
    await reopened.ledger.move(three, { to: 'pending', at: someTime, reason: 'nothing was sent' })
    await reopened.close()
    restoreCopy()
    const olderStore = await setup.openStore()
    expect(await tryToOrder(olderStore, batchId)).toEqual(refusedWith('it lacked 4 attempts'))
    expect(await rowsOf(olderStore, batchId)).toMatchObject([
      { state: 'accepted', requestId: batchId, attempts: 1 },
      { state: 'rejected', attempts: 1 },
      { state: 'pending', attempts: 1 },
      { state: 'unknown', attempts: 1 },
    ])
  })

  test('is used again once a person has accepted it: pending rows are held, and the recovered people are not ordered again', async () => {
    const { store, batchId } = await restoreOlderStore()
    const firstHeader = readRecords()[0]
    expect(await store.rollbacks.acceptOlder()).toEqual({ held: 1 })
    expect(await tryToOrder(store, batchId)).toEqual(allAllowed)
    expect(await rowsOf(store, batchId)).toMatchObject([
      { state: 'sending' },
      { state: 'unknown' },
      { state: 'unknown' },
      { state: 'held', heldFor: 'store_forgot', reason: 'the store had lost attempts' },
    ])
    expect(listLogNames()).toHaveLength(1)
    const headers = readRecords().filter((record) => record.kind === 'header')
    expect(headers.at(-1)).not.toMatchObject({
      generation: firstHeader?.kind === 'header' && firstHeader.generation,
    })
    const byOwner = { at: someTime, by: 'owner@example.com' }
    expect(await store.heldRows.recheck(batchId, someTime)).toBe(0)
    expect(
      await store.heldRows.release(batchId, { kind: 'shared', value: 'x@example.com' }, byOwner),
    ).toMatchObject({ rows: [] })
    expect(await store.heldRows.release(batchId, { kind: 'all' }, byOwner)).toMatchObject({ rows: [] })
    const confirmed = { kind: 'all', includesLostAttempts: true } as const
    expect(await store.heldRows.release(batchId, confirmed, byOwner)).toMatchObject({ rows: [4] })
    await beginNextRows(store, batchId, 1)
    // The number of the new attempt is higher than all earlier ones in the log.
    expect(readEntries().at(-1)?.number).toBeGreaterThan(3)
    const rerun = fileBatch()
    await store.batches.add(rerun, orderRows(4))
    expect(await statesOf(store, rerun.id)).toEqual(Array(4).fill('duplicate'))
    expect(await tryToOrder(await setup.openStore(), batchId)).toEqual(allAllowed)
    expect(await store.rollbacks.acceptOlder()).toEqual({ held: 0 })
  })

  test('restored once more, to a state before it was accepted, is closed as an older copy', async () => {
    const { store, batchId } = await restoreOlderStore()
    await store.close()
    const restoreCopy = copyDataFolder()
    const first = await setup.openStore()
    await first.rollbacks.acceptOlder()
    await tryToOrder(first, batchId)
    const laterBatch = await first.batches.add(fileBatch({ id: randomUUID() }), orderRows(1, 50))
    const lease = await first.batches.acquire(laterBatch?.id ?? batchId)
    await lease?.release()
    await first.close()
    restoreCopy()
    const olderStore = await setup.openStore()
    expect(await tryToOrder(olderStore, batchId)).toEqual(refusedWith('it is an older copy of the store'))
  })

  test('recovers an attempt as a separate row, a possible duplicate, if its own row already has another attempt', async () => {
    const { store, batchId } = await beginRows(2)
    const [one] = await rowsOf(store, batchId)
    if (one === undefined) throw new Error('no rows')
    await store.ledger.move(one, acceptedOutcome(batchId))
    await store.batches.cancelWaiting(batchId, someTime, 'cancelled', 3)
    const entry = readEntries()[0]
    if (entry === undefined) throw new Error('nothing is recorded')
    for (const row of [1, 2, 3]) appendRecord({ ...entry, row, number: 10 + row, attemptId: randomUUID() })
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

  test('recovers no further order from the log of an attempt whose request a person has recorded for its row', async () => {
    const { store, batchId } = await restoreOlderStore()
    await store.rollbacks.acceptOlder()
    const row = (await rowsOf(store, batchId))[3]
    if (row === undefined) throw new Error('no row')
    const requestId = randomUUID()
    const found = { requestId, requestStatus: 'RECEIVED', packageId: 13, createdAt: someTime - 1000 }
    const request = { ...found, why: 'the provider has it' }
    await store.heldRows.accept(row, newAttempt(), request)
    await expect(store.heldRows.accept(row, newAttempt(), request)).rejects.toThrow(
      'another process changed this order',
    )
    const accepted = { state: 'accepted', requestId, heldFor: undefined }
    expect((await rowsOf(store, batchId))[3]).toMatchObject({
      ...accepted,
      attempts: 1,
      packageId: 13,
      attemptedAt: someTime - 1000,
    })
    expect(await store.maintenance.check()).toEqual([])
    const entry = readEntries()[0]
    if (entry === undefined) throw new Error('nothing is recorded')
    const attemptId = randomUUID()
    appendRecord({ ...entry, row: 4, number: 20, attemptId })
    appendRecord({ kind: 'outcome', attemptId, state: 'accepted', requestId })
    await store.rollbacks.examine()
    expect((await rowsOf(store, batchId))[3]).toMatchObject({ ...accepted, attempts: 2 })
    expect(await store.ledger.list({ states: ['unknown'] })).toHaveLength(2)
  })

  test('recovers from the attempt log a request that a person has recorded for a held row', async () => {
    const { store, batchId } = await restoreOlderStore()
    await store.rollbacks.acceptOlder()
    await store.close()
    const restoreCopy = copyDataFolder()
    const reopened = await setup.openStore()
    const row = (await rowsOf(reopened, batchId))[3]
    if (row === undefined) throw new Error('no row')
    const found = { requestId: randomUUID(), requestStatus: 'RECEIVED', packageId: 13, createdAt: someTime }
    await reopened.heldRows.accept(row, newAttempt(), { ...found, why: 'the provider has it' })
    await reopened.close()
    restoreCopy()
    const olderStore = await setup.openStore()
    expect(await tryToOrder(olderStore, batchId)).toEqual(refusedWith('it lacked 1 attempt'))
    expect((await rowsOf(olderStore, batchId))[3]).toMatchObject({
      state: 'accepted',
      requestId: found.requestId,
      packageId: 13,
    })
    expect(await olderStore.maintenance.check()).toEqual([])
  })

  test('recovers the batch too: when the same file is added again, its people are duplicates, and a similar person is held', async () => {
    const first = await setup.openStore()
    await addOne(first.ledger, 'another@example.com')
    await first.close()
    const restoreCopy = copyDataFolder()
    const { store, batchId } = await beginRows(2, await setup.openStore())
    await store.close()
    restoreCopy()
    const reopened = await setup.openStore()
    expect((await reopened.rollbacks.examine()).recovered[0]).toMatch(
      /^a person whose name is lost: package 12, .* row 1 of batch/,
    )
    await reopened.rollbacks.acceptOlder()
    const anne = {
      ...orderRow(5, 'person1@example.com'),
      recipient: { ...personOf('person1@example.com'), first_name: 'Anne' },
    }
    const rerun = fileBatch()
    await reopened.batches.add(rerun, [...orderRows(3), anne])
    expect(await rowsOf(reopened, rerun.id)).toMatchObject([
      { state: 'duplicate', matches: { batchId, row: 1, state: 'unknown' } },
      { state: 'duplicate', matches: { batchId, row: 2 } },
      { state: 'pending' },
      { state: 'held', heldFor: 'similar_unknown' },
    ])
  })

  test('reads the related packages from the log: a person ordered with one is a duplicate with the other', async () => {
    const { store, batchId } = await beginRows(0)
    await store.close()
    const restoreCopy = copyDataFolder()
    const reopened = await setup.openStore()
    const database = new DatabaseSync(setup.path)
    database.exec(
      `INSERT INTO joined_packages VALUES ('http://localhost:4010', 11, 12, 'moved', 0) ON CONFLICT DO NOTHING`,
    )
    database.close()
    await beginNextRows(reopened, batchId, 1)
    await reopened.close()
    expect(readEntries()[0]?.relatedIds).toEqual([11])
    restoreCopy()
    const olderStore = await setup.openStore()
    await olderStore.rollbacks.acceptOlder()
    const otherBatch = fileBatch({ packageId: 11 })
    await olderStore.batches.add(otherBatch, [{ ...orderRow(1, 'person1@example.com'), packageId: 11 }])
    expect(await statesOf(olderStore, otherBatch.id)).toEqual(['duplicate'])
  })
})

describe('a backup', () => {
  test('is closed when it is opened as a store, and the original store stays open', async () => {
    const { store, batchId } = await beginRows(1)
    const path = join(setup.folder, 'backup.sqlite')
    await store.backup(path)
    const backup = await setup.openStore(path)
    expect(await tryToOrder(backup, batchId)).toEqual(refusedWith('it is a backup that is used as a store'))
    expect(await tryToOrder(store, batchId)).toEqual(allAllowed)
  })

  test('after a person reported that a backup was restored, the store is closed until all machines have reported and a person confirms', async () => {
    const { store, batchId } = await beginRows(1)
    await store.rollbacks.closeAsRestored()
    expect((await tryToOrder(store, batchId))[0]).toContain('a backup of it was restored')
    const { reopenStep, unreported } = await store.rollbacks.examine()
    expect([reopenStep, unreported]).toEqual(['confirmation', []])
    expect(await store.rollbacks.acceptOlder()).toEqual({ held: 0 })
    expect(await tryToOrder(store, batchId)).toEqual(allAllowed)
  })
})
