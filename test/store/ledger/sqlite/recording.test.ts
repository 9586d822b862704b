import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test, vi } from 'vitest'

import { formatRecord, type LogEntry } from '../../../../src/domain/store/attempt-log.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'
import { IoError } from '../../../../src/errors/kinds.ts'
import { AttemptLog, digest } from '../../../../src/store/ledger/attempt-log.ts'
import {
  acceptedOutcome,
  beginRows,
  ioErrorWith,
  readEntries,
  useFreshFolders,
  beginNextRows,
  allAllowed,
  logFolder,
  listLogNames,
  findLogPath,
  setup,
  readRecords,
  refusedWith,
  tryToOrder,
} from './rolled-back.ts'
import { beginAttempt, addOne, newAttempt, someTime } from '../batches.ts'
import { fileBatch, orderRows, rowsOf, statesOf } from '../files.ts'

useFreshFolders()

describe('between the commit and the request', () => {
  test('each attempt is recorded once, with its number and the keyed fingerprints', async () => {
    const { store, batchId } = await beginRows(2)
    const [row] = await rowsOf(store, batchId)
    const anyFingerprint = expect.stringMatching(/^[0-9a-f]{64}$/) as string
    expect(readEntries()).toMatchObject([
      {
        attemptId: row?.attemptId,
        account: '',
        number: 1,
        batchId,
        row: 1,
        packageId: 12,
        relatedIds: [],
        at: someTime + 10,
        baseUrl: 'http://127.0.0.1:4010',
        userEmail: 'member@example.com',
        person: anyFingerprint,
        email: anyFingerprint,
        phone: anyFingerprint,
      },
      { number: 2, row: 2 },
    ])
    const { person, email, phone } = readEntries()[0] as LogEntry
    expect(new Set([person, email, phone]).size).toBe(3)
  })

  test('an attempt that cannot be recorded is not sent', async () => {
    const { store, batchId } = await beginRows(1)
    const row = await store.batches.findNextPending(batchId)
    rmSync(findLogPath())
    if (row === undefined) throw new Error('no row is left')
    await expect(beginAttempt(store.ledger, row, newAttempt())).rejects.toMatchObject({ code: 'io' })
    expect(await statesOf(store, batchId)).toEqual(['sending', 'pending', 'pending', 'pending'])
  })

  test('an attempt that cannot be flushed to the disk is not sent', async () => {
    const { store, batchId } = await beginRows(1)
    const row = await store.batches.findNextPending(batchId)
    if (row === undefined) throw new Error('no row is left')
    const failure = new IoError('cannot write the attempt log', { hint: 'Check the disk.' })
    const flush = vi.spyOn(AttemptLog.prototype, 'flush').mockRejectedValue(failure)
    await expect(beginAttempt(store.ledger, row, newAttempt())).rejects.toBe(failure)
    flush.mockRestore()
    expect(await statesOf(store, batchId)).toEqual(['sending', 'pending', 'pending', 'pending'])
  })

  test('the attempt of a process that was killed at this point is recorded by the next process, and the store stays open', async () => {
    const { store, batchId } = await beginRows(2)
    await store.close()
    // Restores the log to its state before the last line.
    const text = readFileSync(findLogPath(), 'utf8')
    truncateSync(findLogPath(), Buffer.byteLength(text.slice(0, text.lastIndexOf('\n'))))
    expect(readEntries()).toHaveLength(1)
    expect(await tryToOrder(await setup.openStore(), batchId)).toEqual(allAllowed)
    expect(readEntries().map(({ number }) => number)).toEqual([1, 2])
  })

  test('the entry that the next process records for the attempt of a killed process names the related packages', async () => {
    const { store, batchId } = await beginRows(0)
    await store.heldRows.moveRows(batchId, 13, await store.heldRows.readMovable(batchId), someTime)
    await beginNextRows(store, batchId, 1)
    await store.close()
    const expectedEntries = readEntries()
    expect(expectedEntries).toMatchObject([{ packageId: 13, relatedIds: [12] }])
    const text = readFileSync(findLogPath(), 'utf8')
    truncateSync(findLogPath(), Buffer.byteLength(text.slice(0, text.lastIndexOf('\n'))))
    await tryToOrder(await setup.openStore(), batchId)
    expect(readEntries()).toEqual(expectedEntries)
  })

  test('an incomplete last line belongs to an attempt that was never sent', async () => {
    const { store, batchId } = await beginRows(2)
    await store.close()
    appendFileSync(findLogPath(), '\n0123456789abcdef ["half a line')
    const reopened = await setup.openStore()
    expect(await tryToOrder(reopened, batchId)).toEqual(allAllowed)
    await beginNextRows(reopened, batchId, 1)
    expect((await reopened.rollbacks.examine()).closing).toBeUndefined()
  })

  test.each<[string, () => void]>([
    [
      'replaced by a copy',
      () => {
        copyFileSync(setup.path, `${setup.path}.copy`)
        renameSync(`${setup.path}.copy`, setup.path)
      },
    ],
    ['removed', () => rmSync(setup.path)],
  ])('a store whose file is %s while it is in use sends nothing more', async (_, change) => {
    const { store, batchId } = await beginRows(1)
    const row = await store.batches.findNextPending(batchId)
    change()
    if (row === undefined) throw new Error('no row is left')
    await expect(beginAttempt(store.ledger, row, newAttempt())).rejects.toMatchObject(
      ioErrorWith('was replaced while it was in use'),
    )
  })

  test('a store that is restored in place while it is in use sends nothing more', async () => {
    const { store, batchId } = await beginRows(1)
    const database = new DatabaseSync(setup.path)
    await beginNextRows(store, batchId, 1)
    // Changes the store as overwriting its file with an older copy does.
    database.exec(`DELETE FROM attempts WHERE number = 2; UPDATE accounts SET head_number = 1;
      UPDATE submissions SET state = 'pending', attempt_id = NULL WHERE row_number = 2`)
    database.close()
    const row = await store.batches.findNextPending(batchId)
    if (row === undefined) throw new Error('no row is left')
    await expect(beginAttempt(store.ledger, row, newAttempt())).rejects.toMatchObject(
      ioErrorWith('it lacked 1 attempt'),
    )
    expect(await statesOf(store, batchId)).toEqual(['sending', 'unknown', 'pending', 'pending'])
  })

  test('if another process has closed the store meanwhile, no attempt begins, but the outcome of the row before is recorded', async () => {
    const { store, batchId } = await beginRows(1)
    const otherStore = await setup.openStore()
    appendFileSync(
      findLogPath(),
      formatRecord(readEntries()[0] as LogEntry, digest).replace('member@', 'nobody@'),
    )
    expect((await otherStore.rollbacks.examine()).closing).toMatchObject({ reasons: ['log_damaged'] })
    const [one, two] = await rowsOf(store, batchId)
    if (one === undefined || two === undefined) throw new Error('no rows')
    const unlimitedQuota = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }
    await expect(beginAttempt(store.ledger, two, newAttempt())).rejects.toMatchObject(
      ioErrorWith('is closed'),
    )
    await expect(store.ledger.beginInQuota(two, newAttempt(), unlimitedQuota)).rejects.toMatchObject(
      ioErrorWith('is closed'),
    )
    expect(
      await store.ledger.moveAndBegin(one, acceptedOutcome(batchId), two, newAttempt(), unlimitedQuota),
    ).toMatchObject({
      isMoved: true,
      attempt: undefined,
    })
    expect(await statesOf(store, batchId)).toEqual(['accepted', 'pending', 'pending', 'pending'])
  })

  test('several processes of one machine that send at once do not close the store', async () => {
    const stores: Store[] = []
    for (let count = 0; count < 3; count += 1) stores.push(await setup.openStore())
    const sendTenRows = async ({ ledger }: Store, prefix: string): Promise<void> => {
      for (let number = 0; number < 10; number += 1) {
        const row = await addOne(ledger, `${prefix}${number}@example.com`, { kind: 'file' })
        expect(await beginAttempt(ledger, row, newAttempt())).toMatchObject({ state: 'sending' })
      }
    }
    await Promise.all(stores.map((store, index) => sendTenRows(store, `p${index}-`)))
    expect((await setup.openStore().then((store) => store.rollbacks.examine())).closing).toBeUndefined()
  })
})

