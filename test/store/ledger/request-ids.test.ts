import { randomUUID } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginOne, rowOf, someTime } from './batches.ts'
import { backends, scratch, type Scratch } from './scratch.ts'

describe.each(backends)('%s: a request id that several rows of one service could get', (backend) => {
  let setup: Scratch
  beforeEach(() => {
    setup = scratch(50, backend)
  })
  afterEach(() => setup.end())

  const acceptedAs = (requestId: string) =>
    ({ to: 'accepted', at: someTime + 100, requestId, requestStatus: 'RECEIVED' }) as const

  test('is recorded for one row only, also if runners record it at the same time', async () => {
    const ledgers = await Promise.all(['', '', '', ''].map(() => setup.open()))
    for (let round = 0; round < 15; round += 1) {
      const requestId = randomUUID()
      const attempts = await Promise.all(
        ledgers.map((ledger, at) => beginOne(ledger, `p${round}-${at}@example.com`)),
      )
      const took = await Promise.all(
        ledgers.map((ledger, at) => {
          const [attempt] = attempts.slice(at)
          if (attempt === undefined) throw new Error('no attempt')
          return ledger.move(attempt, acceptedAs(requestId))
        }),
      )
      expect(took.filter(Boolean)).toHaveLength(1)
    }
  })

  test('can be recorded for an order of another service, and for a row after a change of another row with this id was refused', async () => {
    const ledger = await setup.open()
    const requestId = randomUUID()
    const gone = await beginOne(ledger, 'gone@example.com')
    await ledger.move(gone, { to: 'unknown', at: someTime + 50, reason: 'cut' })
    expect(await ledger.move(gone, acceptedAs(requestId))).toBe(false)
    const own = await beginOne(ledger, 'own@example.com')
    expect(await ledger.move(own, acceptedAs(requestId))).toBe(true)
    const elsewhere = await beginOne(ledger, 'else@example.com', { baseUrl: 'http://127.0.0.1:4011' })
    expect(await ledger.move(elsewhere, acceptedAs(requestId))).toBe(true)
    const second = await beginOne(ledger, 'second@example.com')
    expect(await ledger.move(second, acceptedAs(requestId))).toBe(false)
    expect(await rowOf(ledger, second)).toMatchObject({ state: 'sending', requestId: undefined })
  })

  test('is not moved to a row whose state has changed meanwhile', async () => {
    const ledger = await setup.open()
    const requestId = randomUUID()
    const holder = await beginOne(ledger, 'holder@example.com')
    await ledger.move(holder, acceptedAs(requestId))
    const own = await beginOne(ledger, 'own@example.com')
    await ledger.move(own, { to: 'unknown', at: someTime + 50, reason: 'cut' })
    const decision = { by: 'refcheck', why: 'a read showed another person' }
    const loss = { to: 'unknown', at: someTime + 60, reason: 'mixed up', decision } as const
    const accepted = await rowOf(ledger, holder)
    expect(await ledger.moveFrom(accepted, loss, own, acceptedAs(requestId))).toBe(false)
    expect(await rowOf(ledger, holder)).toMatchObject({ state: 'accepted', requestId })
    expect(
      await ledger.moveFrom(
        accepted,
        loss,
        { ...own, state: 'unknown' },
        { ...acceptedAs(requestId), decision },
      ),
    ).toBe(true)
    expect(await rowOf(ledger, holder)).toMatchObject({ state: 'unknown', requestId: undefined })
    expect(await rowOf(ledger, own)).toMatchObject({ state: 'accepted', requestId })
  })
})
