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
  accepted,
  beginRows,
  closed,
  entries,
  freshFolders,
  goOn,
  letIn,
  logFolder,
  logNames,
  logPath,
  setup,
  records,
  shut,
  tries,
} from './rolled-back.ts'
import { beginAttempt, addOne, newAttempt, someTime } from '../batches.ts'
import { fileBatch, orderRows, rowsOf, statesOf } from '../files.ts'

freshFolders()

describe('between the commit and the request', () => {
  test('each attempt is recorded once, with its number and the keyed fingerprints', async () => {
    const { store, batchId } = await beginRows(2)
    const [row] = await rowsOf(store, batchId)
    const print = expect.stringMatching(/^[0-9a-f]{64}$/) as string
    expect(entries()).toMatchObject([
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
        person: print,
        email: print,
        phone: print,
      },
      { number: 2, row: 2 },
    ])
    const { person, email, phone } = entries()[0] as LogEntry
    expect(new Set([person, email, phone]).size).toBe(3)
  })

  test('an attempt that cannot be recorded is not sent', async () => {
    const { store, batchId } = await beginRows(1)
    const row = await store.batches.findNextPending(batchId)
    rmSync(logPath())
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

  test('a process that is killed there leaves a store that is open, and its attempt is recorded by the next one', async () => {
    const { store, batchId } = await beginRows(2)
    await store.close()
    // As the log was before its last line.
    const text = readFileSync(logPath(), 'utf8')
    truncateSync(logPath(), Buffer.byteLength(text.slice(0, text.lastIndexOf('\n'))))
    expect(entries()).toHaveLength(1)
    expect(await tries(await setup.store(), batchId)).toEqual(letIn)
    expect(entries().map(({ number }) => number)).toEqual([1, 2])
  })

  test('what the next process records of such an attempt names the packages that are one with its own', async () => {
    const { store, batchId } = await beginRows(0)
    await store.waiting.moveRows(batchId, 13, await store.waiting.readMovable(batchId), someTime)
    await goOn(store, batchId, 1)
    await store.close()
    const written = entries()
    expect(written).toMatchObject([{ packageId: 13, relatedIds: [12] }])
    const text = readFileSync(logPath(), 'utf8')
    truncateSync(logPath(), Buffer.byteLength(text.slice(0, text.lastIndexOf('\n'))))
    await tries(await setup.store(), batchId)
    expect(entries()).toEqual(written)
  })

  test('an incomplete last line belongs to an attempt that was never sent', async () => {
    const { store, batchId } = await beginRows(2)
    await store.close()
    appendFileSync(logPath(), '\n0123456789abcdef ["half a line')
    const again = await setup.store()
    expect(await tries(again, batchId)).toEqual(letIn)
    await goOn(again, batchId, 1)
    expect((await again.rollbacks.examine()).closing).toBeUndefined()
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
      closed('was replaced while it was in use'),
    )
  })

  test('a store that is restored in place while it is in use sends nothing more', async () => {
    const { store, batchId } = await beginRows(1)
    const database = new DatabaseSync(setup.path)
    await goOn(store, batchId, 1)
    // As a copy of all pages does that is written over the file.
    database.exec(`DELETE FROM attempts WHERE number = 2; UPDATE accounts SET head_number = 1;
      UPDATE submissions SET state = 'pending', attempt_id = NULL WHERE row_number = 2`)
    database.close()
    const row = await store.batches.findNextPending(batchId)
    if (row === undefined) throw new Error('no row is left')
    await expect(beginAttempt(store.ledger, row, newAttempt())).rejects.toMatchObject(
      closed('it lacked 1 attempt'),
    )
    expect(await statesOf(store, batchId)).toEqual(['sending', 'unknown', 'pending', 'pending'])
  })

  test('a store that another process has closed meanwhile begins nothing, and keeps the outcome before', async () => {
    const { store, batchId } = await beginRows(1)
    const other = await setup.store()
    appendFileSync(logPath(), formatRecord(entries()[0] as LogEntry, digest).replace('member@', 'nobody@'))
    expect((await other.rollbacks.examine()).closing).toMatchObject({ reasons: ['log_damaged'] })
    const [one, two] = await rowsOf(store, batchId)
    if (one === undefined || two === undefined) throw new Error('no rows')
    const room = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }
    await expect(beginAttempt(store.ledger, two, newAttempt())).rejects.toMatchObject(closed('is closed'))
    await expect(store.ledger.beginInQuota(two, newAttempt(), room)).rejects.toMatchObject(
      closed('is closed'),
    )
    expect(await store.ledger.moveAndBegin(one, accepted(batchId), two, newAttempt(), room)).toMatchObject({
      moved: true,
      attempt: undefined,
    })
    expect(await statesOf(store, batchId)).toEqual(['accepted', 'pending', 'pending', 'pending'])
  })

  test('several processes of one machine at once close nothing', async () => {
    const stores: Store[] = []
    for (let count = 0; count < 3; count += 1) stores.push(await setup.store())
    const send = async ({ ledger }: Store, who: string): Promise<void> => {
      for (let number = 0; number < 10; number += 1) {
        const row = await addOne(ledger, `${who}${number}@example.com`, { kind: 'file' })
        expect(await beginAttempt(ledger, row, newAttempt())).toMatchObject({ state: 'sending' })
      }
    }
    await Promise.all(stores.map((store, at) => send(store, `p${at}-`)))
    expect((await setup.store().then((store) => store.rollbacks.examine())).closing).toBeUndefined()
  })
})