describe('the attempt log', () => {
  test('if it is missing, a store with attempts is closed, and accepting the store begins a new log', async () => {
    const { store, batchId } = await beginRows(1)
    await store.close()
    rmSync(findLogPath())
    const withoutLog = await setup.openStore()
    expect(await tryToOrder(withoutLog, batchId)).toEqual(refusedWith('the log of its attempts is missing'))
    expect(await withoutLog.rollbacks.acceptOlder()).toEqual({ held: 3 })
    expect(await tryToOrder(withoutLog, batchId)).toEqual(allAllowed)
    expect(await tryToOrder(await setup.openStore(), batchId)).toEqual(allAllowed)
  })

  test('if it is restored without the newest attempt, the store stays closed', async () => {
    const { store, batchId } = await beginRows(2)
    await store.close()
    const path = findLogPath()
    const log = readFileSync(path, 'utf8')
    renameSync(path, `${path}.away`)
    const withoutLog = await setup.openStore()
    expect(await tryToOrder(withoutLog, batchId)).toEqual(refusedWith('the log of its attempts is missing'))
    renameSync(`${path}.away`, path)
    const newest = log.split('\n').findLast((line) => line.includes(' ["entry",')) ?? ''
    writeFileSync(path, log.slice(0, log.indexOf(newest)))
    expect((await withoutLog.rollbacks.examine()).closing).toMatchObject({ reasons: ['log_missing'] })
    writeFileSync(path, log)
    expect(await tryToOrder(withoutLog, batchId)).toEqual(refusedWith('the log of its attempts is missing'))
    expect((await withoutLog.rollbacks.examine()).closing).toBeUndefined()
    expect(await tryToOrder(withoutLog, batchId)).toEqual(allAllowed)
  })

  test('if a complete line has a wrong checksum, the store is closed, and uses another log once it is accepted', async () => {
    const { store, batchId } = await beginRows(2)
    await store.close()
    writeFileSync(findLogPath(), readFileSync(findLogPath(), 'utf8').replace('member@', 'nobody@'))
    const damaged = await setup.openStore()
    expect(await tryToOrder(damaged, batchId)).toEqual(refusedWith('the log of its attempts is damaged'))
    expect(await damaged.rollbacks.acceptOlder()).toEqual({ held: 2 })
    expect(await tryToOrder(damaged, batchId)).toEqual(allAllowed)
    expect(listLogNames()).toHaveLength(2)
  })

  test('if it is a copy, it is used as evidence and is not appended to', async () => {
    const { store, batchId } = await beginRows(1)
    await store.close()
    const copy = join(setup.folder, 'copy')
    renameSync(logFolder, copy)
    mkdirSync(logFolder)
    const [name = ''] = readdirSync(copy)
    copyFileSync(join(copy, name), join(logFolder, name))
    const reopened = await setup.openStore()
    expect(await tryToOrder(reopened, batchId)).toEqual(refusedWith('the log of its attempts is missing'))
    await reopened.rollbacks.acceptOlder()
    // The copy still names the log that was accepted as missing.
    expect((await reopened.rollbacks.examine()).closing).toBeUndefined()
    expect(await tryToOrder(reopened, batchId)).toEqual(allAllowed)
    expect((await (await setup.openStore()).rollbacks.examine()).closing).toBeUndefined()
  })

  test('still belongs to a store that a user has moved to another folder', async () => {
    const { store, batchId } = await beginRows(1)
    await store.close()
    const moved = join(setup.folder, 'moved')
    renameSync(join(setup.folder, 'data'), moved)
    const path = join(moved, 'ledger.sqlite')
    const movedStore = await setup.openStore(path)
    await beginNextRows(movedStore, batchId, 1)
    expect(readRecords().findLast((record) => record.kind === 'header')).toMatchObject({ store: path })
  })

  test('of a lost store closes a new store at the same path, in which its attempts are recovered', async () => {
    const { store } = await beginRows(1)
    await store.close()
    rmSync(join(setup.folder, 'data'), { recursive: true })
    const newStore = await setup.openStore()
    expect(await tryToOrder(newStore, fileBatch().id)).toEqual(
      refusedWith('another store was in its place, with attempts that it lacks'),
    )
    const rerun = fileBatch()
    await newStore.rollbacks.acceptOlder()
    await newStore.batches.add(rerun, orderRows(2))
    expect(await statesOf(newStore, rerun.id)).toEqual(['duplicate', 'pending'])
  })

  test('of a store with another key at the same path closes the store until a person accepts it', async () => {
    const { store, batchId } = await beginRows(1)
    await store.close()
    const header = readRecords()[0]
    if (header?.kind !== 'header') throw new Error('no header')
    const id = randomUUID()
    const foreign = { ...header, id, key: 'f'.repeat(64) }
    const lostEntry = { ...(readEntries()[0] as LogEntry), attemptId: randomUUID() }
    writeFileSync(
      join(logFolder, `${id}.log`),
      formatRecord(foreign, digest) + formatRecord(lostEntry, digest),
    )
    const thisStore = await setup.openStore()
    expect(await tryToOrder(thisStore, batchId)).toEqual(refusedWith('another store was in its place'))
    expect(await thisStore.rollbacks.acceptOlder()).toEqual({ held: 3 })
    expect(await tryToOrder(thisStore, batchId)).toEqual(allAllowed)
  })

  test('is next to the store if the settings folder cannot be written to; without either folder a person has to allow ordering', async () => {
    mkdirSync(join(setup.folder, 'config'))
    writeFileSync(logFolder, 'no folder')
    const { store, batchId } = await beginRows(1)
    expect(existsSync(`${setup.path}.attempts`)).toBe(true)
    await store.close()
    rmSync(`${setup.path}.attempts`, { recursive: true })
    writeFileSync(`${setup.path}.attempts`, 'no folder')
    const reopened = await setup.openStore()
    expect(await tryToOrder(reopened, batchId)).toEqual(refusedWith('the log of its attempts is missing'))
    await expect(reopened.rollbacks.acceptOlder()).rejects.toMatchObject(
      ioErrorWith('cannot keep the attempt log'),
    )
    await reopened.rollbacks.allowWithoutLog()
    expect(await reopened.rollbacks.acceptOlder()).toEqual({ held: 3 })
    expect(await tryToOrder(reopened, batchId)).toEqual(allAllowed)
    // A folder that can be written to again is used again.
    rmSync(logFolder)
    const third = await setup.openStore()
    expect(await tryToOrder(third, batchId)).toEqual(allAllowed)
    expect(listLogNames()).toHaveLength(1)
  })
})

