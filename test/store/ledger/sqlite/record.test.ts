import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { NewRow } from '../../../../src/domain/batch/batch.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'
import { beginAttempt, addOne, batchOf, beginOne, newAttempt, personOf, someTime } from '../batches.ts'
import { fileBatch, orderRow } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'

let setup: TemporaryStores
let store: Store
beforeEach(async () => {
  setup = createTemporaryStores()
  store = await setup.openStore()
})
afterEach(() => setup.remove())

/** Runs a statement directly in the database file, without the program. */
function queryFile(sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(setup.path)
  const rows = database.prepare(sql).all()
  database.close()
  return rows.map((row) => Object.assign({}, row))
}

const at = someTime + 100
const requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55'

describe('the store records', () => {
  test('each attempt with its user, begin, end and HTTP status', async () => {
    const ordered = await beginOne(store.ledger, 'ann@example.com')
    const accepted = { to: 'accepted', at, requestId, requestStatus: 'RECEIVED', answerStatus: 201 } as const
    await store.ledger.move(ordered, accepted)
    const lostAttempt = await beginOne(store.ledger, 'bob@example.com')
    await store.ledger.move(lostAttempt, { to: 'unknown', at, reason: 'cut' })
    await store.ledger.move(
      { ...lostAttempt, state: 'unknown' },
      { to: 'dropped', at: at + 1, reason: 'left', decision },
    )
    const began = { user_email: 'member@example.com', began_at: someTime + 10, began_monotonic: 1234.5 }
    expect(queryFile('SELECT * FROM attempts ORDER BY rowid')).toMatchObject([
      {
        ...began,
        id: ordered.attemptId,
        batch_id: ordered.batchId,
        row_number: 1,
        ended_at: at,
        became: 'accepted',
        answer_status: 201,
        reason: null,
      },
      {
        ...began,
        id: lostAttempt.attemptId,
        ended_at: at,
        became: 'unknown',
        answer_status: null,
        reason: 'cut',
      },
    ])
  })

  const decision = { by: 'owner@example.com', why: 'they looked twice' }

  test('each decision with its user, time and reason', async () => {
    const lostAttempt = await beginOne(store.ledger, 'bob@example.com')
    await store.ledger.move(lostAttempt, { to: 'unknown', at, reason: 'cut' })
    expect(queryFile('SELECT * FROM decisions')).toEqual([])
    await store.ledger.move(
      { ...lostAttempt, state: 'unknown' },
      { to: 'pending', at: at + 5, reason: 'again', decision },
    )
    expect(queryFile('SELECT * FROM decisions')).toMatchObject([
      {
        batch_id: lostAttempt.batchId,
        row_number: 1,
        attempt_id: lostAttempt.attemptId,
        became: 'pending',
        made_at: at + 5,
        made_by: 'owner@example.com',
        why: 'they looked twice',
      },
    ])
  })

  test('each release with the two people, the user and the time', async () => {
    const first = await addOne(store.ledger, 'ann@example.com')
    const batch = fileBatch()
    const recipient = { ...personOf('ann@example.com'), first_name: 'Anne' }
    await store.batches.add(batch, [{ ...orderRow(1, 'ann@example.com'), recipient } as NewRow])
    await store.heldRows.release(batch.id, { kind: 'rows', rows: [1] }, { at, by: 'owner@example.com' })
    expect(queryFile('SELECT * FROM releases')).toEqual([
      {
        batch_id: batch.id,
        row_number: 1,
        other_batch: first.batchId,
        other_row: 1,
        made_at: at,
        made_by: 'owner@example.com',
      },
    ])
  })
})

test('a rejected row whose person was erased and an accepted row are not queued again', async () => {
  const batch = fileBatch()
  await store.batches.add(
    batch,
    ['ann', 'bob', 'eve'].map((name, index) => orderRow(index + 1, `${name}@example.com`)),
  )
  const accepted = { to: 'accepted', at, requestId: batch.id, requestStatus: 'RECEIVED' } as const
  for (const number of [1, 2, 3]) {
    const row = await store.batches.findNextPending(batch.id)
    const attempt = row && (await beginAttempt(store.ledger, row, newAttempt()))
    if (attempt === undefined) throw new Error(`row ${number} did not begin`)
    await store.ledger.move(attempt, number === 3 ? accepted : { to: 'rejected', at, reason: 'no' })
  }
  await store.maintenance.purge({ email: 'ann@example.com' }, { dryRun: false, completely: false })
  expect(await store.batches.requeue(batch.id, at)).toBe(1)
  expect(await store.batches.countRows(batch.id)).toMatchObject({ rejected: 1, pending: 1, accepted: 1 })
})

test('an e-mail that is declared as shared holds no row of its file, neither when the rows are added nor when they are sent', async () => {
  const email = 'agency@example.com'
  const member = (row: number, first_name: string): NewRow =>
    ({
      ...orderRow(row, email),
      recipient: { ...personOf(`${first_name}@example.com`), first_name, email },
    }) as NewRow
  const batch = fileBatch({ shared: [email] })
  await store.batches.add(batch, [member(1, 'Ann'), member(2, 'Bob')])
  for await (const row of store.batches.rows(batch.id)) {
    const attempt = await beginAttempt(store.ledger, row, newAttempt())
    if (attempt === undefined) throw new Error(`row ${row.row} did not begin`)
    // Otherwise the next row would wait for the outcome of this similar order.
    await store.ledger.move(attempt, {
      to: 'accepted',
      at,
      requestId: randomUUID(),
      requestStatus: 'RECEIVED',
    })
  }
  expect(await store.batches.countRows(batch.id)).toMatchObject({ accepted: 2 })
})

test('runners cannot share a batch of a store in a file', async () => {
  expect(store.batches.allowsSeveralRunners).toBe(false)
})

test('a store in memory refuses a single order for a service on another machine', async () => {
  const memory = await setup.openStore(':memory:')
  const order = batchOf(['ann@example.com'], { baseUrl: 'https://api.example.com', id: randomUUID() })
  await expect(memory.ledger.add(order, { allowDuplicate: false })).rejects.toThrow(
    'a store in memory, which would forget the order',
  )
})
