import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createRequest } from '../../../src/usecases/request/create.ts'
import { IoError, UnavailableError } from '../../../src/errors/kinds.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { bindLedger } from '../../store/ledger/bound.ts'
import { createTemporaryStores, type TemporaryStores } from '../../store/ledger/temporary-stores.ts'
import {
  createAnswer,
  clientError,
  lostAnswer,
  order,
  orderFor,
  requestId,
  requestOf,
  serverError,
  answer201,
} from './answers.ts'
import type { Script } from './scripted-api.ts'
import {
  catchOrderError,
  createScriptedServices,
  type ScriptedOrderServices,
  defaultCreateOptions,
} from './scripted-ordering.ts'

let stores: TemporaryStores
let store: Store
let ledger: Ledger

beforeEach(async () => {
  stores = createTemporaryStores()
  store = await stores.openStore()
  ledger = store.ledger
})
afterEach(() => stores.remove())

const createServices = (script: Script, usedLedger = ledger): ScriptedOrderServices =>
  createScriptedServices({ ledger: usedLedger, batches: store.batches }, script)
const readStates = async (): Promise<string[]> => (await ledger.list({})).map(({ state }) => state)
const hintMatching = (pattern: RegExp) => ({ hint: expect.stringMatching(pattern) as string })

describe('an outcome that is unknown', () => {
  test.each([
    ['a lost connection', lostAnswer],
    ['a 500', serverError(500)],
    ['a proxy’s page', createAnswer(403, undefined)],
    ['a redirect', createAnswer(307, undefined)],
    ['a 201 without an id', createAnswer(201, { data: null, status_message: 'ok', message: '' })],
    ['an API that throws', () => Promise.reject(new Error('a fault of ours'))],
  ])('after %s is an error with the hint to reconcile, and nothing is sent again', async (_what, answer) => {
    const services = createServices({ creates: [answer] })
    expect(await catchOrderError(services)).toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringMatching(
        /^package 12 may or may not have been ordered for "ana\.silva@example\.com": ./,
      ) as string,
      ...hintMatching(/may have been ordered.*refcheck batch reconcile/),
    })
    expect(services.api.sentBodies).toHaveLength(1)
    expect(await readStates()).toEqual(['unknown'])
  })

  test('after an unexpected error is reported as a broken connection, with the error as its cause', async () => {
    const fault = new TypeError('a fault of ours')
    const refused = await catchOrderError(createServices({ creates: [() => Promise.reject(fault)] }))
    expect(refused).toMatchObject({
      message: expect.stringMatching(/: the connection broke$/) as string,
      cause: { cause: fault },
    })
  })

  test('after an error with a message has this message', async () => {
    const failure = new UnavailableError('no answer came within 60 s')
    const refused = await catchOrderError(createServices({ creates: [() => Promise.reject(failure)] }))
    expect(refused).toMatchObject({
      message: expect.stringMatching(/: no answer came within 60 s$/) as string,
      cause: failure,
    })
  })

  describe('with an id in its answer', () => {
    const answerWithId = serverError(500, { request_id: requestId })

    test('a read with the same package and person is evidence', async () => {
      const reads = { [requestId]: requestOf(order, 'IN_PROGRESS') }
      const services = createServices({ creates: [answerWithId], reads })
      const created = await createRequest(services, order, defaultCreateOptions)
      expect(created).toMatchObject({ requestId, status: 'IN_PROGRESS' })
      expect(services.events).toEqual([{ name: 'reconciling', requestId }])
      expect(await readStates()).toEqual(['accepted'])
    })

    test.each([
      ['another person', requestOf(orderFor('someone@example.com'))],
      ['another package', requestOf({ ...order, package_id: 13 })],
      ['another requester', { ...requestOf(order), requester: { email: 'other@example.com' } }],
      ['an order of the day before', { ...requestOf(order), created_at: '2026-11-20T09:30:00.000Z' }],
      ['another request', requestOf(order, 'RECEIVED', '00000000-0000-4000-8000-000000000009')],
      ['an error', new UnavailableError('the service failed (500)')],
    ])('a read with %s is no evidence', async (_what, shown) => {
      const services = createServices({ creates: [answerWithId], reads: { [requestId]: shown } })
      expect(await catchOrderError(services)).toMatchObject({
        code: 'outcome_unknown',
        ...hintMatching(new RegExp(`named request ${requestId}`)),
      })
      expect(await ledger.list({})).toMatchObject([{ state: 'unknown', offeredId: requestId }])
    })

    test('the id of another order is no evidence', async () => {
      await createRequest(createServices({ creates: [answer201()] }), order, defaultCreateOptions)
      const reads = { [requestId]: requestOf(order) }
      const services = createServices({ creates: [answerWithId], reads })
      expect(await catchOrderError(services, { allowDuplicate: true })).toMatchObject({
        code: 'outcome_unknown',
      })
      expect(await readStates()).toEqual(['accepted', 'unknown'])
    })

    test('the row is recorded as unknown before the read', async () => {
      const services = createServices({ creates: [answerWithId] })
      const statesAtRead: string[] = []
      services.api.getRequest = async () => {
        statesAtRead.push(...(await readStates()))
        return requestOf(order)
      }
      await createRequest(services, order, defaultCreateOptions)
      expect(statesAtRead).toEqual(['unknown'])
    })
  })
})

