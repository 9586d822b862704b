import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { clientError, lostAnswer, orderFor, requestOf, answer201 } from './answers.ts'
import type { ManualClock } from '../../harness/manual-clock.ts'
import { type Script, scriptedApi } from './scripted-api.ts'
import { halfPastNine, createScriptedServices } from './scripted-ordering.ts'
import { ForbiddenError, NotFoundError } from '../../../src/errors/kinds.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { createRequest } from '../../../src/usecases/request/create.ts'
import { listRequests, refreshRequests } from '../../../src/usecases/request/read-requests.ts'
import { bindLedger } from '../../store/ledger/bound.ts'
import { createTemporaryStores, type TemporaryStores } from '../../store/ledger/temporary-stores.ts'

let stores: TemporaryStores
let store: Store
let ledger: Ledger
let clock: ManualClock

beforeEach(async () => {
  stores = createTemporaryStores()
  store = await stores.openStore()
  ledger = store.ledger
  clock = halfPastNine()
})
afterEach(() => stores.remove())

const createId = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`

async function addOrder(
  email: string,
  answer: Parameters<typeof answer201>[0] | object,
  baseUrl?: string,
): Promise<string> {
  const creates = [typeof answer === 'string' ? answer201(answer) : answer] as NonNullable<Script['creates']>
  const options = { allowDuplicate: false, waitBudgetMs: 0 }
  const services = createScriptedServices(
    store,
    { creates, ...(baseUrl !== undefined && { baseUrl }) },
    { clock },
  )
  const batchId = await createRequest(services, orderFor(email), options).then(
    (created) => created.batchId,
    () => '',
  )
  await clock.advance(60_000)
  return batchId
}

const listEmails = async (filter: Parameters<typeof listRequests>[1]): Promise<(string | undefined)[]> =>
  (await listRequests({ ledger, clock }, filter)).map(({ recipient }) => recipient?.email)

test('lists orders with the terms of the API', async () => {
  const batchId = await addOrder('a@example.com', createId(1))
  expect(await listRequests({ ledger, clock }, {})).toEqual([
    {
      request_id: createId(1),
      state: 'accepted',
      status: 'RECEIVED',
      status_read_at: '2026-11-21T09:30:00.000Z',
      package_id: 12,
      recipient: orderFor('a@example.com').recipient,
      ordered_at: '2026-11-21T09:30:00.000Z',
      batch_id: batchId,
      row: 1,
      base_url: 'http://127.0.0.1:4010',
      user_email: 'owner@example.com',
      reason: null,
    },
  ])
})

test('orders with an unknown outcome are listed with the reason, and refused ones are not', async () => {
  await addOrder('a@example.com', lostAnswer)
  await addOrder('b@example.com', clientError(400, 'recipient.phone: invalid'))
  await addOrder('c@example.com', clientError(401, 'invalid API key'))
  expect(await listRequests({ ledger, clock }, {})).toMatchObject([
    { request_id: null, state: 'unknown', status: null, reason: 'the connection was cut' },
  ])
})

test('an order in flight whose process died is listed as unknown', async () => {
  const failingLedger = { ...bindLedger(ledger), move: () => Promise.reject(new Error('dead')) }
  const services = createScriptedServices(
    { ledger: failingLedger, batches: store.batches },
    { creates: [answer201()] },
    { clock },
  )
  const options = { allowDuplicate: false, waitBudgetMs: 0 }
  await expect(createRequest(services, orderFor('a@example.com'), options)).rejects.toMatchObject({
    code: 'io',
  })
  expect(await listRequests({ ledger, clock }, {})).toMatchObject([{ state: 'unknown' }])
})

test('filters by batch, status, time and e-mail, together', async () => {
  const first = await addOrder('a@example.com', createId(1))
  const later = clock.now()
  await addOrder('b@example.com', createId(2))
  await addOrder('c@example.com', lostAnswer)
  expect(await listEmails({ batchId: first })).toEqual(['a@example.com'])
  expect(await listEmails({ since: later })).toEqual(['b@example.com', 'c@example.com'])
  expect(await listEmails({ email: 'B@Example.com' })).toEqual(['b@example.com'])
  expect(await listEmails({ status: 'received' })).toEqual(['a@example.com', 'b@example.com'])
  expect(await listEmails({ status: 'UNKNOWN' })).toEqual(['c@example.com'])
  expect(await listEmails({ status: 'received', since: later })).toEqual(['b@example.com'])
  expect(await listEmails({ batchId: 'none' })).toEqual([])
})

describe('refreshing', () => {
  const refresh = (script: Script, filter = {}, signal?: AbortSignal) => {
    const api = scriptedApi(script)
    const progress: string[] = []
    const onProgress = (done: number, total: number) => void progress.push(`${done} of ${total}`)
    return { api, progress, done: refreshRequests({ api, ledger, clock, signal, onProgress }, filter) }
  }

  test('reads each unfinished request of this service and stores its status', async () => {
    await addOrder('a@example.com', createId(1))
    await addOrder('b@example.com', createId(2))
    await addOrder('c@example.com', lostAnswer)
    await addOrder('d@example.com', createId(4), 'https://service.example')
    const reads = {
      [createId(1)]: requestOf(orderFor('a@example.com'), 'COMPLETED', createId(1)),
      [createId(2)]: requestOf(orderFor('b@example.com'), 'IN_PROGRESS', createId(2)),
    }
    const first = refresh({ reads })
    const { requests, failures } = await first.done
    expect(failures).toEqual([])
    expect(requests.map(({ status }) => status)).toEqual(['COMPLETED', 'IN_PROGRESS', null, 'RECEIVED'])
    const second = refresh({ reads })
    await second.done
    expect(first.api.readIds).toEqual([createId(1), createId(2)])
    expect(second.api.readIds).toEqual([createId(2)])
    expect([first.progress, second.progress]).toEqual([['0 of 2', '1 of 2'], ['0 of 1']])
  })

  test('filters by the status that was just read', async () => {
    await addOrder('a@example.com', createId(1))
    const reads = { [createId(1)]: requestOf(orderFor('a@example.com'), 'PARTIAL', createId(1)) }
    expect((await refresh({ reads }, { status: 'received' }).done).requests).toEqual([])
    expect((await refresh({ reads }, { status: 'partial' }).done).requests).toHaveLength(1)
  })

  test('continues after a 404, and stops at an error that applies to all reads', async () => {
    for (const n of [1, 2, 3, 4]) await addOrder(`${n}@example.com`, createId(n))
    const reads = {
      [createId(1)]: new NotFoundError('resource not found'),
      [createId(2)]: requestOf(orderFor('2@example.com'), 'PARTIAL', createId(2)),
      [createId(3)]: new ForbiddenError('organisation subscription not active'),
    }
    const { api, done } = refresh({ reads })
    const { requests, failures } = await done
    expect(failures).toMatchObject([
      { request_id: createId(1), error: { code: 'not_found' } },
      { request_id: createId(3), error: { code: 'forbidden' } },
    ])
    expect(api.readIds).toEqual([createId(1), createId(2), createId(3)])
    expect(requests.map(({ status }) => status)).toEqual(['RECEIVED', 'PARTIAL', 'RECEIVED', 'RECEIVED'])
  })

  test('stops with an interruption after Ctrl-C', async () => {
    await addOrder('a@example.com', createId(1))
    const stop = new AbortController()
    stop.abort()
    const reads = { [createId(1)]: new Error('aborted') }
    await expect(refresh({ reads }, {}, stop.signal).done).rejects.toMatchObject({ code: 'interrupted' })
  })
})
