import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { ReceivedEvent } from '../../../src/domain/webhook/events.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { reconcileByEvidence, reconcileByDecision } from '../../../src/usecases/batch/reconcile-batch.ts'
import { startBatch } from '../../../src/usecases/batch/start.ts'
import { beginOne } from '../../store/ledger/batches.ts'
import { orderRows, rowsOf, statesOf } from '../../store/ledger/files.ts'
import { answer201 } from '../request/answers.ts'
import { addBatch } from './runner.ts'
import {
  createId,
  clockAfterMinutes,
  memoryStore,
  packages,
  writePeopleFile,
  requestFor,
  createRunner,
  sendRow,
  sentAt,
  addUnknownRows,
} from './unknown-rows.ts'

let store: Store
let folder: string

beforeEach(async () => {
  store = await memoryStore()
  folder = mkdtempSync(join(tmpdir(), 'refcheck-results-'))
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const createEvent = (requestId: string): ReceivedEvent => ({
  receivedAt: sentAt,
  body: Buffer.from('{}'),
  signature: 'a'.repeat(64),
  requestId,
  status: 'RECEIVED',
  event: 'request.updated',
  oddity: undefined,
})

const serviceWithRequests = (...rows: number[]) => ({
  reads: Object.fromEntries(rows.map((row) => [createId(row), requestFor(row)])),
})
const allUnmatched = { batchId: undefined, ids: undefined }

describe('the ids that batch reconcile uses', () => {
  test('are those in the webhook inbox that belong to no row', async () => {
    const { batch } = await addUnknownRows(store)
    await store.inbox.add([createEvent(createId(1))], false)
    const found = await reconcileByEvidence(createRunner(store, serviceWithRequests(1)).ports, allUnmatched)
    expect(found).toMatchObject({ settled: [{ requestId: createId(1) }], open: [], secondOrders: [] })
    expect(await statesOf(store, batch.id)).toEqual(['accepted'])
  })

  test('are those in a file of captured events instead, if it is given', async () => {
    await addUnknownRows(store, { rows: orderRows(2) })
    await store.inbox.add([createEvent(createId(2))], false)
    const { ports, api } = createRunner(store, serviceWithRequests(1))
    const found = await reconcileByEvidence(ports, { batchId: undefined, ids: [createId(1)] })
    expect({ found, read: api.readIds }).toMatchObject({
      found: { settled: [{ submission: { row: 1 } }] },
      read: [createId(1)],
    })
  })
})

describe('the rows that it settles', () => {
  test('are those of all batches, or of the given batch', async () => {
    const { batch: one } = await addUnknownRows(store)
    const { batch: other } = await addUnknownRows(store, { rows: orderRows(1, 2) })
    const { ports } = createRunner(store, serviceWithRequests(1, 2))
    const found = await reconcileByEvidence(ports, { batchId: other.id, ids: [createId(1), createId(2)] })
    expect(found).toMatchObject({ settled: [{ submission: { batchId: other.id } }], open: [] })
    expect(await statesOf(store, one.id)).toEqual(['unknown'])
    const rest = await reconcileByEvidence(createRunner(store, serviceWithRequests(1)).ports, {
      batchId: undefined,
      ids: [createId(1)],
    })
    expect(rest).toMatchObject({ settled: [{ submission: { batchId: one.id } }] })
  })

  test('include a row in flight of a process that died', async () => {
    await beginOne(store.ledger, 'person1@example.com')
    const row = requestFor(1, { requester: { email: 'member@example.com' } })
    const { ports } = createRunner(store, { reads: { [createId(1)]: row } })
    expect(
      (await reconcileByEvidence(ports, { batchId: undefined, ids: [createId(1)] })).settled,
    ).toHaveLength(1)
  })

  test('an unknown batch is an error', async () => {
    const { ports } = createRunner(store)
    await expect(reconcileByEvidence(ports, { batchId: 'nowhere', ids: [] })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('include dropped rows', async () => {
    const { batch, rows } = await addUnknownRows(store)
    const decision = { by: 'a person', why: 'nobody knows' }
    for (const row of rows)
      await store.ledger.move(row, { to: 'dropped', at: sentAt, reason: 'dropped', decision })
    await reconcileByEvidence(createRunner(store, serviceWithRequests(1)).ports, {
      batchId: undefined,
      ids: [createId(1)],
    })
    expect(await statesOf(store, batch.id)).toEqual(['accepted'])
  })
})

test('an unmatched request for a person who was ordered with this store is reported as a possible duplicate', async () => {
  const batch = await addBatch(store, { rows: orderRows(1) })
  const [row] = await rowsOf(store, batch.id)
  if (row !== undefined)
    await sendRow(store, row, { to: 'accepted', requestId: createId(1), requestStatus: 'RECEIVED' })
  const unmatched = requestFor(1, { request_id: createId(9) })
  const { ports } = createRunner(store, { reads: { [createId(9)]: unmatched } })
  const { secondOrders } = await reconcileByEvidence(ports, { batchId: undefined, ids: [createId(9)] })
  expect(secondOrders).toEqual([
    {
      requestId: createId(9),
      createdAt: unmatched.created_at,
      packageId: 12,
      shares: [],
      order: { requestId: createId(1), batchId: batch.id, row: 1, packageId: 12 },
    },
  ])
})

describe('the results file', () => {
  const readResults = () => readFileSync(join(folder, 'people.results.csv'), 'utf8')
  const reconcileAll = (batchId?: string) =>
    reconcileByEvidence(createRunner(store, serviceWithRequests(1)).ports, { batchId, ids: [createId(1)] })

  test('contains rows that were settled by evidence and by a decision', async () => {
    await addUnknownRows(store, { ...writePeopleFile(folder, 2), rows: orderRows(2) })
    await reconcileAll()
    expect(readResults()).toContain(`accepted,${createId(1)},RECEIVED`)
    expect(readResults()).toContain('unknown,')
    const [batch] = await store.batches.list()
    await reconcileByDecision(createRunner(store, serviceWithRequests(1)).ports, {
      batchId: batch?.id ?? '',
      row: 2,
      answer: { kind: 'leave' },
      reason: undefined,
    })
    expect(readResults()).toContain('dropped,')
  })

  test('is not written if the people file has changed', async () => {
    const file = writePeopleFile(folder)
    await addUnknownRows(store, file)
    writeFileSync(file.path ?? '', 'first_name\nBob\n')
    expect((await reconcileAll()).settled).toHaveLength(1)
    expect(readResults).toThrow('ENOENT')
  })

  test('is not written if nothing was settled', async () => {
    await addUnknownRows(store, writePeopleFile(folder))
    await reconcileByEvidence(createRunner(store).ports, { batchId: undefined, ids: [] })
    expect(readResults).toThrow('ENOENT')
  })

  test('that cannot be written is reported, and what was reconciled stays', async () => {
    const { batch } = await addUnknownRows(store, {
      ...writePeopleFile(folder),
      resultsFile: join(folder, 'gone', 'people.results.csv'),
    })
    const { ports, batchEvents } = createRunner(store, serviceWithRequests(1))
    expect(
      (await reconcileByEvidence(ports, { batchId: undefined, ids: [createId(1)] })).settled,
    ).toHaveLength(1)
    expect(batchEvents).toMatchObject([{ name: 'results-unwritten', batchId: undefined }])
    expect(await statesOf(store, batch.id)).toEqual(['accepted'])
  })

  test('is not written if the rows cannot be read, and the error is thrown', async () => {
    await addUnknownRows(store, writePeopleFile(folder))
    const surprise = new TypeError('a fault of ours')
    const { ports } = createRunner(store, serviceWithRequests(1))
    const rows = () => {
      throw surprise
    }
    Object.assign(ports.batches, { rows })
    await expect(reconcileByEvidence(ports, { batchId: undefined, ids: [createId(1)] })).rejects.toBe(
      surprise,
    )
  })

  test('of a colleague is read before a row is sent again', async () => {
    const file = { ...writePeopleFile(folder), name: 'people.csv' }
    const colleague = await memoryStore()
    const other = await addBatch(colleague, { ...file, rows: orderRows(1) })
    const world = { api: packages, creates: [answer201(createId(5))] }
    expect((await startBatch(createRunner(colleague, world).ports, other.id, {})).failure).toBeUndefined()
    await colleague.close()
    const { batch } = await addUnknownRows(store, { ...file, resultsFile: join(folder, 'mine.csv') })
    const { ports, api } = createRunner(store, { api: packages, clock: clockAfterMinutes(20) })
    const answer = { kind: 'order', confirmedEmail: 'person1@example.com' } as const
    const { failure } = await reconcileByDecision(ports, {
      batchId: batch.id,
      row: 1,
      answer,
      reason: undefined,
    })
    expect({ sent: api.sentBodies, states: await statesOf(store, batch.id) }).toEqual({
      sent: [],
      states: ['duplicate'],
    })
    expect(failure).toBeUndefined()
  })
})
