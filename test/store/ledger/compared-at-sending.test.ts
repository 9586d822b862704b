import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, batchOf, newAttempt, someTime } from './batches.ts'
import { fileBatch, officeRows, orderRows, rowsOf, statesOf } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import type { BatchRow, NewFileBatch } from '../../../src/domain/batch/batch.ts'
import type { Recipient } from '../../../src/contract/request.ts'
import type { OrderRow } from '../../../src/domain/batch/compare.ts'
import type { RowVersion } from '../../../src/domain/submission/submission.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { queryDatabase } from '../../harness/postgres.ts'
import { sharedStore } from '../../harness/postgres-store.ts'

const urls = ['https://old.example.com', 'https://new.example.com'] as const
const byOwner = { at: someTime, by: 'owner@example.com' }

describe.each(backends)('%s: a pending row that matches an order only after it was added', (backend) => {
  let setup: TemporaryStores
  let store: Store
  let pending: BatchRow

  const readFirstRow = async (batchId: string): Promise<BatchRow> => {
    const { value: row } = await store.batches.rows(batchId).next()
    if (row === undefined) throw new Error('the batch has no row')
    return row
  }

  /** Orders a person at one URL and adds the person as pending at another. Only then both URLs are recorded as one service. */
  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
    await store.heldRows.recordSameService(urls, false, byOwner)
    const [old, fresh] = urls.map((baseUrl) => fileBatch({ baseUrl })) as [
      ReturnType<typeof fileBatch>,
      ReturnType<typeof fileBatch>,
    ]
    await store.batches.add(old, orderRows(1))
    const attempt = await beginAttempt(store.ledger, await readFirstRow(old.id), newAttempt())
    if (attempt === undefined) throw new Error('the attempt did not begin')
    const requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55'
    await store.ledger.move(attempt, { to: 'accepted', at: someTime, requestId, requestStatus: 'RECEIVED' })
    await store.batches.add(fresh, orderRows(1))
    pending = await readFirstRow(fresh.id)
    if (pending.state !== 'pending') throw new Error('the row conflicts too early')
    await store.heldRows.recordSameService(urls, true, byOwner)
  })
  afterEach(() => setup.remove())

  const readState = async () => (await readFirstRow(pending.batchId)).state

  test('is compared in the step that takes it to sending, and becomes a duplicate instead', async () => {
    expect(await beginAttempt(store.ledger, pending, newAttempt())).toBeUndefined()
    expect(await readState()).toBe('duplicate')
  })

  test('becomes a duplicate even if the quota allows the call', async () => {
    const unlimitedQuota = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }
    const claim = await store.ledger.beginInQuota(pending, newAttempt(), unlimitedQuota)
    expect(claim).toMatchObject({ attempt: undefined, conflict: { becomes: 'duplicate' } })
    expect(await readState()).toBe('duplicate')
  })

  test('becomes a duplicate as a single order too, unless that order was added with allowDuplicate', async () => {
    const guard = { allowDuplicate: false }
    const [, baseUrl] = urls
    const order = batchOf(['person1@example.com'], { baseUrl })
    await store.batches.cancelWaiting(pending.batchId, someTime, 'cancelled', 1)
    await store.heldRows.recordSameService(urls, false, byOwner)
    expect(await store.ledger.add(order, guard)).toBeUndefined()
    await store.heldRows.recordSameService(urls, true, byOwner)
    const row = { batchId: order.id, row: 1, state: 'pending', attemptId: undefined } as const
    expect(await beginAttempt(store.ledger, row, newAttempt())).toBeUndefined()
    expect(await store.ledger.list({ batchId: order.id })).toMatchObject([{ state: 'duplicate' }])
    const repeatedOrder = batchOf(['person1@example.com'], { baseUrl })
    expect(await store.ledger.add(repeatedOrder, { allowDuplicate: true })).toBeUndefined()
    expect(
      await beginAttempt(store.ledger, { ...row, batchId: repeatedOrder.id }, newAttempt()),
    ).toMatchObject({
      state: 'sending',
    })
  })
})

