import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, addOne, beginOne, newAttempt, rowOf, someTime } from './batches.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import { type Change, type SubmissionState, submissionStates } from '../../../src/domain/submission/states.ts'
import type { RowVersion } from '../../../src/domain/submission/submission.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let ledger: Ledger

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    ledger = await setup.openLedger()
  })
  afterEach(() => setup.remove())

  const requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55'
  const decision = { by: 'a person', why: 'asked the service' }
  const at = someTime + 20

  const changes = {
    pending: { to: 'pending', at, reason: 'quota' },
    accepted: { to: 'accepted', at, requestId, requestStatus: 'RECEIVED' },
    rejected: { to: 'rejected', at, reason: 'recipient.phone: invalid', field: 'recipient.phone' },
    unknown: { to: 'unknown', at, reason: 'cut', offeredId: requestId },
    cancelled: { to: 'cancelled', at, reason: 'given up' },
    dropped: { to: 'dropped', at, reason: 'left as it is' },
  } satisfies Record<Change['to'], Change>

  /** Functions that bring a row into each state by allowed changes. */
  const rowCreators: Partial<Record<SubmissionState, () => Promise<RowVersion>>> = {
    pending: () => addOne(ledger, 'a@example.com'),
    sending: () => beginOne(ledger, 'a@example.com'),
    accepted: () => createRowIn('accepted'),
    rejected: () => createRowIn('rejected'),
    unknown: () => createRowIn('unknown'),
    dropped: async () => {
      const row = await createRowIn('unknown')
      expect(await ledger.move(row, { ...changes.dropped, decision })).toBe(true)
      return { ...row, state: 'dropped' }
    },
    cancelled: async () => {
      const row = await addOne(ledger, 'a@example.com')
      expect(await ledger.move(row, changes.cancelled)).toBe(true)
      return { ...row, state: 'cancelled' }
    },
  }

  async function createRowIn(state: 'accepted' | 'rejected' | 'unknown'): Promise<RowVersion> {
    const attempt = await beginOne(ledger, 'a@example.com')
    expect(await ledger.move(attempt, changes[state])).toBe(true)
    return { ...attempt, state }
  }

  /** The changes of state that are allowed (src/docs/ordering.md, section 1). */
  const allowed = new Set([
    'pending → cancelled',
    'sending → pending',
    'sending → accepted',
    'sending → rejected',
    'sending → unknown',
    'unknown → accepted',
    'unknown → pending',
    'unknown → dropped',
    'unknown → cancelled',
    'dropped → cancelled',
    'dropped → accepted',
    'dropped → pending',
  ])

  const pairs = Object.keys(rowCreators).flatMap((from) =>
    Object.keys(changes).map((to) => [from as SubmissionState, to as Change['to']] as const),
  )

  /** Tries a change on a row in state `from`. Returns the result or error code, and the state of the row afterwards. */
  async function tryChange(
    from: SubmissionState,
    to: Change['to'],
  ): Promise<[result: unknown, state: string]> {
    const row = await rowCreators[from]?.()
    if (row === undefined) throw new Error('no function creates a row in this state')
    const change = { ...changes[to], ...((from === 'unknown' || from === 'dropped') && { decision }) }
    const result = await ledger.move(row, change).catch((error: { code: string }) => error.code)
    return [result, (await rowOf(ledger, row)).state]
  }

  test.each(pairs.filter((pair) => allowed.has(pair.join(' → '))))('%s → %s', async (from, to) => {
    expect(await tryChange(from, to)).toEqual([true, to])
  })

  test.each(pairs.filter((pair) => !allowed.has(pair.join(' → '))))(
    '%s → %s is impossible',
    async (from, to) => {
      expect(await tryChange(from, to)).toEqual(['internal', from])
    },
  )

  test.each(submissionStates.filter((state) => state !== 'pending'))(
    '%s → sending is impossible',
    async (state) => {
      const row = await rowCreators[state]?.()
      const from = row ?? { batchId: 'none', row: 1, state, attemptId: undefined }
      await expect(beginAttempt(ledger, from, newAttempt())).rejects.toMatchObject({ code: 'internal' })
    },
  )

  test.each(['invalid', 'accepted', 'cancelled'] as const)(
    'a row that is %s never changes its state',
    async (state) => {
      const row: RowVersion = { ...(await addOne(ledger, 'a@example.com')), state }
      for (const change of Object.values(changes)) {
        await expect(ledger.move(row, change)).rejects.toMatchObject({ code: 'internal' })
      }
    },
  )

  describe('a change is made only if the row still has the state and attempt that were read', () => {
    test('a row in another state is not changed', async () => {
      const attempt = await beginOne(ledger, 'a@example.com')
      expect(await ledger.move(attempt, changes.unknown)).toBe(true)
      expect(await ledger.move(attempt, changes.rejected)).toBe(false)
      expect((await rowOf(ledger, attempt)).state).toBe('unknown')
    })

    test('a row with another attempt is not changed', async () => {
      const attempt = await beginOne(ledger, 'a@example.com')
      expect(await ledger.move({ ...attempt, attemptId: 'another' }, changes.accepted)).toBe(false)
      expect((await rowOf(ledger, attempt)).state).toBe('sending')
    })

    test('two processes that begin the same row make one attempt', async () => {
      const row = await addOne(ledger, 'a@example.com')
      const otherLedger = await setup.openLedger()
      const started = await Promise.all([
        beginAttempt(ledger, row, newAttempt()),
        beginAttempt(otherLedger, row, newAttempt()),
      ])
      expect(started.filter((each) => each !== undefined)).toHaveLength(1)
    })

    test('a row that returned to pending begins only with the id of its last attempt', async () => {
      const attempt = await beginOne(ledger, 'a@example.com')
      await ledger.move(attempt, changes.pending)
      expect(
        await beginAttempt(ledger, { ...attempt, state: 'pending', attemptId: undefined }, newAttempt()),
      ).toBeUndefined()
      expect(await beginAttempt(ledger, { ...attempt, state: 'pending' }, newAttempt())).toMatchObject({
        state: 'sending',
      })
      expect(await rowOf(ledger, attempt)).toMatchObject({ attempts: 2, reason: undefined })
    })

    test('a row that does not exist is not changed', async () => {
      const missingRow = { batchId: 'none', row: 1, state: 'pending', attemptId: undefined } as const
      expect(await beginAttempt(ledger, missingRow, newAttempt())).toBeUndefined()
      expect(await ledger.move(missingRow, changes.cancelled)).toBe(false)
    })
  })

  describe('a row with an unknown outcome changes only by a decision, which is stored', () => {
    test('without a decision the row stays unknown', async () => {
      const row = await createRowIn('unknown')
      await expect(ledger.move(row, changes.pending)).rejects.toMatchObject({ code: 'internal' })
      expect((await rowOf(ledger, row)).state).toBe('unknown')
    })

    test('a decision is refused for a row that is not unknown', async () => {
      const row = await addOne(ledger, 'a@example.com')
      const change = { ...changes.cancelled, decision }
      await expect(ledger.move(row, change)).rejects.toMatchObject({ code: 'internal' })
    })

    test('the row keeps the request id that was offered for it', async () => {
      const row = await createRowIn('unknown')
      await ledger.move(row, { ...changes.pending, decision })
      expect(await rowOf(ledger, row)).toMatchObject({ state: 'pending', offeredId: requestId })
    })
  })

  test('the attempt has the body that was added, byte for byte', async () => {
    const attempt = await beginOne(ledger, 'a@example.com')
    expect(Buffer.from(attempt.body).toString()).toBe('{"for":"a@example.com"}')
  })

  test('a terminal status is never replaced', async () => {
    const row = await createRowIn('accepted')
    await ledger.recordStatus('http://127.0.0.1:4010', requestId, 'PARTIAL', at + 1)
    expect(await rowOf(ledger, row)).toMatchObject({ requestStatus: 'PARTIAL', requestStatusAt: at + 1 })
    await ledger.recordStatus('http://127.0.0.1:4010', requestId, 'COMPLETED', at + 2)
    await ledger.recordStatus('http://127.0.0.1:4010', requestId, 'IN_PROGRESS', at + 3)
    expect(await rowOf(ledger, row)).toMatchObject({ requestStatus: 'COMPLETED', requestStatusAt: at + 2 })
  })

  test('checks are stored with the status that they were read with, also if it is terminal', async () => {
    const row = await createRowIn('accepted')
    const [started, done] = ['{"background":{"IN_PROGRESS":2}}', '{"background":{"COMPLETED":2}}']
    await ledger.recordStatus('http://127.0.0.1:4010', requestId, 'IN_PROGRESS', at + 1, started)
    expect(await rowOf(ledger, row)).toMatchObject({ requestStatus: 'IN_PROGRESS', checks: started })
    // A status that was recorded without checks removes the earlier ones.
    await ledger.recordStatus('http://127.0.0.1:4010', requestId, 'COMPLETED', at + 2)
    expect(await rowOf(ledger, row)).toMatchObject({ requestStatus: 'COMPLETED', checks: undefined })
    await ledger.recordStatus('http://127.0.0.1:4010', requestId, 'IN_PROGRESS', at + 3, started)
    expect(await rowOf(ledger, row)).toMatchObject({ checks: undefined })
    await ledger.recordStatus('http://127.0.0.1:4010', requestId, 'COMPLETED', at + 4, done)
    await ledger.recordStatus('http://127.0.0.1:4010', requestId, 'COMPLETED', at + 5)
    expect(await rowOf(ledger, row)).toMatchObject({
      requestStatus: 'COMPLETED',
      requestStatusAt: at + 2,
      checks: done,
    })
  })
})
