import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import type { EventFilter, ReceivedEvent } from '../../../src/domain/webhook/events.ts'
import type { Inbox } from '../../../src/store/ledger/inbox.ts'
import { beginOne, someTime } from './batches.ts'
import { backends, scratch, type Scratch } from './scratch.ts'

const [one, two, three] = ['1', '2', '3'].map(
  (digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`,
) as [string, string, string]

function received(requestId: string, status: string, changes: Partial<ReceivedEvent> = {}): ReceivedEvent {
  return {
    receivedAt: someTime,
    body: Buffer.from(JSON.stringify({ event: 'request.updated', request_id: requestId, status })),
    signature: 'a'.repeat(64),
    requestId,
    status,
    event: 'request.updated',
    oddity: undefined,
    ...changes,
  }
}

describe.each(backends)('%s', (backend) => {
  let setup: Scratch
  let inbox: Inbox

  beforeEach(async () => {
    setup = scratch(50, backend)
    inbox = (await setup.store()).inbox
  })
  afterEach(() => setup.end())

  async function ids(filter?: EventFilter): Promise<number[]> {
    const found: number[] = []
    for await (const { id } of inbox.list(filter)) found.push(id)
    return found
  }

  test('every process reads the added event, byte for byte', async () => {
    await inbox.add([received(one, 'IN_PROGRESS')], false)
    const other = (await setup.store()).inbox
    const event = await other.get(1)
    expect(event).toMatchObject({ id: 1, requestId: one, status: 'IN_PROGRESS', repeats: 0, forward: 'none' })
    expect(Buffer.from(event?.body ?? []).equals(Buffer.from(received(one, 'IN_PROGRESS').body))).toBe(true)
  })

  test('"the pair (request_id, status) identifies a status update already processed"', async () => {
    expect(await inbox.add([received(one, 'PARTIAL'), received(one, 'COMPLETED')], true)).toEqual([
      { id: 1, repeated: false },
      { id: 2, repeated: false },
    ])
    const again = received(one.toUpperCase(), 'PARTIAL', { body: Buffer.from('{ "written": "otherwise" }') })
    expect(await inbox.add([again], true)).toEqual([{ id: 1, repeated: true }])
    expect(await inbox.get(1)).toMatchObject({ repeats: 1 })
    expect(await ids()).toEqual([1, 2])
  })

  test('a dropped event no longer waits, and the next event of its request does', async () => {
    await inbox.add([received(one, 'PARTIAL'), received(one, 'COMPLETED')], true)
    expect(await inbox.drop(1, '500')).toBe(true)
    expect(await inbox.get(1)).toMatchObject({ forward: 'dropped', attempts: 1, lastAnswer: '500' })
    expect((await inbox.listDue(someTime, 8)).map(({ id }) => id)).toEqual([2])
    expect(await inbox.drop(1)).toBe(false)
    expect(await inbox.drop(2)).toBe(true)
    expect(await inbox.get(2)).toMatchObject({ forward: 'dropped', attempts: 0, lastAnswer: undefined })
    expect(await inbox.requeue(1)).toBe(true)
    await inbox.recordForwarded(1, someTime, '204')
    expect(await inbox.get(1)).toMatchObject({ forward: 'done', attempts: 2 })
  })

  test('an odd event is kept for itself', async () => {
    const odd = received(one, 'SHINY', { oddity: 'unknown status' })
    await inbox.add([odd, received(one, 'PARTIAL')], false)
    expect(await inbox.add([odd], false)).toEqual([{ id: 1, repeated: true }])
    expect(await inbox.findLatestStatus('http://127.0.0.1:4010', one)).toMatchObject({ status: 'PARTIAL' })
  })

  test('adding no events is allowed, and get returns undefined for an unknown event', async () => {
    expect(await inbox.add([], true)).toEqual([])
    expect(await inbox.get(1)).toBeUndefined()
  })

  test('an event without a request is stored in full after a person was erased', async () => {
    const odd = received(one, 'PARTIAL', {
      requestId: undefined,
      status: undefined,
      event: undefined,
      oddity: 'no JSON',
    })
    const { maintenance } = await setup.store()
    await maintenance.purge({ requestId: one }, { dryRun: false, completely: false })
    expect(await inbox.add([odd], false)).toEqual([{ id: 1, repeated: false }])
    expect(await inbox.add([odd], false)).toEqual([{ id: 1, repeated: true }])
    expect(await inbox.get(1)).toMatchObject({ requestId: undefined, status: undefined, oddity: 'no JSON' })
  })

  test('filters', async () => {
    await inbox.add(
      [
        received(one, 'PARTIAL', { receivedAt: someTime }),
        received(two, 'PARTIAL', { receivedAt: someTime + 10 }),
        received(two, 'COMPLETED', { receivedAt: someTime + 20 }),
      ],
      false,
    )
    expect(await ids({ requestId: two })).toEqual([2, 3])
    expect(await ids({ status: 'PARTIAL' })).toEqual([1, 2])
    expect(await ids({ since: someTime + 10, until: someTime + 20 })).toEqual([2])
    expect(await ids({ after: 1, limit: 1 })).toEqual([2])
  })

  test('the newest status is the terminal one, also if other events came after it', async () => {
    await inbox.add(
      [received(one, 'COMPLETED'), received(one, 'PARTIAL'), received(one, 'IN_PROGRESS')],
      false,
    )
    expect(await inbox.findLatestStatus('http://127.0.0.1:4010', one)).toEqual({
      status: 'COMPLETED',
      receivedAt: someTime,
    })
    expect(await inbox.findLatestStatus('http://127.0.0.1:4010', two)).toBeUndefined()
  })

  test('lists the requests of events that no order has', async () => {
    const { ledger } = await setup.store()
    const attempt = await beginOne(ledger, 'a@example.com')
    await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    await inbox.add([received(one, 'PARTIAL'), received(two, 'PARTIAL'), received(three, 'PARTIAL')], false)
    expect(await inbox.listUnmatchedIds()).toEqual([three, two])
  })

  test('if two services have the same request id, an event belongs to its own service only', async () => {
    const { ledger } = await setup.store()
    const [here, there] = ['http://127.0.0.1:4010', 'https://api.example.com']
    for (const [email, baseUrl] of [
      ['a@example.com', here],
      ['b@example.com', there],
    ] as const) {
      const attempt = await beginOne(ledger, email, { baseUrl })
      await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    }
    const statuses = async () =>
      (await ledger.list({ requestId: one })).map(({ requestStatus }) => requestStatus)
    const of = (baseUrl: string | undefined, requestId: string, status: string) =>
      received(requestId, status, { baseUrl })
    expect(await inbox.add([of(here, one, 'PARTIAL'), of(there, one, 'PARTIAL')], true)).toEqual([
      { id: 1, repeated: false },
      { id: 2, repeated: false },
    ])
    expect((await inbox.listDue(someTime, 8)).map(({ id }) => id)).toEqual([1, 2])
    await inbox.add(
      [of(here, one, 'COMPLETED'), of(here, two, 'PARTIAL'), of(undefined, three, 'PARTIAL')],
      false,
    )
    expect(await statuses()).toEqual(['COMPLETED', 'PARTIAL'])
    await ledger.recordStatus(there, one, 'ERROR', someTime)
    expect(await statuses()).toEqual(['COMPLETED', 'ERROR'])
    expect(await inbox.findLatestStatus(there, one)).toMatchObject({ status: 'PARTIAL' })
    expect(await ids({ baseUrl: there, requestId: one })).toEqual([2])
    expect(await inbox.listUnmatchedIds(here)).toEqual([three, two])
    expect(await inbox.listUnmatchedIds(there)).toEqual([three])
  })

  test('an event from one of two joined services updates the order at the other one', async () => {
    const { ledger, waiting } = await setup.store()
    const [old, now] = ['https://old.example.com', 'https://api.example.com']
    const attempt = await beginOne(ledger, 'a@example.com', { baseUrl: old })
    await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    const event = received(one, 'PARTIAL', { baseUrl: now })
    await inbox.add([event], false)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ requestStatus: 'RECEIVED' }])
    await waiting.recordSameService([now, old], true, { at: someTime, by: 'ann' })
    await inbox.add([{ ...event, status: 'IN_PROGRESS' }], false)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ requestStatus: 'IN_PROGRESS' }])
    await ledger.recordStatus(now, one, 'COMPLETED', someTime)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ requestStatus: 'COMPLETED' }])
    expect(await inbox.listUnmatchedIds(now)).toEqual([])
  })

  test('an order has the status of the events of its request, and never returns to an earlier status', async () => {
    const { ledger } = await setup.store()
    const attempt = await beginOne(ledger, 'a@example.com')
    await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    const status = async (): Promise<string | undefined> =>
      (await ledger.list({ requestId: one }))[0]?.requestStatus
    await inbox.add([received(one.toUpperCase(), 'PARTIAL')], false)
    expect(await status()).toBe('PARTIAL')
    await inbox.add([received(one, 'IN_PROGRESS'), received(one, 'SHINY', { oddity: 'odd' })], false)
    expect(await status()).toBe('PARTIAL')
    await inbox.add([received(one, 'COMPLETED')], false)
    await inbox.add([received(one, 'CANCELLED')], false)
    expect(await status()).toBe('COMPLETED')
  })

  test('an event with another status removes the checks that were read before', async () => {
    const { ledger } = await setup.store()
    const attempt = await beginOne(ledger, 'a@example.com')
    await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    const checks = '{"background":{"IN_PROGRESS":1}}'
    await ledger.recordStatus('http://127.0.0.1:4010', one, 'IN_PROGRESS', someTime, checks)
    await inbox.add([received(one, 'RECEIVED')], false)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ checks }])
    await inbox.add([received(one, 'COMPLETED')], false)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ checks: undefined }])
  })

  describe('forwarding', () => {
    test('keeps the order of the events of a request: a failed event delays only its own request', async () => {
      await inbox.add([received(one, 'PARTIAL'), received(one, 'COMPLETED'), received(two, 'PARTIAL')], true)
      expect((await inbox.listDue(someTime, 10)).map(({ id }) => id)).toEqual([1, 3])
      await inbox.recordRefused(1, someTime + 1000, '503')
      await inbox.recordForwarded(3, someTime, '204')
      expect(await inbox.listDue(someTime, 10)).toEqual([])
      expect(
        (await inbox.listDue(someTime + 1000, 10)).map(({ id, attempts, lastAnswer }) => [
          id,
          attempts,
          lastAnswer,
        ]),
      ).toEqual([[1, 1, '503']])
      await inbox.recordForwarded(1, someTime + 1000, '204')
      expect((await inbox.listDue(someTime + 1000, 10)).map(({ id }) => id)).toEqual([2])
    })

    test('a receiver that waits for the next event ignores events that are behind a failed one', async () => {
      await inbox.add([received(one, 'PARTIAL'), received(one, 'COMPLETED')], true)
      expect(await inbox.findNextDueTime()).toBe(0)
      await inbox.recordRefused(1, someTime + 1000, '503')
      expect(await inbox.findNextDueTime()).toBe(someTime + 1000)
      await inbox.add([received(two, 'PARTIAL')], true)
      expect(await inbox.findNextDueTime()).toBe(0)
    })

    test('is not held up by a clock that is set back', async () => {
      await inbox.add([received(one, 'PARTIAL')], true)
      await inbox.recordRefused(1, someTime + 60_000, '503')
      expect(await inbox.listDue(someTime + 59_999, 1)).toEqual([])
      const yesterday = someTime - 86_400_000
      expect((await inbox.listDue(yesterday, 1)).map(({ id }) => id)).toEqual([1])
      await inbox.recordRefused(1, yesterday + 60_000, '503')
      expect(await inbox.listDue(yesterday, 1)).toEqual([])
      expect((await inbox.listDue(yesterday + 60_000, 1)).map(({ id }) => id)).toEqual([1])
    })

    test('happens once, and again on request', async () => {
      await inbox.add([received(one, 'PARTIAL')], true)
      await inbox.recordForwarded(1, someTime, '200')
      expect(await inbox.findNextDueTime()).toBeUndefined()
      expect(await inbox.get(1)).toMatchObject({ forward: 'done', forwardedAt: someTime })
      expect(await inbox.requeue(1)).toBe(true)
      expect((await inbox.listDue(someTime, 1)).map(({ id }) => id)).toEqual([1])
      expect(await inbox.requeue(99)).toBe(false)
    })
  })
})
