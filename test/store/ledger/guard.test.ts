import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, addOne, batchOf, beginOne, newAttempt, rowOf, someTime } from './batches.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import type { Change } from '../../../src/domain/submission/states.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let ledger: Ledger
  const at = someTime + 20
  const requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55'

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    ledger = await setup.openLedger()
  })
  afterEach(() => setup.remove())

  async function endAttempt(change: Change): Promise<void> {
    const attempt = await beginOne(ledger, 'a@example.com')
    expect(await ledger.move(attempt, change)).toBe(true)
  }

  const cases: [state: string, conflicts: boolean, evenIfAllowed: boolean, () => Promise<unknown>][] = [
    ['pending', true, true, () => addOne(ledger, 'a@example.com')],
    ['sending', true, true, () => beginOne(ledger, 'a@example.com')],
    ['accepted', true, false, () => endAttempt({ to: 'accepted', at, requestId, requestStatus: 'RECEIVED' })],
    ['unknown', true, true, () => endAttempt({ to: 'unknown', at, reason: 'cut' })],
    ['rejected', false, false, () => endAttempt({ to: 'rejected', at, reason: 'x: y' })],
    [
      'cancelled',
      false,
      false,
      async () =>
        ledger.move(await addOne(ledger, 'a@example.com'), { to: 'cancelled', at, reason: 'cancelled' }),
    ],
    [
      'dropped',
      true,
      true,
      async () => {
        const attempt = await beginOne(ledger, 'a@example.com')
        await ledger.move(attempt, { to: 'unknown', at, reason: 'cut' })
        const decision = { by: 'a person', why: 'left' }
        await ledger.move({ ...attempt, state: 'unknown' }, { to: 'dropped', at, reason: 'left', decision })
      },
    ],
  ]

  describe.each(cases)('an order that is %s', (state, conflicts, conflictsEvenIfAllowed, createOrder) => {
    test.each([
      [false, conflicts],
      [true, conflictsEvenIfAllowed],
    ])('conflicts with a new order with allowDuplicate %s: %s', async (allowDuplicate, isConflict) => {
      await createOrder()
      const match = await ledger.add(batchOf(['a@example.com']), { allowDuplicate })
      expect(match?.order.state).toBe(isConflict ? state : undefined)
      expect(await ledger.list({})).toHaveLength(isConflict ? 1 : 2)
    })
  })

  test('of several conflicts the order with an unknown outcome is reported, not the newest order', async () => {
    await endAttempt({ to: 'accepted', at, requestId, requestStatus: 'RECEIVED' })
    const batch = batchOf(['a@example.com'])
    expect(await ledger.add(batch, { allowDuplicate: true })).toBeUndefined()
    const row = { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined } as const
    const attempt = await beginAttempt(ledger, row, newAttempt())
    if (attempt === undefined) throw new Error('no attempt began')
    await ledger.move(attempt, { to: 'unknown', at: at - 1, reason: 'cut' })
    expect((await ledger.add(batchOf(['a@example.com']), { allowDuplicate: false }))?.order.state).toBe(
      'unknown',
    )
  })

  test('if one row of a batch conflicts, no row is added', async () => {
    await addOne(ledger, 'b@example.com')
    const match = await ledger.add(batchOf(['a@example.com', 'b@example.com']), { allowDuplicate: false })
    expect(match).toMatchObject({ order: { recipient: { email: 'b@example.com' } } })
    expect(await ledger.list({})).toHaveLength(1)
  })

  test('a batch with the same person twice is refused, also with allowDuplicate', async () => {
    const twice = batchOf(['a@example.com', 'a@example.com'])
    await expect(ledger.add(twice, { allowDuplicate: true })).rejects.toMatchObject({ code: 'internal' })
    expect(await ledger.list({})).toEqual([])
  })

  describe('recovery of a batch that no process runs', () => {
    test('a row in flight becomes unknown, and a single order that was not sent is cancelled', async () => {
      const sending = await beginOne(ledger, 'a@example.com')
      const pending = await addOne(ledger, 'b@example.com')
      const recovered = await ledger.recover(at)
      expect(recovered).toMatchObject([{ batchId: sending.batchId, state: 'unknown', changedAt: at }])
      expect(await rowOf(ledger, sending)).toMatchObject({
        state: 'unknown',
        reason: expect.stringMatching(/stopped while the order was in flight/) as string,
      })
      expect(await rowOf(ledger, pending)).toMatchObject({ state: 'cancelled' })
      expect(await ledger.recover(at)).toEqual([])
    })

    test('rows of a file that were not sent stay pending', async () => {
      const batch = batchOf(['a@example.com', 'b@example.com'], { kind: 'file' })
      await ledger.add(batch, { allowDuplicate: false })
      await beginAttempt(
        ledger,
        { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined },
        newAttempt(),
      )
      expect(await ledger.recover(at)).toHaveLength(1)
      expect((await ledger.list({ batchId: batch.id })).map(({ state }) => state)).toEqual([
        'unknown',
        'pending',
      ])
    })

    test('nothing changes while this process or another one has the lease of the batch', async () => {
      const batch = batchOf(['a@example.com'])
      const lease = await ledger.acquire(batch)
      await ledger.add(batch, { allowDuplicate: false })
      const row = { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined } as const
      await beginAttempt(ledger, row, newAttempt())
      const otherLedger = await setup.openLedger()
      expect(await ledger.recover(at)).toEqual([])
      expect(await otherLedger.recover(at)).toEqual([])
      expect(await otherLedger.acquire(batch)).toBeUndefined()
      await lease?.release()
      // A lease may be released twice.
      await lease?.release()
      expect(await otherLedger.recover(at)).toHaveLength(1)
    })
  })

  test('a list is filtered by each given condition', async () => {
    const earlyRow = await addOne(ledger, 'Early@example.com', { addedAt: someTime - 1_000 })
    const lateAttempt = await beginOne(ledger, 'late@example.com')
    const listEmails = async (filter: Parameters<Ledger['list']>[0]): Promise<(string | undefined)[]> =>
      (await ledger.list(filter)).map(({ recipient }) => recipient?.email)
    expect(await listEmails({})).toEqual(['Early@example.com', 'late@example.com'])
    expect(await listEmails({ email: 'eARLY@example.com' })).toEqual(['Early@example.com'])
    expect(await listEmails({ batchId: lateAttempt.batchId })).toEqual(['late@example.com'])
    expect(await listEmails({ batchId: earlyRow.batchId, states: ['sending'] })).toEqual([])
    expect(await listEmails({ states: ['sending', 'unknown'] })).toEqual(['late@example.com'])
    const { attemptedAt = 0 } = await rowOf(ledger, lateAttempt)
    expect(await listEmails({ since: attemptedAt })).toEqual(['late@example.com'])
    expect(await listEmails({ since: attemptedAt + 1 })).toEqual([])
    expect(await listEmails({ requestId })).toEqual([])
    expect(await listEmails({ requestStart: requestId.slice(0, 8) })).toEqual([])
    await ledger.move(lateAttempt, { to: 'accepted', at, requestId, requestStatus: 'RECEIVED' })
    expect(await listEmails({ requestStart: requestId.slice(0, 8) })).toEqual(['late@example.com'])
    expect(await rowOf(ledger, lateAttempt)).toMatchObject({ userEmail: 'member@example.com', attempts: 1 })
  })
})