test('an order in flight whose process died becomes unknown and is reported', async () => {
  const failingOrdering = createServices(
    {},
    { ...bindLedger(ledger), move: () => Promise.reject(new Error('dead')) },
  )
  await catchOrderError(failingOrdering)
  expect(await readStates()).toEqual(['sending'])
  const services = createServices({ creates: [answer201()] })
  await createRequest(services, orderFor('b@example.com'), defaultCreateOptions)
  expect(services.events).toMatchObject([
    { name: 'recovered', submissions: [{ recipient: order.recipient }] },
  ])
  expect(await readStates()).toEqual(['unknown', 'accepted'])
})

describe('a store that fails to record', () => {
  const disk = new IoError('cannot use the store: the disk reported an error')
  const createFailingLedger = (): Ledger => ({ ...bindLedger(ledger), move: () => Promise.reject(disk) })

  test.each([
    [
      answer201(),
      new RegExp(`the order was accepted as request ${requestId}, but this could not be recorded`),
    ],
    [lostAnswer, /may or may not have been accepted \(the connection was cut\), but this could not/],
    [clientError(400, 'recipient.phone: invalid'), /nothing was ordered \(recipient\.phone: invalid\), but/],
  ])('an outcome: the error says what the outcome was (%#)', async (answer, message) => {
    expect(await catchOrderError(createServices({ creates: [answer] }, createFailingLedger()))).toMatchObject(
      {
        code: 'io',
        message: expect.stringMatching(message) as string,
      },
    )
  })

  test('the attempt sends nothing', async () => {
    const services = createServices({}, { ...bindLedger(ledger), beginInQuota: () => Promise.reject(disk) })
    expect(await catchOrderError(services)).toBe(disk)
    expect(services.api.sentBodies).toEqual([])
  })
})

test('an answer is recorded even if another process has made the row unknown', async () => {
  const recordUnknownAndAnswer = async () => {
    const other = await stores.openLedger()
    const [row] = await other.list({})
    if (row === undefined) throw new Error('no row')
    await other.move(row, { to: 'unknown', at: 1, reason: 'taken for dead' })
    return answer201()
  }
  await createRequest(createServices({ creates: [recordUnknownAndAnswer] }), order, defaultCreateOptions)
  expect(await ledger.list({})).toMatchObject([{ state: 'accepted', requestId }])
})

test.each(['dropped', 'pending'] as const)(
  'an answer is recorded and reported even if another process has made the row unknown and then %s',
  async (to) => {
    const recordUnknownAndAnswer = async () => {
      const other = await stores.openLedger()
      const [row] = await other.list({})
      if (row === undefined) throw new Error('no row')
      await other.move(row, { to: 'unknown', at: 1, reason: 'taken for dead' })
      const decision = { by: 'a@example.com', why: 'decided' }
      await other.move({ ...row, state: 'unknown' }, { to, at: 2, reason: 'decided', decision })
      return answer201()
    }
    const created = await createRequest(
      createServices({ creates: [recordUnknownAndAnswer] }),
      order,
      defaultCreateOptions,
    )
    expect(created).toMatchObject({ requestId })
    expect(await ledger.list({})).toMatchObject([{ state: 'accepted', requestId }])
  },
)
