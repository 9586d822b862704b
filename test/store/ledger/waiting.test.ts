import { randomUUID } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { beginAttempt, batchOf, newAttempt, personOf, someTime } from './batches.ts'
import { externalResult, fileBatch, orderRow, orderRows, rowsOf, similarRow } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import type { NewFileBatch, NewRow } from '../../../src/domain/batch/batch.ts'
import { fileIdentity } from '../../../src/domain/batch/new-row.ts'
import { noConflicts } from '../../../src/domain/batch/conflict-counts.ts'
import type { Change } from '../../../src/domain/submission/states.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

const byOwner = { at: someTime + 50, by: 'owner@example.com' }
const at = someTime + 100

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let store: Store

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  async function addRows(rows: NewRow[], changes: Partial<NewFileBatch> = {}): Promise<string> {
    const batch = fileBatch(changes)
    await store.batches.add(batch, rows)
    return batch.id
  }

  const readMovable = (batchId: string) => store.heldRows.readMovable(batchId)
  const readStates = async (batchId: string) => (await rowsOf(store, batchId)).map(({ state }) => state)

  async function moveRow(
    batchId: string,
    number: number,
    to: 'accepted' | 'rejected' | 'unknown',
  ): Promise<void> {
    const from = (await rowsOf(store, batchId))[number - 1]
    const attempt = from && (await beginAttempt(store.ledger, from, newAttempt()))
    if (attempt === undefined) throw new Error('the attempt did not begin')
    const fields = { at: someTime + 20, reason: 'as the test says' }
    const change: Change =
      to === 'accepted'
        ? { to, at: fields.at, requestId: randomUUID(), requestStatus: 'RECEIVED' }
        : { to, ...fields }
    await store.ledger.move(attempt, change)
  }

  describe('a recheck', () => {
    test('makes a duplicate pending again if its order was rejected or cancelled, and no other duplicate', async () => {
      const first = await addRows(orderRows(3))
      const second = await addRows(orderRows(3))
      expect(await readStates(second)).toEqual(['duplicate', 'duplicate', 'duplicate'])
      await moveRow(first, 1, 'rejected')
      await moveRow(first, 2, 'accepted')
      await store.batches.cancelWaiting(first, at, 'cancelled', 3)
      expect(await store.heldRows.recheck(second, at)).toBe(2)
      expect(await rowsOf(store, second)).toMatchObject([
        { state: 'pending', changedAt: at, matches: undefined },
        { state: 'duplicate', matches: { batchId: first, row: 2, state: 'accepted' } },
        { state: 'pending', heldFor: undefined },
      ])
      expect(await store.heldRows.recheck(second, at)).toBe(0)
    })

    test('makes a held row pending if no conflict is left', async () => {
      const first = await addRows([orderRow(1, 'ann@example.com')])
      const second = await addRows([similarRow(1, 'ann@example.com')])
      expect(await rowsOf(store, second)).toMatchObject([
        { state: 'held', heldFor: 'similar', shares: ['email', 'phone'] },
      ])
      await store.batches.cancelWaiting(first, at, 'cancelled')
      expect(await store.heldRows.recheck(second, at)).toBe(1)
      expect(await rowsOf(store, second)).toMatchObject([
        { state: 'pending', heldFor: undefined, shares: [] },
      ])
    })

    test('does not change rows that were cancelled or sent', async () => {
      const batchId = await addRows(orderRows(3))
      await moveRow(batchId, 1, 'unknown')
      await store.batches.cancelWaiting(batchId, at, 'cancelled', 2)
      expect(await store.heldRows.recheck(batchId, at)).toBe(0)
      expect(await readStates(batchId)).toEqual(['unknown', 'cancelled', 'pending'])
    })
  })

  test('a release of one row does not release other rows of its file', async () => {
    const [email, phone] = ['ann@example.com', '+61400000077']
    const ann = { ...personOf(email), first_name: 'Ann', last_name: 'Lee', phone }
    const row = (number: number, recipient: typeof ann) =>
      ({ ...orderRow(number, recipient.email), recipient }) as NewRow
    await addRows([row(1, ann)])
    // Each row is similar to the row of Ann, and the rows are not similar to each other.
    const batchId = await addRows([
      row(1, { ...ann, first_name: 'Bo', last_name: 'Ito', phone: '+61400000088' }),
      row(2, { ...ann, email: 'other@example.com' }),
    ])
    expect(await readStates(batchId)).toEqual(['held', 'held'])
    await store.heldRows.release(batchId, { kind: 'rows', rows: [1] }, byOwner)
    await store.heldRows.recheck(batchId, at)
    expect(await readStates(batchId)).toEqual(['pending', 'held'])
  })

  test('conflicts of a batch’s rows are counted by their kind', async () => {
    const first = await addRows([1, 2, 3, 4].map((each) => orderRow(each, `person${each}@example.com`)))
    await moveRow(first, 1, 'accepted')
    await moveRow(first, 2, 'unknown')
    const rows = [...orderRows(3), similarRow(4, 'person4@example.com'), orderRow(5, 'person9@example.com')]
    const earlier = someTime - 5000
    const batchId = await addRows([
      ...rows,
      { ...orderRow(6, 'told@example.com'), externalResults: [externalResult({ at: earlier })] },
    ])
    const [{ attemptedAt: last } = {}] = await rowsOf(store, first)
    expect(await store.heldRows.countConflicts(batchId)).toEqual({
      orderedBefore: { ...noConflicts().orderedBefore, count: 2, firstSentAt: earlier, lastSentAt: last },
      unknown: { count: 1, batchId: first },
      waiting: { count: 1, batchId: first },
      held: { similar: 1 },
    })
  })

  describe('a release', () => {
    test('of all, or of a shared value, is stored in the batch and applies to the rows of its file', async () => {
      const rows = [orderRow(1, 'ann@example.com'), similarRow(2, 'ann@example.com', 'Bob')]
      for (const release of [{ kind: 'all' }, { kind: 'shared', value: 'ann@example.com' }] as const) {
        await store.accounts.add(release.kind, 0)
        const batchId = await addRows(rows, { account: release.kind })
        expect(await readStates(batchId)).toEqual(['pending', 'held'])
        expect(await store.heldRows.release(batchId, release, byOwner)).toMatchObject({ left: [] })
        const { allowSimilar, shared } = (await store.batches.find(batchId)) ?? {}
        expect({ allowSimilar, shared }).toEqual({
          allowSimilar: release.kind === 'all',
          shared: release.kind === 'all' ? [] : ['ann@example.com'],
        })
      }
    })

    test('by row does not release other rows, and still applies when the row is compared again', async () => {
      const first = await addRows([orderRow(1, 'ann@example.com')])
      const batchId = await addRows([
        similarRow(1, 'ann@example.com', 'Bob'),
        similarRow(2, 'ann@example.com', 'Cy'),
      ])
      expect(await store.heldRows.release(batchId, { kind: 'rows', rows: [1] }, byOwner)).toEqual({
        rows: [1],
        left: [],
      })
      expect(await readStates(batchId)).toEqual(['pending', 'held'])
      expect(await store.batches.find(batchId)).toMatchObject({ allowSimilar: false, shared: [] })
      await moveRow(first, 1, 'accepted')
      await moveRow(batchId, 1, 'accepted')
      expect(await readStates(batchId)).toEqual(['accepted', 'held'])
    })

    test('of all does not release duplicates, or rows that conflict with an unknown outcome', async () => {
      const first = await addRows([orderRow(1, 'ann@example.com'), orderRow(2, 'bob@example.com')])
      await moveRow(first, 2, 'unknown')
      const batchId = await addRows([
        orderRow(1, 'ann@example.com'),
        similarRow(2, 'ann@example.com'),
        similarRow(3, 'bob@example.com'),
      ])
      expect(await readStates(batchId)).toEqual(['duplicate', 'held', 'held'])
      expect(await store.heldRows.release(batchId, { kind: 'all' }, byOwner)).toEqual({ rows: [2], left: [] })
      expect(await readStates(batchId)).toEqual(['duplicate', 'pending', 'held'])
    })

    test('that does not release a row returns the reason', async () => {
      const first = await addRows([orderRow(1, 'ann@example.com')])
      await moveRow(first, 1, 'unknown')
      const batchId = await addRows([similarRow(1, 'ann@example.com')])
      expect(await store.heldRows.release(batchId, { kind: 'rows', rows: [1] }, byOwner)).toEqual({
        rows: [],
        left: [{ row: 1, reason: 'similar_unknown' }],
      })
    })
  })

  test('only a row that was not sent can be cancelled by its number', async () => {
    const first = await addRows(orderRows(1))
    const batchId = await addRows([
      ...orderRows(2),
      similarRow(3, 'person2@example.com'),
      orderRow(4, 'person4@example.com'),
    ])
    await moveRow(batchId, 4, 'unknown')
    expect(await readStates(batchId)).toEqual(['duplicate', 'pending', 'held', 'unknown'])
    for (const row of [1, 2, 3])
      expect(await store.batches.cancelWaiting(batchId, at, 'cancelled', row)).toBe(1)
    for (const row of [1, 4, 5])
      expect(await store.batches.cancelWaiting(batchId, at, 'cancelled', row)).toBe(0)
    expect(await rowsOf(store, batchId)).toMatchObject([
      ...[1, 2, 3].map(() => ({ state: 'cancelled', reason: 'cancelled', changedAt: at })),
      { state: 'unknown' },
    ])
    expect(await readStates(first)).toEqual(['pending'])
  })

  describe('a move', () => {
    test('includes pending and rejected rows, in the order of the file', async () => {
      const batchId = await addRows(orderRows(4))
      await moveRow(batchId, 1, 'accepted')
      await moveRow(batchId, 2, 'rejected')
      await store.batches.cancelWaiting(batchId, at, 'cancelled', 3)
      const movable = await readMovable(batchId)
      expect(movable.map(({ row, state, packageId }) => [row, state, packageId])).toEqual([
        [2, 'rejected', 12],
        [4, 'pending', 12],
      ])
      expect(movable[1]).toMatchObject({ recipient: personOf('person4@example.com') })
    })

    test('does not include a person who was erased', async () => {
      const batchId = await addRows(orderRows(2))
      for (const row of [1, 2]) await moveRow(batchId, row, 'rejected')
      await store.maintenance.purge({ email: 'person1@example.com' }, { dryRun: false, completely: false })
      expect((await readMovable(batchId)).map(({ row }) => row)).toEqual([2])
    })

    test('does not change a row that has changed meanwhile, and compares the others under the successor', async () => {
      const ordered = await addRows([{ ...orderRow(1, 'person3@example.com'), packageId: 13 }], {
        packageId: 13,
      })
      await moveRow(ordered, 1, 'accepted')
      const batchId = await addRows([...orderRows(3), similarRow(4, 'person1@example.com')])
      const rows = await readMovable(batchId)
      await moveRow(batchId, 2, 'unknown')
      expect(await store.heldRows.moveRows(batchId, 13, rows, at)).toBe(3)
      expect((await rowsOf(store, batchId)).map(({ state, packageId }) => `${state} ${packageId}`)).toEqual([
        'pending 13',
        'unknown 12',
        'duplicate 13',
        'held 13',
      ])
    })

    test('makes a held row pending if its conflict no longer exists', async () => {
      const first = await addRows([orderRow(1, 'ann@example.com')])
      const batchId = await addRows([similarRow(1, 'ann@example.com'), orderRow(2, 'ann@example.com')])
      expect(await readStates(batchId)).toEqual(['held', 'duplicate'])
      await store.batches.cancelWaiting(first, at, 'cancelled')
      await store.heldRows.moveRows(batchId, 13, await readMovable(batchId), at)
      expect(await readStates(batchId)).toEqual(['pending', 'held'])
    })

    test('gives the batch the identity of the file under the successor, unless another batch has it', async () => {
      const identity = (packageId: number) =>
        fileIdentity({ account: '', baseUrl: 'http://127.0.0.1:4010' }, '0'.repeat(64), packageId)
      const one = await addRows(orderRows(1), { identity: identity(12) })
      await store.heldRows.moveRows(one, 13, await readMovable(one), at)
      expect((await store.batches.findByIdentity(identity(13)))?.id).toBe(one)
      expect(await store.batches.findByIdentity(identity(12))).toBeUndefined()
      const two = await addRows(orderRows(1, 7), { identity: identity(12) })
      await store.heldRows.moveRows(two, 13, await readMovable(two), at)
      expect((await store.batches.findByIdentity(identity(13)))?.id).toBe(one)
      expect((await store.batches.findByIdentity(identity(12)))?.id).toBe(two)
    })

    test('to the same package, and a move of a single order, change the row', async () => {
      const batchId = await addRows(orderRows(1))
      expect(await store.heldRows.moveRows(batchId, 12, await readMovable(batchId), at)).toBe(1)
      expect(await readStates(batchId)).toEqual(['pending'])
      const single = batchOf(['single@example.com'])
      await store.ledger.add(single, { allowDuplicate: false })
      expect(await store.heldRows.moveRows(single.id, 13, await readMovable(single.id), at)).toBe(1)
      expect(await store.ledger.list({ batchId: single.id })).toMatchObject([{ packageId: 13 }])
    })

    test('changes the body that will be sent to the new body, byte for byte', async () => {
      const batchId = await addRows(orderRows(1))
      const rows = (await readMovable(batchId)).map((row) =>
        Object.assign(row, { body: Buffer.from('{"package_id":13}') }),
      )
      await store.heldRows.moveRows(batchId, 13, rows, at)
      const [row] = await rowsOf(store, batchId)
      const attempt = row && (await beginAttempt(store.ledger, row, newAttempt()))
      expect(Buffer.from(attempt?.body ?? []).toString()).toBe('{"package_id":13}')
    })
  })

  describe('packages that no longer exist and have a likely successor', () => {
    const addTo = (packageId: number, rows = [{ ...orderRow(1, 'ann@example.com'), packageId } as NewRow]) =>
      addRows(rows, { packageId })

    test('hold rows of people who were ordered under them, at their own service only', async () => {
      const first = await addTo(12)
      await moveRow(first, 1, 'accepted')
      await store.heldRows.recordLikelySuccessors('http://127.0.0.1:4010/other', [[12, 13]], at)
      const unrelated = await addTo(13)
      expect(await readStates(unrelated)).toEqual(['pending'])
      await store.batches.cancelWaiting(unrelated, at, 'cancelled', 1)
      await store.heldRows.recordLikelySuccessors('http://localhost:4010', [[12, 13]], at)
      await store.heldRows.recordLikelySuccessors(
        'http://127.0.0.1:4010',
        [
          [12, 13],
          [11, 13],
        ],
        at,
      )
      const heldBatch = await addTo(13)
      expect(await rowsOf(store, heldBatch)).toMatchObject([
        { state: 'held', heldFor: 'replaced_package', matches: { batchId: first } },
      ])
      expect(await readStates(await addTo(14))).toEqual(['pending'])
    })

    test('do not hold rows of people who are only pending under them', async () => {
      await addTo(12)
      await store.heldRows.recordLikelySuccessors('http://127.0.0.1:4010', [[12, 13]], at)
      expect(await readStates(await addTo(13))).toEqual(['pending'])
    })
  })
})
