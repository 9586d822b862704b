import { randomUUID } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginOne, rowOf, someTime } from './batches.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'

describe.each(backends)('%s: a request id that several rows of one service could get', (backend) => {
  let setup: TemporaryStores
  beforeEach(() => {
    setup = createTemporaryStores(50, backend)
  })
  afterEach(() => setup.remove())

  const acceptedOutcome = (requestId: string) =>
    ({ to: 'accepted', at: someTime + 100, requestId, requestStatus: 'RECEIVED' }) as const

  test('is recorded for one row only, also if runners record it at the same time', async () => {
    const ledgers = await Promise.all(['', '', '', ''].map(() => setup.openLedger()))
    for (let round = 0; round < 15; round += 1) {
      const requestId = randomUUID()
      const attempts = await Promise.all(
        ledgers.map((ledger, index) => beginOne(ledger, `p${round}-${index}@example.com`)),
      )
      const results = await Promise.all(
        ledgers.map((ledger, index) => {
          const [attempt] = attempts.slice(index)
          if (attempt === undefined) throw new Error('no attempt')
          return ledger.move(attempt, acceptedOutcome(requestId))
        }),
      )
      expect(results.filter(Boolean)).toHaveLength(1)
    }
  })

  test('can be recorded for an order of another service, and for a row after a change of another row with this id was refused', async () => {
    const ledger = await setup.openLedger()
    const requestId = randomUUID()
    const formerAttempt = await beginOne(ledger, 'gone@example.com')
    await ledger.move(formerAttempt, { to: 'unknown', at: someTime + 50, reason: 'cut' })
    expect(await ledger.move(formerAttempt, acceptedOutcome(requestId))).toBe(false)
    const ownAttempt = await beginOne(ledger, 'own@example.com')
    expect(await ledger.move(ownAttempt, acceptedOutcome(requestId))).toBe(true)
    const otherServiceAttempt = await beginOne(ledger, 'else@example.com', {
      baseUrl: 'http://127.0.0.1:4011',
    })
    expect(await ledger.move(otherServiceAttempt, acceptedOutcome(requestId))).toBe(true)
    const second = await beginOne(ledger, 'second@example.com')
    expect(await ledger.move(second, acceptedOutcome(requestId))).toBe(false)
    expect(await rowOf(ledger, second)).toMatchObject({ state: 'sending', requestId: undefined })
  })

  test('is not moved to a row whose state has changed meanwhile', async () => {
    const ledger = await setup.openLedger()
    const requestId = randomUUID()
    const holder = await beginOne(ledger, 'holder@example.com')
    await ledger.move(holder, acceptedOutcome(requestId))
    const ownAttempt = await beginOne(ledger, 'own@example.com')
    await ledger.move(ownAttempt, { to: 'unknown', at: someTime + 50, reason: 'cut' })
    const decision = { by: 'refcheck', why: 'a read showed another person' }
    const loss = { to: 'unknown', at: someTime + 60, reason: 'mixed up', decision } as const
    const accepted = await rowOf(ledger, holder)
    expect(await ledger.moveRequest(accepted, loss, ownAttempt, acceptedOutcome(requestId))).toBe(false)
    expect(await rowOf(ledger, holder)).toMatchObject({ state: 'accepted', requestId })
    expect(
      await ledger.moveRequest(
        accepted,
        loss,
        { ...ownAttempt, state: 'unknown' },
        { ...acceptedOutcome(requestId), decision },
      ),
    ).toBe(true)
    expect(await rowOf(ledger, holder)).toMatchObject({ state: 'unknown', requestId: undefined })
    expect(await rowOf(ledger, ownAttempt)).toMatchObject({ state: 'accepted', requestId })
  })
})
