import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { memoryStore, noLimit, createRunner, runThreeRows, addBatch } from './runner.ts'
import {
  clientError,
  lostAnswer,
  requestId,
  requestOf,
  serverError,
  answer201,
  connectionRefused,
} from '../request/answers.ts'
import { schemaOf } from '../../domain/form/sample-schema.ts'
import type { RunEvent } from '../../../src/domain/batch/run-policy.ts'
import { ForbiddenError, UnavailableError } from '../../../src/errors/kinds.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { sendPendingRows } from '../../../src/usecases/batch/runner.ts'
import { createRequest } from '../../../src/usecases/request/create.ts'
import { orderRows, statesOf } from '../../store/ledger/files.ts'
import { personOf } from '../../store/ledger/batches.ts'

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

const ids = [1, 2, 3].map((each) => `00000000-0000-4000-8000-00000000000${each}`)
const [idOne = '', idTwo = '', idThree = ''] = ids
const allAccepted = ids.map((id) => answer201(id))
const createRowEvent = (number: number, state: string, reason?: string) =>
  ({ name: 'row', row: number, state, reason }) as RunEvent

describe('the rows in order', () => {
  test('each is sent once, and reported once it is on disk', async () => {
    const { end, events, states, sent } = await runThreeRows(store, { creates: allAccepted })
    expect({ end, sent }).toEqual({ end: { kind: 'done' }, sent: 3 })
    expect(states).toEqual(['accepted', 'accepted', 'accepted'])
    expect(events).toEqual([
      createRowEvent(1, 'accepted'),
      createRowEvent(2, 'accepted'),
      createRowEvent(3, 'accepted'),
    ])
  })

  test('at most `maxOrders` rows are sent, including rejected ones', async () => {
    const refusal = clientError(400, 'recipient.email: is not accepted')
    const { end, states, sent } = await runThreeRows(
      store,
      { creates: [refusal, answer201(idTwo)] },
      { maxOrders: 2 },
    )
    expect({ end, sent }).toEqual({ end: { kind: 'limited' }, sent: 2 })
    expect(states).toEqual(['rejected', 'accepted', 'pending'])
    const { end: endWithoutRows } = await runThreeRows(store, { creates: [] }, { maxOrders: 0 })
    expect(endWithoutRows).toEqual({ kind: 'limited' })
  })

  test('with `onlyRow`, just the row with that number is sent, and nothing if that row is not pending', async () => {
    const { end, states, batch } = await runThreeRows(store, { creates: [answer201(idTwo)] }, { onlyRow: 2 })
    expect(end).toEqual({ kind: 'done' })
    expect(states).toEqual(['pending', 'accepted', 'pending'])
    const again = await sendPendingRows(createRunner(store).ports, batch.id, { ...noLimit, onlyRow: 2 })
    expect(again).toEqual({ kind: 'done' })
  })

  test('a rejected row is reported with the message of the service, and the next one is sent', async () => {
    const refusal = clientError(400, 'recipient.email: is not accepted')
    const { events, states } = await runThreeRows(store, {
      creates: [refusal, answer201(idTwo), refusal],
    })
    expect(states).toEqual(['rejected', 'accepted', 'rejected'])
    expect(events[0]).toEqual(createRowEvent(1, 'rejected', 'recipient.email: is not accepted'))
  })

  test('a 403 for the key halts the run, and the row stays pending', async () => {
    const { end, events, states, sent } = await runThreeRows(store, {
      creates: [answer201(idOne), clientError(403, 'the role may not order')],
    })
    expect(end).toMatchObject({ kind: 'halted', error: { message: 'the role may not order' } })
    expect({ states, sent }).toEqual({ states: ['accepted', 'pending', 'pending'], sent: 2 })
    expect(events).toEqual([
      createRowEvent(1, 'accepted'),
      createRowEvent(2, 'pending', 'the role may not order'),
    ])
  })

  test('a row with a new conflict is held and reported, and the others are sent', async () => {
    const batch = await addBatch(store, { rows: orderRows(4) })
    const bodyFor = (number: number) => ({
      package_id: 12,
      recipient: personOf(`person${number}@example.com`),
    })
    const options = { allowDuplicate: false, waitBudgetMs: 0 }
    const other = createRunner(store, { creates: [answer201(), answer201(idThree)] })
    // The pending rows do not conflict with a single order of another package.
    for (const number of [1, 3])
      await createRequest(other.ports, { ...bodyFor(number), package_id: 13 }, options)
    await store.heldRows.recordLikelySuccessors(batch.baseUrl, [[13, 12]], batch.addedAt)
    const { ports, events } = createRunner(store, { creates: [answer201(idOne), answer201(idTwo)] })
    expect(await sendPendingRows(ports, batch.id, noLimit)).toEqual({ kind: 'done' })
    expect(await statesOf(store, batch.id)).toEqual(['held', 'accepted', 'held', 'accepted'])
    expect(events).toMatchObject([
      { row: 1, state: 'held', reason: expect.stringContaining('package') as string },
      { row: 3, state: 'held' },
      { row: 2, state: 'accepted' },
      { row: 4, state: 'accepted' },
    ])
  })
})