describe('the attempt log', () => {
  test('is missing: a store with attempts is closed, and accepting it begins a new log', async () => {
    const { store, batchId } = await beginRows(1)
    await store.close()
    rmSync(logPath())
    const without = await setup.store()
    expect(await tries(without, batchId)).toEqual(shut('the log of its attempts is missing'))
    expect(await without.rollbacks.acceptOlder()).toEqual({ held: 3 })
    expect(await tries(without, batchId)).toEqual(letIn)
    expect(await tries(await setup.store(), batchId)).toEqual(letIn)
  })

  test('comes back without the newest attempt: the store stays closed', async () => {
    const { store, batchId } = await beginRows(2)
    await store.close()
    const path = logPath()
    const log = readFileSync(path, 'utf8')
    renameSync(path, `${path}.away`)
    const without = await setup.store()
    expect(await tries(without, batchId)).toEqual(shut('the log of its attempts is missing'))
    renameSync(`${path}.away`, path)
    const newest = log.split('\n').findLast((line) => line.includes(' ["entry",')) ?? ''
    writeFileSync(path, log.slice(0, log.indexOf(newest)))
    expect((await without.rollbacks.examine()).closing).toMatchObject({ reasons: ['log_missing'] })
    writeFileSync(path, log)
    expect(await tries(without, batchId)).toEqual(shut('the log of its attempts is missing'))
    expect((await without.rollbacks.examine()).closing).toBeUndefined()
    expect(await tries(without, batchId)).toEqual(letIn)
  })

  test('has a complete line with a wrong checksum: the store is closed, and goes on with another log', async () => {
    const { store, batchId } = await beginRows(2)
    await store.close()
    writeFileSync(logPath(), readFileSync(logPath(), 'utf8').replace('member@', 'nobody@'))
    const damaged = await setup.store()
    expect(await tries(damaged, batchId)).toEqual(shut('the log of its attempts is damaged'))
    expect(await damaged.rollbacks.acceptOlder()).toEqual({ held: 2 })
    expect(await tries(damaged, batchId)).toEqual(letIn)
    expect(logNames()).toHaveLength(2)
  })

  test('that is a copy is used as evidence, and is not appended to', async () => {
    const { store, batchId } = await beginRows(1)
    await store.close()
    const copy = join(setup.folder, 'copy')
    renameSync(logFolder, copy)
    mkdirSync(logFolder)
    const [name = ''] = readdirSync(copy)
    copyFileSync(join(copy, name), join(logFolder, name))
    const again = await setup.store()
    expect(await tries(again, batchId)).toEqual(shut('the log of its attempts is missing'))
    await again.rollbacks.acceptOlder()
    // The copy still names the log that was accepted as missing.
    expect((await again.rollbacks.examine()).closing).toBeUndefined()
    expect(await tries(again, batchId)).toEqual(letIn)
    expect((await (await setup.store()).rollbacks.examine()).closing).toBeUndefined()
  })

  test('still belongs to a store that a user has moved to another folder', async () => {
    const { store, batchId } = await beginRows(1)
    await store.close()
    const moved = join(setup.folder, 'moved')
    renameSync(join(setup.folder, 'data'), moved)
    const path = join(moved, 'ledger.sqlite')
    const there = await setup.store(path)
    await goOn(there, batchId, 1)
    expect(records().findLast((record) => record.kind === 'header')).toMatchObject({ store: path })
  })

  test('of a store that is lost: a new one in its place has its attempts, and is closed', async () => {
    const { store } = await beginRows(1)
    await store.close()
    rmSync(join(setup.folder, 'data'), { recursive: true })
    const fresh = await setup.store()
    expect(await tries(fresh, fileBatch().id)).toEqual(
      shut('another store was in its place, with attempts that it lacks'),
    )
    const again = fileBatch()
    await fresh.rollbacks.acceptOlder()
    await fresh.batches.add(again, orderRows(2))
    expect(await statesOf(fresh, again.id)).toEqual(['duplicate', 'pending'])
  })

  test('of a store with another key that was in its place: a person decides once', async () => {
    const { store, batchId } = await beginRows(1)
    await store.close()
    const header = records()[0]
    if (header?.kind !== 'header') throw new Error('no header')
    const id = randomUUID()
    const foreign = { ...header, id, key: 'f'.repeat(64) }
    const lost = { ...(entries()[0] as LogEntry), attemptId: randomUUID() }
    writeFileSync(join(logFolder, `${id}.log`), formatRecord(foreign, digest) + formatRecord(lost, digest))
    const here = await setup.store()
    expect(await tries(here, batchId)).toEqual(shut('another store was in its place'))
    expect(await here.rollbacks.acceptOlder()).toEqual({ held: 3 })
    expect(await tries(here, batchId)).toEqual(letIn)
  })

  test('next to the store, where the settings cannot be written; nowhere: refused unless a person allows it', async () => {
    mkdirSync(join(setup.folder, 'config'))
    writeFileSync(logFolder, 'no folder')
    const { store, batchId } = await beginRows(1)
    expect(existsSync(`${setup.path}.attempts`)).toBe(true)
    await store.close()
    rmSync(`${setup.path}.attempts`, { recursive: true })
    writeFileSync(`${setup.path}.attempts`, 'no folder')
    const again = await setup.store()
    expect(await tries(again, batchId)).toEqual(shut('the log of its attempts is missing'))
    await expect(again.rollbacks.acceptOlder()).rejects.toMatchObject(closed('cannot keep the attempt log'))
    await again.rollbacks.allowWithoutLog()
    expect(await again.rollbacks.acceptOlder()).toEqual({ held: 3 })
    expect(await tries(again, batchId)).toEqual(letIn)
    // A place that can be written again is used again.
    rmSync(logFolder)
    const third = await setup.store()
    expect(await tries(third, batchId)).toEqual(letIn)
    expect(logNames()).toHaveLength(1)
  })
})

