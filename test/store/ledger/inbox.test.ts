import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { type EventFilter, notUuid } from '../../../src/domain/webhook/events.ts'
import type { Inbox } from '../../../src/store/ledger/inbox.ts'
import { beginOne, receivedEvent, someTime } from './batches.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'

const [one, two, three] = ['1', '2', '3'].map(
  (digit) => `${digit.repeat(8)}-1111-4111-8111-111111111111`,
) as [string, string, string]

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let inbox: Inbox

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    inbox = (await setup.openStore()).inbox
  })
  afterEach(() => setup.remove())

  async function listIds(filter?: EventFilter): Promise<number[]> {
    const found: number[] = []
    for await (const { id } of inbox.list(filter)) found.push(id)
    return found
  }

  test('every process reads the added event, byte for byte', async () => {
    await inbox.add([receivedEvent(one, 'IN_PROGRESS')], false)
    const otherInbox = (await setup.openStore()).inbox
    const event = await otherInbox.get(1)
    expect(event).toMatchObject({ id: 1, requestId: one, status: 'IN_PROGRESS', repeats: 0, forward: 'none' })
    expect(Buffer.from(event?.body ?? []).equals(Buffer.from(receivedEvent(one, 'IN_PROGRESS').body))).toBe(
      true,
    )
  })

  test('"the pair (request_id, status) identifies a status update already processed"', async () => {
    expect(await inbox.add([receivedEvent(one, 'PARTIAL'), receivedEvent(one, 'COMPLETED')], true)).toEqual([
      { id: 1, repeated: false },
      { id: 2, repeated: false },
    ])
    const repeatedEvent = receivedEvent(one.toUpperCase(), 'PARTIAL', {
      body: Buffer.from('{ "written": "otherwise" }'),
    })
    expect(await inbox.add([repeatedEvent], true)).toEqual([{ id: 1, repeated: true }])
    expect(await inbox.get(1)).toMatchObject({ repeats: 1 })
    expect(await listIds()).toEqual([1, 2])
  })

  test('after an event is dropped, the next event of its request is due', async () => {
    await inbox.add([receivedEvent(one, 'PARTIAL'), receivedEvent(one, 'COMPLETED')], true)
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

  test('an unexpected event is stored, and does not change the status of its request', async () => {
    const unexpected = receivedEvent(one, 'SHINY', { oddity: 'unknown status' })
    await inbox.add([unexpected, receivedEvent(one, 'PARTIAL')], false)
    expect(await inbox.add([unexpected], false)).toEqual([{ id: 1, repeated: true }])
    expect(await inbox.findLatestStatus('http://127.0.0.1:4010', one)).toMatchObject({ status: 'PARTIAL' })
  })

  test('adding no events is allowed, and get returns undefined for an unknown event', async () => {
    expect(await inbox.add([], true)).toEqual([])
    expect(await inbox.get(1)).toBeUndefined()
  })

  test('an event without a request is stored in full after a person was erased', async () => {
    const unexpected = receivedEvent(one, 'PARTIAL', {
      requestId: undefined,
      status: undefined,
      event: undefined,
      oddity: 'no JSON',
    })
    const { maintenance } = await setup.openStore()
    await maintenance.purge({ requestId: one }, { dryRun: false, completely: false })
    expect(await inbox.add([unexpected], false)).toEqual([{ id: 1, repeated: false }])
    expect(await inbox.add([unexpected], false)).toEqual([{ id: 1, repeated: true }])
    expect(await inbox.get(1)).toMatchObject({ requestId: undefined, status: undefined, oddity: 'no JSON' })
  })

  test('events are filtered by request, status, time and position', async () => {
    await inbox.add(
      [
        receivedEvent(one, 'PARTIAL', { receivedAt: someTime }),
        receivedEvent(two, 'PARTIAL', { receivedAt: someTime + 10 }),
        receivedEvent(two, 'COMPLETED', { receivedAt: someTime + 20 }),
      ],
      false,
    )
    expect(await listIds({ requestId: two })).toEqual([2, 3])
    expect(await listIds({ status: 'PARTIAL' })).toEqual([1, 2])
    expect(await listIds({ since: someTime + 10, until: someTime + 20 })).toEqual([2])
    expect(await listIds({ after: 1, limit: 1 })).toEqual([2])
  })

  test('the newest status is the terminal one, also if other events came after it', async () => {
    await inbox.add(
      [receivedEvent(one, 'COMPLETED'), receivedEvent(one, 'PARTIAL'), receivedEvent(one, 'IN_PROGRESS')],
      false,
    )
    expect(await inbox.findLatestStatus('http://127.0.0.1:4010', one)).toEqual({
      status: 'COMPLETED',
      receivedAt: someTime,
    })
    expect(await inbox.findLatestStatus('http://127.0.0.1:4010', two)).toBeUndefined()
  })

  test('lists the request ids of events that belong to no order', async () => {
    const { ledger } = await setup.openStore()
    const attempt = await beginOne(ledger, 'a@example.com')
    await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    await inbox.add(
      [receivedEvent(one, 'PARTIAL'), receivedEvent(two, 'PARTIAL'), receivedEvent(three, 'PARTIAL')],
      false,
    )
    expect(await inbox.listUnmatchedIds()).toEqual([three, two])
  })

  test('lists the ids of events with an unknown status, and of another name of the same service', async () => {
    const [localUrl, sameUrl, otherUrl] = ['127.0.0.1:4010', 'localhost:4010', 'localhost:4010/other'].map(
      (host) => `http://${host}`,
    )
    const oddity = 'unknown status "ON_HOLD"'
    await inbox.add(
      [
        receivedEvent(one, 'ON_HOLD', { baseUrl: localUrl, oddity }),
        receivedEvent(two, 'PARTIAL', { baseUrl: sameUrl }),
        receivedEvent(two, 'IN_PROGRESS', { baseUrl: localUrl }),
        receivedEvent(three, 'PARTIAL', { baseUrl: otherUrl }),
        receivedEvent('12', 'PARTIAL', { baseUrl: localUrl, oddity: notUuid }),
      ],
      false,
    )
    expect(await inbox.listUnmatchedIds(localUrl)).toEqual([two, one])
  })

  test('if two services have the same request id, an event belongs to its own service only', async () => {
    const { ledger } = await setup.openStore()
    const [localUrl, remoteUrl] = ['http://127.0.0.1:4010', 'https://api.example.com']
    for (const [email, baseUrl] of [
      ['a@example.com', localUrl],
      ['b@example.com', remoteUrl],
    ] as const) {
      const attempt = await beginOne(ledger, email, { baseUrl })
      await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    }
    const readStatuses = async () =>
      (await ledger.list({ requestId: one })).map(({ requestStatus }) => requestStatus)
    const eventOf = (baseUrl: string | undefined, requestId: string, status: string) =>
      receivedEvent(requestId, status, { baseUrl })
    expect(
      await inbox.add([eventOf(localUrl, one, 'PARTIAL'), eventOf(remoteUrl, one, 'PARTIAL')], true),
    ).toEqual([
      { id: 1, repeated: false },
      { id: 2, repeated: false },
    ])
    expect((await inbox.listDue(someTime, 8)).map(({ id }) => id)).toEqual([1, 2])
    await inbox.add(
      [
        eventOf(localUrl, one, 'COMPLETED'),
        eventOf(localUrl, two, 'PARTIAL'),
        eventOf(undefined, three, 'PARTIAL'),
      ],
      false,
    )
    expect(await readStatuses()).toEqual(['COMPLETED', 'PARTIAL'])
    await ledger.recordStatus(remoteUrl, one, 'ERROR', someTime)
    expect(await readStatuses()).toEqual(['COMPLETED', 'ERROR'])
    expect(await inbox.findLatestStatus(remoteUrl, one)).toMatchObject({ status: 'PARTIAL' })
    expect(await listIds({ baseUrl: remoteUrl, requestId: one })).toEqual([2])
    expect(await inbox.listUnmatchedIds(localUrl)).toEqual([three, two])
    expect(await inbox.listUnmatchedIds(remoteUrl)).toEqual([three])
  })

  test('if two base URLs are recorded as one service, an event from one updates the order at the other', async () => {
    const { ledger, heldRows } = await setup.openStore()
    const [oldUrl, newUrl] = ['https://old.example.com', 'https://api.example.com']
    const attempt = await beginOne(ledger, 'a@example.com', { baseUrl: oldUrl })
    await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    const event = receivedEvent(one, 'PARTIAL', { baseUrl: newUrl })
    await inbox.add([event], false)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ requestStatus: 'RECEIVED' }])
    await heldRows.recordSameService([newUrl, oldUrl], true, { at: someTime, by: 'ann' })
    await inbox.add([{ ...event, status: 'IN_PROGRESS' }], false)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ requestStatus: 'IN_PROGRESS' }])
    await ledger.recordStatus(newUrl, one, 'COMPLETED', someTime)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ requestStatus: 'COMPLETED' }])
    expect(await inbox.listUnmatchedIds(newUrl)).toEqual([])
  })

  test('an order has the status of the events of its request, and never returns to an earlier status', async () => {
    const { ledger } = await setup.openStore()
    const attempt = await beginOne(ledger, 'a@example.com')
    await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    const readStatus = async (): Promise<string | undefined> =>
      (await ledger.list({ requestId: one }))[0]?.requestStatus
    await inbox.add([receivedEvent(one.toUpperCase(), 'PARTIAL')], false)
    expect(await readStatus()).toBe('PARTIAL')
    await inbox.add(
      [receivedEvent(one, 'IN_PROGRESS'), receivedEvent(one, 'SHINY', { oddity: 'odd' })],
      false,
    )
    expect(await readStatus()).toBe('PARTIAL')
    await inbox.add([receivedEvent(one, 'COMPLETED')], false)
    await inbox.add([receivedEvent(one, 'CANCELLED')], false)
    expect(await readStatus()).toBe('COMPLETED')
  })

  test('an event with another status removes the checks that were read before', async () => {
    const { ledger } = await setup.openStore()
    const attempt = await beginOne(ledger, 'a@example.com')
    await ledger.move(attempt, { to: 'accepted', at: someTime, requestId: one, requestStatus: 'RECEIVED' })
    const checks = '{"background":{"IN_PROGRESS":1}}'
    await ledger.recordStatus('http://127.0.0.1:4010', one, 'IN_PROGRESS', someTime, checks)
    await inbox.add([receivedEvent(one, 'RECEIVED')], false)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ checks }])
    await inbox.add([receivedEvent(one, 'COMPLETED')], false)
    expect(await ledger.list({ requestId: one })).toMatchObject([{ checks: undefined }])
  })

  describe('forwarding', () => {
    test('keeps the order of the events of a request: a failed event delays only its own request', async () => {
      await inbox.add(
        [receivedEvent(one, 'PARTIAL'), receivedEvent(one, 'COMPLETED'), receivedEvent(two, 'PARTIAL')],
        true,
      )
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

    test('the next due time ignores events that wait behind a failed event of their request', async () => {
      await inbox.add([receivedEvent(one, 'PARTIAL'), receivedEvent(one, 'COMPLETED')], true)
      expect(await inbox.findNextDueTime()).toBe(0)
      await inbox.recordRefused(1, someTime + 1000, '503')
      expect(await inbox.findNextDueTime()).toBe(someTime + 1000)
      await inbox.add([receivedEvent(two, 'PARTIAL')], true)
      expect(await inbox.findNextDueTime()).toBe(0)
    })

    test('is not delayed by a clock that is set back', async () => {
      await inbox.add([receivedEvent(one, 'PARTIAL')], true)
      await inbox.recordRefused(1, someTime + 60_000, '503')
      expect(await inbox.listDue(someTime + 59_999, 1)).toEqual([])
      const yesterday = someTime - 86_400_000
      expect((await inbox.listDue(yesterday, 1)).map(({ id }) => id)).toEqual([1])
      await inbox.recordRefused(1, yesterday + 60_000, '503')
      expect(await inbox.listDue(yesterday, 1)).toEqual([])
      expect((await inbox.listDue(yesterday + 60_000, 1)).map(({ id }) => id)).toEqual([1])
    })

    test('happens once, and again after a requeue', async () => {
      await inbox.add([receivedEvent(one, 'PARTIAL')], true)
      await inbox.recordForwarded(1, someTime, '200')
      expect(await inbox.findNextDueTime()).toBeUndefined()
      expect(await inbox.get(1)).toMatchObject({ forward: 'done', forwardedAt: someTime })
      expect(await inbox.requeue(1)).toBe(true)
      expect((await inbox.listDue(someTime, 1)).map(({ id }) => id)).toEqual([1])
      expect(await inbox.requeue(99)).toBe(false)
    })
  })
})