describe('waiting', () => {
  test('after a 429 the run waits for the stated time and sends the same row again', async () => {
    const { end, events, sleeps, states } = await runThreeRows(store, {
      creates: [clientError(429, 'too many requests', '7'), ...allAccepted],
    })
    expect({ end, states }).toEqual({ end: { kind: 'done' }, states: Array(3).fill('accepted') })
    expect(events.slice(0, 2)).toEqual([
      createRowEvent(1, 'pending', 'too many requests'),
      { name: 'waiting', cause: 'throttled', seconds: 7, isStated: true, reason: 'too many requests' },
    ])
    // Afterwards the quota spaces the calls by one second.
    expect(sleeps).toEqual([7000, 1000, 1000])
  })

  test('a 429 also delays other processes with the key', async () => {
    const { ports, events } = createRunner(store, { creates: [clientError(429, 'too many requests', '7')] })
    const batch = await addBatch(store)
    expect(await sendPendingRows(ports, batch.id, { ...noLimit, waitBudgetMs: 0 })).toMatchObject({
      kind: 'halted',
    })
    // A wait that is too long is not reported, because it does not take place.
    expect(events).toEqual([createRowEvent(1, 'pending', 'too many requests')])
    const { notBefore } = await ports.governor.status()
    expect(notBefore).toBe(ports.clock.now() + 7000)
  })

  test('a row of which no byte was sent is sent again after a growing backoff', async () => {
    const { events, sleeps, sent } = await runThreeRows(store, {
      creates: [connectionRefused, connectionRefused, ...allAccepted],
    })
    const waits = events.filter(({ name }) => name === 'waiting')
    expect(waits).toEqual(
      sleeps.map((ms) => ({
        name: 'waiting',
        cause: 'unreachable',
        seconds: ms / 1000,
        reason: connectionRefused.kind === 'unsent' ? connectionRefused.error.message : '',
      })),
    )
    // These are the middle values of the first and the second backoff.
    expect({ sleeps, sent }).toEqual({ sleeps: [375, 750], sent: 5 })
  })

  test('a wait for the quota is reported, and is not longer than the wait budget', async () => {
    const windows = [{ calls: 2, seconds: 60 }]
    const { end, events, sleeps } = await runThreeRows(store, { creates: allAccepted, windows })
    expect(end).toEqual({ kind: 'done' })
    const [waitMs = 0, ...more] = sleeps
    expect(waitMs).toBeGreaterThanOrEqual(60_000)
    expect(more).toEqual([])
    expect(events[2]).toEqual({ name: 'paced', seconds: waitMs / 1000 })
    await store.close()
    store = await memoryStore()
    const batch = await addBatch(store)
    const { ports } = createRunner(store, { creates: allAccepted, windows })
    const result = await sendPendingRows(ports, batch.id, { ...noLimit, waitBudgetMs: 59_999 })
    expect(result).toMatchObject({ kind: 'halted', error: { code: 'throttled' } })
  })
})