test('after complete erasure of a person no log has the fingerprints', async () => {
  const { store, batchId } = await beginRows(2)
  const [one] = await rowsOf(store, batchId)
  if (one === undefined) throw new Error('no row')
  await store.ledger.move(one, { ...accepted(batchId), requestStatus: 'COMPLETED' })
  const prints = () => entries().map(({ person, email, phone }) => [person, email, phone])
  const before = prints()
  await store.maintenance.purge({ email: 'person1@example.com' }, { dryRun: false, completely: false })
  expect(prints()).toEqual(before)
  await store.maintenance.purge({ requestId: batchId }, { dryRun: false, completely: true })
  expect(prints()).toEqual([Array(3).fill('0'.repeat(64)), before[1]])
  await store.close()
  expect(await tries(await setup.store(), batchId)).toEqual(letIn)
})

test('a log from before 1.0.0 refuses the store, and no new one is begun next to it', async () => {
  mkdirSync(logFolder, { recursive: true })
  writeFileSync(join(logFolder, 'one.list'), '')
  writeFileSync(join(logFolder, 'one.json'), JSON.stringify({ store: setup.path, key: 'a'.repeat(64) }))
  await expect(setup.store()).rejects.toMatchObject(closed('is from before refcheck 1.0.0'))
  expect(existsSync(setup.path)).toBe(false)
})