test('after complete erasure of a person no log has the fingerprints', async () => {
  const { store, batchId } = await beginRows(2)
  const [one] = await rowsOf(store, batchId)
  if (one === undefined) throw new Error('no row')
  await store.ledger.move(one, { ...acceptedOutcome(batchId), requestStatus: 'COMPLETED' })
  const readFingerprints = () => readEntries().map(({ person, email, phone }) => [person, email, phone])
  const before = readFingerprints()
  await store.maintenance.purge({ email: 'person1@example.com' }, { dryRun: false, completely: false })
  expect(readFingerprints()).toEqual(before)
  await store.maintenance.purge({ requestId: batchId }, { dryRun: false, completely: true })
  expect(readFingerprints()).toEqual([Array(3).fill('0'.repeat(64)), before[1]])
  await store.close()
  expect(await tryToOrder(await setup.openStore(), batchId)).toEqual(allAllowed)
})

test('a store with an attempt log from before 1.0.0 is refused, and is not created', async () => {
  mkdirSync(logFolder, { recursive: true })
  writeFileSync(join(logFolder, 'one.list'), '')
  writeFileSync(join(logFolder, 'one.json'), JSON.stringify({ store: setup.path, key: 'a'.repeat(64) }))
  await expect(setup.openStore()).rejects.toMatchObject(ioErrorWith('is from before refcheck 1.0.0'))
  expect(existsSync(setup.path)).toBe(false)
})
