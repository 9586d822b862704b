import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { memoryStore, runThreeRows } from './runner.ts'
import { rowsOf } from '../../store/ledger/files.ts'
import { lostAnswer, requestId, answer201 } from '../request/answers.ts'
import type { RunEvent } from '../../../src/domain/batch/run-policy.ts'
import { ForbiddenError, InvalidInputError, IoError } from '../../../src/errors/kinds.ts'
import type { ClaimOutcome } from '../../../src/store/ledger/claim.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

const ids = [1, 2, 3].map((each) => `00000000-0000-4000-8000-00000000000${each}`)
const [, secondId = ''] = ids
const allAccepted = ids.map((id) => answer201(id))

describe('Ctrl-C', () => {
  test('before the first row sends nothing', async () => {
    const { end, sent } = await runThreeRows(store, { signal: AbortSignal.abort() })
    expect({ end, sent }).toEqual({ end: { kind: 'interrupted' }, sent: 0 })
  })

  test('while a row is in flight completes this row and starts no other', async () => {
    const stop = new AbortController()
    const create = () => {
      stop.abort()
      return answer201()
    }
    const { end, states } = await runThreeRows(store, { creates: [create], signal: stop.signal })
    expect({ end, states }).toEqual({
      end: { kind: 'interrupted' },
      states: ['accepted', 'pending', 'pending'],
    })
  })

  test('after the next row is journaled and before it is sent makes it pending again', async () => {
    const stop = new AbortController()
    const onEvent = ({ name }: RunEvent) => name === 'row' && stop.abort()
    const { end, states, sent, batch } = await runThreeRows(store, {
      creates: [answer201()],
      signal: stop.signal,
      onEvent,
    })
    expect({ end, sent }).toEqual({ end: { kind: 'interrupted' }, sent: 1 })
    expect(states).toEqual(['accepted', 'pending', 'pending'])
    const [, second] = await rowsOf(store, batch.id)
    expect(second).toMatchObject({ reason: 'interrupted before it was sent', attempts: 1 })
  })

  test('during an outage ends the run', async () => {
    const stop = new AbortController()
    const ping = () => {
      stop.abort()
      return Promise.reject(new ForbiddenError('away'))
    }
    const { end } = await runThreeRows(store, { creates: [lostAnswer], signal: stop.signal, api: { ping } })
    expect(end).toEqual({ kind: 'interrupted' })
  })

  test('is reported with an internal error if another process changed the row', async () => {
    const stop = new AbortController()
    const { end } = await runThreeRows(store, {
      creates: [answer201()],
      signal: stop.signal,
      onEvent: () => stop.abort(),
      ledger: { move: () => Promise.resolve(false) },
    })
    expect(end).toMatchObject({
      thrown: { code: 'internal', message: expect.stringContaining('changed') as string },
    })
  })
})

describe('other runners of the batch', () => {
  const nothingClaimed: ClaimOutcome = { waitMs: 0, attempt: undefined, conflict: undefined }

  /** Returns a ledger whose first claims have the given outcomes; the later ones are those of the store. */
  const claimOutcomesFirst = (...outcomes: ClaimOutcome[]) => ({
    beginInQuota: ((...args) => {
      const outcome = outcomes.shift()
      return outcome === undefined ? store.ledger.beginInQuota(...args) : Promise.resolve(outcome)
    }) satisfies Store['ledger']['beginInQuota'],
  })

  test('a row that another runner has is waited for; with `onlyRow` it is an internal error', async () => {
    const { end, sleeps, states } = await runThreeRows(store, {
      creates: allAccepted,
      ledger: claimOutcomesFirst({ ...nothingClaimed, isTaken: true }),
    })
    expect({ end, sleeps, states }).toEqual({
      end: { kind: 'done' },
      sleeps: [10],
      states: Array(3).fill('accepted'),
    })
    await store.close()
    store = await memoryStore()
    const result = await runThreeRows(
      store,
      { ledger: claimOutcomesFirst({ ...nothingClaimed, isTaken: true }) },
      { onlyRow: 2 },
    )
    expect(result).toMatchObject({ sent: 0, end: { thrown: { code: 'internal' } } })
  })

  test('a row that changed since it was read is an internal error', async () => {
    const { end, sent } = await runThreeRows(store, { ledger: claimOutcomesFirst(nothingClaimed) })
    expect({ end, sent }).toMatchObject({ sent: 0, end: { thrown: { code: 'internal' } } })
  })

  test('an open circuit breaker leads to a health check before anything is sent', async () => {
    const breakerOpen = { ...nothingClaimed, isBreakerOpen: true }
    const { end, events } = await runThreeRows(store, {
      creates: allAccepted,
      ledger: claimOutcomesFirst(breakerOpen),
    })
    expect(end).toEqual({ kind: 'done' })
    // The failure was that of an earlier run, so this one reports no recovery.
    expect(events).not.toContainEqual({ name: 'well' })
    const refused = new ForbiddenError('no longer a member')
    await store.close()
    store = await memoryStore()
    const refusedOverrides = {
      ledger: claimOutcomesFirst(breakerOpen),
      api: { ping: () => Promise.reject(refused) },
    }
    expect(await runThreeRows(store, refusedOverrides)).toMatchObject({
      end: { kind: 'halted', error: refused },
      sent: 0,
    })
  })

  test('another row that was claimed instead is reported by its own number', async () => {
    const { events } = await runThreeRows(
      store,
      {
        creates: [answer201(secondId)],
        ledger: {
          beginInQuota: async (from, attempt, quota) => {
            const batchRows = await rowsOf(store, from.batchId)
            const next = batchRows.find(({ state, row }) => state === 'pending' && row > 1) ?? from
            return store.ledger.beginInQuota(next, attempt, quota)
          },
        },
      },
      { maxOrders: 1 },
    )
    expect(events).toEqual([{ name: 'row', row: 2, state: 'accepted', reason: undefined }])
  })
})

describe('a store that fails', () => {
  test('while an order is recorded: the error has the request id, and nothing more is sent', async () => {
    const disk = new IoError('cannot use the store: no space is left on the disk')
    const { sent, end } = await runThreeRows(store, {
      creates: [answer201()],
      ledger: { moveAndBegin: () => Promise.reject(disk) },
    })
    expect(sent).toBe(1)
    expect(end).toMatchObject({
      thrown: {
        code: 'io',
        message: `the order was accepted as request ${requestId}, but this could not be recorded: ${disk.message}`,
      },
    })
  })

  test('while an order is in flight: the order is recorded first', async () => {
    const disk = new IoError('cannot use the store: it cannot be read')
    const { batches } = store
    const read = batches.findNextPending.bind(batches)
    let reads = 0
    batches.findNextPending = async (batchId, after) => {
      reads += 1
      if (reads > 1) throw disk
      return read(batchId, after)
    }
    const { sent, end, states } = await runThreeRows(store, { creates: [answer201()] })
    expect({ sent, end }).toEqual({ sent: 1, end: { thrown: disk } })
    expect(states).toEqual(['accepted', 'pending', 'pending'])
  })

  test('with an unexpected error: it is thrown; a refusal halts the run', async () => {
    const surprise = new TypeError('a fault of ours')
    const beginInQuota = () => Promise.reject(surprise)
    expect((await runThreeRows(store, { ledger: { beginInQuota } })).end).toEqual({ thrown: surprise })
    const refused = new InvalidInputError('refused')
    await store.close()
    store = await memoryStore()
    const world = { ledger: { beginInQuota: () => Promise.reject(refused) } }
    expect((await runThreeRows(store, world)).end).toEqual({ kind: 'halted', error: refused })
  })
})