describe.each(backends)('%s: conflict detection', (backend) => {
  let setup: TemporaryStores
  let store: Store

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  const unlimitedQuota = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

  test('a claim by a version of the row from before its last attempt records nothing, whatever the row conflicts with', async () => {
    await store.heldRows.recordSameService(urls, false, byOwner)
    const [other, batch] = [fileBatch({ baseUrl: urls[0] }), fileBatch({ baseUrl: urls[1] })]
    await store.batches.add(other, orderRows(1))
    await store.batches.add(batch, orderRows(1))
    const version: RowVersion = { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined }
    const attempt = await beginAttempt(store.ledger, version, newAttempt())
    if (attempt === undefined) throw new Error('the attempt did not begin')
    await store.ledger.move(attempt, { to: 'pending', at: someTime, reason: 'no byte left' })
    await store.heldRows.recordSameService(urls, true, byOwner)
    expect(await beginAttempt(store.ledger, version, newAttempt())).toBeUndefined()
    expect(await store.ledger.beginInQuota(version, newAttempt(), unlimitedQuota)).toMatchObject({
      conflict: undefined,
    })
    expect(await statesOf(store, batch.id)).toEqual(['pending'])
    const currentVersion = { ...version, attemptId: attempt.attemptId }
    expect(await store.ledger.beginInQuota(currentVersion, newAttempt(), unlimitedQuota)).toMatchObject({
      conflict: { becomes: 'duplicate' },
    })
  })

  test('shows the order that was added first if two conflicts have the same precedence', async () => {
    const [one, two, third] = [fileBatch(), fileBatch(), fileBatch()]
    const [ann] = officeRows('office@example.com', ['Ann'])
    const [bob] = officeRows('bob@example.com', ['Bob'])
    if (ann?.state !== 'pending' || bob?.state !== 'pending') throw new Error('a row is not pending')
    const withRecipient = (from: OrderRow, changes: Partial<Recipient>): OrderRow => ({
      ...from,
      recipient: { ...from.recipient, ...changes },
    })
    // The first order shares only the phone with the third. The index of phones is read after the index of e-mails.
    const phone = '+61411111111'
    await store.batches.add(one, [withRecipient(bob, { first_name: 'Cid', last_name: 'Other', phone })])
    await store.batches.add(two, [withRecipient(ann, { email: 'cid@example.com', last_name: 'Second' })])
    await store.batches.add(third, [
      withRecipient(ann, { first_name: 'Cid', last_name: 'Third', email: 'cid@example.com', phone }),
    ])
    const [row] = await rowsOf(store, third.id)
    expect(row).toMatchObject({ state: 'held', matches: { batchId: one.id } })
  })

  test('a claim by a process that read another key than the store has is refused, and nothing is sent', async () => {
    const batch = fileBatch()
    await store.batches.add(batch, orderRows(1))
    const version: RowVersion = { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined }
    const formerKey = await replaceKey('1'.repeat(64))
    const refusal = {
      code: 'io',
      message: expect.stringMatching(/^the store ".*" was replaced while it was in use$/) as string,
    }
    await expect(beginAttempt(store.ledger, version, newAttempt())).rejects.toMatchObject(refusal)
    await replaceKey(formerKey)
    expect(await beginAttempt(store.ledger, version, newAttempt())).toMatchObject({ state: 'sending' })
  })

  /** Replaces the fingerprint key directly in the database. Returns the former key. Both keys are hexadecimal. */
  async function replaceKey(key: string): Promise<string> {
    if (backend === 'PostgreSQL') {
      const url = await sharedStore()
      const [row] = await queryDatabase(
        url,
        `SELECT encode(value, 'hex') AS key FROM refcheck.meta WHERE name = 'fingerprint_key'`,
      )
      await queryDatabase(
        url,
        `UPDATE refcheck.meta SET value = decode('${key}', 'hex') WHERE name = 'fingerprint_key'`,
      )
      return String(row?.['key'])
    }
    const database = new DatabaseSync(setup.path)
    const row = database.prepare(`SELECT hex(value) AS key FROM meta WHERE name = 'fingerprint_key'`).get()
    database.exec(`UPDATE meta SET value = x'${key}' WHERE name = 'fingerprint_key'`)
    database.close()
    return String(row?.['key']).toLowerCase()
  }
})

/** Options of a batch that allow its rows to share one e-mail. */
const similarityOptions: [string, Partial<NewFileBatch>][] = [
  ['--allow-similar', { allowSimilar: true }],
  ['--shared', { shared: ['office@example.com'] }],
]

describe.each(backends)('%s: a row that is similar to another row of its file', (backend) => {
  let setup: TemporaryStores
  let store: Store

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  /** Adds three colleagues who share one e-mail. The order of the first is in flight. */
  async function addOffice(changes: Partial<NewFileBatch>) {
    const batch = fileBatch(changes)
    await store.batches.add(batch, officeRows('office@example.com', ['Ann', 'Bob', 'Cy']))
    const [first, second, third] = await rowsOf(store, batch.id)
    const attempt = first && (await beginAttempt(store.ledger, first, newAttempt()))
    if (attempt === undefined || second === undefined || third === undefined)
      throw new Error('the attempt did not begin')
    return { batchId: batch.id, attempt, second, third }
  }

  test.each(similarityOptions)(
    '%s: is sent while the other order is in flight, and "held until that is settled or dropped" if its outcome is unknown',
    async (_, changes) => {
      const { batchId, attempt, second, third } = await addOffice(changes)
      expect(await beginAttempt(store.ledger, second, newAttempt())).toMatchObject({
        row: 2,
        state: 'sending',
      })
      await store.ledger.move(attempt, { to: 'unknown', at: someTime, reason: 'cut' })
      expect(await beginAttempt(store.ledger, third, newAttempt())).toBeUndefined()
      const heldRow = { row: 3, state: 'held', heldFor: 'similar_unknown', matches: { row: 1 } }
      expect((await rowsOf(store, batchId))[2]).toMatchObject(heldRow)
      await store.heldRows.recheck(batchId, someTime)
      expect((await rowsOf(store, batchId))[2]).toMatchObject(heldRow)
      await store.ledger.move(
        { ...attempt, state: 'unknown' },
        {
          to: 'dropped',
          at: someTime,
          reason: 'given up',
          decision: { by: 'owner@example.com', why: 'given up' },
        },
      )
      await store.heldRows.recheck(batchId, someTime)
      expect((await rowsOf(store, batchId))[2]).toMatchObject({ row: 3, state: 'pending' })
    },
  )
})