describe('an outcome that is unknown', () => {
  test('affects one row: nothing is sent until the health check succeeds, which is reported', async () => {
    const { end, events, states } = await runThreeRows(store, {
      creates: [lostAnswer, answer201(idTwo), lostAnswer],
    })
    expect(end).toEqual({ kind: 'done' })
    expect(states).toEqual(['unknown', 'accepted', 'unknown'])
    // After the last row no health check is needed.
    const why = 'the connection was cut'
    expect(events).toEqual([
      createRowEvent(1, 'unknown', why),
      { name: 'well' },
      createRowEvent(2, 'accepted'),
      createRowEvent(3, 'unknown', why),
    ])
  })

  test('of the last row to send is not followed by a health check', async () => {
    const { end, events } = await runThreeRows(store, { creates: [lostAnswer] }, { maxOrders: 1 })
    expect({ end, events }).toEqual({
      end: { kind: 'limited' },
      events: [createRowEvent(1, 'unknown', 'the connection was cut')],
    })
  })

  test('leads to health checks at growing intervals, within the wait budget', async () => {
    const down = new UnavailableError('503 from a gateway')
    let remainingFailures = 6
    const api = {
      ping: () =>
        remainingFailures-- > 0 ? Promise.reject(down) : Promise.resolve({ status: 'ok', latency_ms: 1 }),
    }
    const { end, events } = await runThreeRows(store, {
      creates: [lostAnswer, answer201(idTwo), answer201(idThree)],
      api,
    })
    expect(end).toEqual({ kind: 'done' })
    const outages = events.flatMap((event) => (event.name === 'outage' ? [event] : []))
    expect(outages.map(({ seconds }) => seconds)).toEqual([5, 10, 20, 40, 60, 60])
    expect(outages[0]?.reason).toBe(down.message)
  })

  test('halts the run if the outage outlasts the wait budget or is a refusal; a Retry-After is the minimum wait', async () => {
    const unknownFirst = { creates: [lostAnswer] }
    const refusedOverrides = (why: Error) => ({
      ...unknownFirst,
      api: { listUsers: () => Promise.reject(why) },
    })
    const down = new UnavailableError('down', { retryAfter: 8 })
    const budget = { waitBudgetMs: 8000 + 10_000 }
    const { end, sleeps } = await runThreeRows(store, refusedOverrides(down), budget)
    expect({ end, sleeps }).toEqual({ end: { kind: 'halted', error: down }, sleeps: [8000, 10_000] })
    const refusal = new ForbiddenError('no longer a member')
    await store.close()
    store = await memoryStore()
    expect(await runThreeRows(store, refusedOverrides(refusal))).toMatchObject({
      end: { kind: 'halted', error: refusal },
      sleeps: [],
    })
  })

  test('from an earlier run leads to a health check first', async () => {
    const refusal = new ForbiddenError('no longer a member')
    const { end, sent } = await runThreeRows(
      store,
      { api: { ping: () => Promise.reject(refusal) } },
      { afterUnknown: true },
    )
    expect({ end, sent }).toEqual({ end: { kind: 'halted', error: refusal }, sent: 0 })
  })

  test('three times in succession halts the run', async () => {
    const { end, states, sent } = await runThreeRows(store, { creates: [lostAnswer, lostAnswer, lostAnswer] })
    expect(end).toMatchObject({ kind: 'halted', error: { code: 'outcome_unknown' } })
    expect({ states, sent }).toEqual({ states: Array(3).fill('unknown'), sent: 3 })
  })

  test('with an id is resolved by reading the request', async () => {
    const recipient = personOf('person1@example.com')
    const read = requestOf({ package_id: 12, recipient }, 'RECEIVED', requestId)
    const { end, events, states, api } = await runThreeRows(store, {
      creates: [
        serverError(500, { request_id: requestId }),
        answer201(idTwo),
        serverError(500, { request_id: idThree }),
      ],
      reads: { [requestId]: read, [idThree]: read },
    })
    expect(end).toEqual({ kind: 'done' })
    expect(api.readIds).toEqual([requestId, idThree])
    // The second read returns another request, which is no evidence.
    expect(states).toEqual(['accepted', 'accepted', 'unknown'])
    expect(events.slice(0, 4)).toEqual([
      createRowEvent(1, 'unknown', 'the service failed (500): internal server error'),
      { name: 'reconciling', requestId },
      createRowEvent(1, 'accepted'),
      createRowEvent(2, 'accepted'),
    ])
  })

  test('with the id of another order halts the run at once', async () => {
    const { end, states } = await runThreeRows(store, {
      creates: [answer201(idOne), answer201(idOne)],
    })
    expect(end).toMatchObject({
      kind: 'halted',
      error: { message: expect.stringContaining('the order of row 1') as string },
    })
    expect(states).toEqual(['accepted', 'unknown', 'pending'])
  })
})

describe('rows that would all be rejected', () => {
  const missing = clientError(400, 'additional_information[0].fields.consent: is required')

  test('halt the run if the schema has changed, with the number of rows that do not fit', async () => {
    const packageSchema = () => Promise.resolve(schemaOf({ consent: { method: ['string', true] } }, 12))
    const { end, states } = await runThreeRows(store, { creates: [missing], api: { packageSchema } })
    expect(end).toMatchObject({
      kind: 'halted',
      error: {
        message: expect.stringMatching(/package 12 has changed: 2 of the rows .*\(row 2: /) as string,
      },
    })
    expect(states).toEqual(['rejected', 'pending', 'pending'])
  })

  test('do not halt the run if the remaining rows fit', async () => {
    const batch = await addBatch(store, {
      rows: [1, 2].map((number) => {
        const recipient = personOf(`person${number}@example.com`)
        const body = Buffer.from(JSON.stringify({ package_id: 12, recipient }))
        return { row: number, state: 'pending', packageId: 12, recipient, body }
      }),
    })
    const packageSchema = () => Promise.resolve(schemaOf({}, 12))
    const { ports } = createRunner(store, {
      creates: [missing, answer201(idTwo)],
      api: { packageSchema },
    })
    expect(await sendPendingRows(ports, batch.id, noLimit)).toEqual({ kind: 'done' })
    expect(await statesOf(store, batch.id)).toEqual(['rejected', 'accepted'])
  })

  test('halt the run if the package is gone, which is read from the list of packages', async () => {
    const listPackages = () => Promise.resolve([])
    const { end, sent } = await runThreeRows(store, {
      creates: [clientError(404, 'not found')],
      api: { listPackages },
    })
    expect(end).toMatchObject({
      kind: 'halted',
      error: { message: 'package 12 is no longer available to this user' },
    })
    expect(sent).toBe(1)
  })

  test('halt the run with the error if the reason cannot be read', async () => {
    const down = new UnavailableError('down')
    const { end } = await runThreeRows(store, {
      creates: [clientError(404, 'not found')],
      api: { listPackages: () => Promise.reject(down) },
    })
    expect(end).toEqual({ kind: 'halted', error: down })
  })
})
