import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { ReceivedEvent } from '../../../src/domain/webhook/events.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'
import { beginAttempt, newAttempt, personOf, someTime } from './batches.ts'
import { fileBatch, orderRows } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'

// The tests of this file are the row `at-rest` of the fault table (test/resilience/rows.ts).
recordForFaultTable('at-rest', { mustNotHappen: 'brought back' })

const [firstRequestId, secondRequestId] = ['1', '2'].map(
  (digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`,
) as [string, string]

const errorEvent = (requestId: string): ReceivedEvent => ({
  receivedAt: someTime,
  body: Buffer.from('{"error_reason":"Ann Lee was not found"}'),
  signature: 'a'.repeat(64),
  requestId,
  status: 'ERROR',
  event: 'request.updated',
  oddity: undefined,
})

describe.each(backends)('%s: a person who was erased', (backend) => {
  let setup: TemporaryStores
  let store: Store
  let key: { batchId: string; row: number }

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
    const batch = fileBatch()
    await store.batches.add(batch, orderRows(1))
    const { value: row } = await store.batches.rows(batch.id).next()
    const attempt = row && (await beginAttempt(store.ledger, row, newAttempt()))
    if (attempt === undefined) throw new Error('the attempt did not begin')
    key = { batchId: batch.id, row: 1 }
    await store.ledger.move(attempt, {
      to: 'accepted',
      at: someTime,
      requestId: firstRequestId,
      requestStatus: 'RECEIVED',
    })
    await store.maintenance.purge({ email: 'person1@example.com' }, { dryRun: false, completely: false })
  })
  afterEach(() => setup.remove())

  const readBody = async (id: number) => Buffer.from((await store.inbox.get(id))?.body ?? []).toString()

  test('is not stored again by an event: only the request and its status are stored', async () => {
    const added = await store.inbox.add([errorEvent(firstRequestId), errorEvent(secondRequestId)], false)
    const [ownId = 0, otherId = 0] = added.map(({ id }) => id)
    expect(await readBody(ownId)).toBe(
      `{"event":"request.updated","request_id":"${firstRequestId}","status":"ERROR"}`,
    )
    expect(await store.inbox.get(ownId)).toMatchObject({
      signature: '',
      status: 'ERROR',
      requestId: firstRequestId,
    })
    expect(await readBody(otherId)).toContain('Ann Lee')
    expect(await store.inbox.get(otherId)).toMatchObject({ signature: 'a'.repeat(64) })
  })

  test('is in the body of an event until that is forwarded, and not afterwards', async () => {
    const added = await store.inbox.add([errorEvent(firstRequestId), errorEvent(secondRequestId)], true)
    const [ownId = 0, otherId = 0] = added.map(({ id }) => id)
    expect(await readBody(ownId)).toContain('Ann Lee')
    for (const id of [ownId, otherId]) await store.inbox.recordForwarded(id, someTime + 5, '200')
    expect(await readBody(ownId)).not.toContain('Ann Lee')
    expect(await readBody(otherId)).toContain('Ann Lee')
    expect(await store.inbox.get(ownId)).toMatchObject({ forward: 'done', attempts: 1, lastAnswer: '200' })
  })

  test('is recognised by the fingerprints: as the same person, a similar person or another person', async () => {
    const person = personOf('person1@example.com')
    expect(await store.ledger.personMatch(key, person)).toBe('same')
    expect(await store.ledger.personMatch(key, { ...person, first_name: 'Bob' })).toBe('similar')
    expect(await store.ledger.personMatch(key, { ...person, email: 'b@x.example' })).toBe('similar')
    expect(await store.ledger.personMatch(key, { ...person, email: 'b@x.example', phone: '+1999' })).toBe(
      'other',
    )
    expect(await store.ledger.personMatch({ ...key, row: 2 }, person)).toBe('unknown')
  })

  test('is no longer recognised after the fingerprints are erased too', async () => {
    await store.maintenance.purge({ requestId: firstRequestId }, { dryRun: false, completely: true })
    expect(await store.ledger.personMatch(key, personOf('person1@example.com'))).toBe('unknown')
  })

  test('leaves no file path in the batch, and the pending row is cancelled', async () => {
    const batch = fileBatch({ name: 'Person2 Silva.csv', path: '/home/hr/person2@example.com.csv' })
    await store.batches.add(batch, orderRows(2, 2))
    const purged = await store.maintenance.purge(
      { email: 'person2@example.com' },
      { dryRun: false, completely: false },
    )
    expect(purged).toMatchObject({ rows: 1, kept: 0, areStoreFilesClean: true })
    expect((await store.batches.find(batch.id))?.path).toBeUndefined()
    expect(await store.batches.countRows(batch.id)).toMatchObject({ cancelled: 1, pending: 1 })
  })

  test('is erased by age only if the row has ended, and not if it is pending', async () => {
    const batch = fileBatch()
    await store.batches.add(batch, orderRows(1, 5))
    const ended = { endedBefore: Date.now() + 1_000 }
    expect(await store.maintenance.purge(ended, { dryRun: true, completely: false })).toMatchObject({
      events: 0,
    })
    await store.maintenance.purge(ended, { dryRun: false, completely: false })
    expect(await store.batches.countRows(batch.id)).toMatchObject({ pending: 1 })
  })
})
