import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createId, memoryStore, requestFor, createRunner, sendRow, addUnknownRows } from './unknown-rows.ts'
import { addBatch } from './runner.ts'
import { orderRow, orderRows, rowsOf, statesOf } from '../../store/ledger/files.ts'
import { personOf } from '../../store/ledger/batches.ts'
import type { RequestResource } from '../../../src/contract/request.ts'
import type { Change } from '../../../src/domain/submission/states.ts'
import { NotFoundError, UnavailableError } from '../../../src/errors/kinds.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { reconcile } from '../../../src/usecases/batch/reconcile.ts'

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

/** Returns the answers to reads of a service that has the given requests. */
const serviceWithRequests = (...requests: RequestResource[]) => ({
  reads: Object.fromEntries(requests.map((each) => [each.request_id, each])),
})

const recipient = { ...personOf('bob@example.com'), first_name: 'Bob' }
const requestForBob = requestFor(2, { recipient })

describe('evidence', () => {
  test('a match that is unique in both directions makes the row accepted and is recorded as evidence', async () => {
    const { batch, submissions } = await addUnknownRows(store)
    const request = requestFor(1)
    const changes: Change[] = []
    const { ports, api, clock } = createRunner(store, {
      ...serviceWithRequests(request),
      ledger: {
        move(from, change) {
          changes.push(change)
          return store.ledger.move(from, change)
        },
      },
    })
    const found = await reconcile(ports, submissions, [createId(1)])
    expect(found).toEqual({
      settled: [{ submission: submissions[0], requestId: createId(1), status: 'RECEIVED' }],
      ambiguous: [],
      open: [],
      readCount: 1,
    })
    expect(changes).toEqual([
      {
        to: 'accepted',
        at: clock.now(),
        requestId: createId(1),
        requestStatus: 'RECEIVED',
        decision: {
          by: 'refcheck',
          why: `request ${createId(1)}, created ${request.created_at} by owner@example.com, is the only one that matches this row’s package, person and time, and it matches no other row`,
        },
      },
    ])
    expect(await statesOf(store, batch.id)).toEqual(['accepted'])
    expect(api.readIds).toEqual([createId(1)])
  })

  test('each id is read once, whatever its case, and stored in lowercase', async () => {
    const upperCaseId = 'AAAAAAAA-0000-4000-8000-000000000001'
    const lowerCaseId = upperCaseId.toLowerCase()
    const { batch, submissions } = await addUnknownRows(store, { offeredId: upperCaseId })
    const { ports, api } = createRunner(store, {
      reads: { [lowerCaseId]: requestFor(1, { request_id: upperCaseId }) },
    })
    const { readCount } = await reconcile(ports, submissions, [upperCaseId, lowerCaseId])
    expect({ readCount, readIds: api.readIds }).toEqual({ readCount: 1, readIds: [lowerCaseId] })
    expect(await rowsOf(store, batch.id)).toMatchObject([{ state: 'accepted', requestId: lowerCaseId }])
  })

  test('an id in a failed answer is read even if no event has it', async () => {
    const { batch, submissions } = await addUnknownRows(store, { offeredId: createId(1) })
    await reconcile(createRunner(store, serviceWithRequests(requestFor(1))).ports, submissions, [])
    expect(await statesOf(store, batch.id)).toEqual(['accepted'])
  })

  test('for one of two rows does not change the other one', async () => {
    const { batch, submissions } = await addUnknownRows(store, { rows: orderRows(2) })
    const found = await reconcile(
      createRunner(store, serviceWithRequests(requestFor(2))).ports,
      submissions,
      [createId(2)],
    )
    expect(found).toMatchObject({ settled: [{ submission: { row: 2 } }], open: [{ row: 1 }] })
    expect(await statesOf(store, batch.id)).toEqual(['unknown', 'accepted'])
  })

  test('a row that has changed meanwhile is not changed, and the matching request is shown', async () => {
    const { submissions } = await addUnknownRows(store)
    const { ports } = createRunner(store, {
      ...serviceWithRequests(requestFor(1)),
      ledger: { move: () => Promise.resolve(false) },
    })
    expect(await reconcile(ports, submissions, [createId(1)])).toMatchObject({
      settled: [],
      ambiguous: [{ requestIds: [createId(1)] }],
    })
  })
})

describe('cases without evidence', () => {
  test('two requests that fit one row are both shown, and the row stays unknown', async () => {
    const { batch, submissions } = await addUnknownRows(store)
    const requests = [requestFor(1), requestFor(1, { request_id: createId(7) })]
    const found = await reconcile(createRunner(store, serviceWithRequests(...requests)).ports, submissions, [
      createId(1),
      createId(7),
    ])
    const nearMatches = [createId(1), createId(7)].map((requestId) => ({
      requestId,
      createdAt: requests[0]?.created_at,
      differs: [],
    }))
    expect(found).toEqual({
      settled: [],
      ambiguous: [{ submission: submissions[0], requestIds: [createId(1), createId(7)], nearMatches }],
      open: [],
      readCount: 2,
    })
    expect(await statesOf(store, batch.id)).toEqual(['unknown'])
  })

  test('one request that fits two rows is shown for both', async () => {
    // Orders of two accounts are not compared with each other, so both rows may have the same person.
    const all = []
    for (const account of ['one', 'two']) {
      await store.accounts.add(account, 0)
      all.push(...(await addUnknownRows(store, { account })).submissions)
    }
    const found = await reconcile(createRunner(store, serviceWithRequests(requestFor(1))).ports, all, [
      createId(1),
    ])
    expect(found).toMatchObject({ settled: [], open: [], readCount: 1 })
    expect(found.ambiguous.map(({ submission, requestIds }) => [submission.batchId, requestIds])).toEqual(
      all.map(({ batchId }) => [batchId, [createId(1)]]),
    )
  })

  test('a request that is the order of one row is not shown for a similar person', async () => {
    const similar = { ...personOf('person1@example.com'), first_name: 'Anne' }
    const rows = [{ ...orderRow(1, 'person1@example.com'), recipient: similar }]
    const { submissions: first } = await addUnknownRows(store, { account: 'one' })
    await store.accounts.add('two', 0)
    const { submissions: second } = await addUnknownRows(store, {
      account: 'two',
      rows,
    })
    const { ports } = createRunner(store, serviceWithRequests(requestFor(1)))
    const found = await reconcile(ports, [...first, ...second], [createId(1)])
    expect(found).toMatchObject({ ambiguous: [], settled: [{ submission: first[0] }], open: second })
  })

  test('a request that differs only in time is shown; it is evidence if the clock difference is known', async () => {
    const { batch, submissions } = await addUnknownRows(store)
    const world = serviceWithRequests(requestFor(1, { created_at: '2026-11-21T09:35:00.000Z' }))
    const found = await reconcile(createRunner(store, world).ports, submissions, [createId(1)])
    expect(found.ambiguous).toMatchObject([{ nearMatches: [{ requestId: createId(1), differs: ['time'] }] }])
    expect(await statesOf(store, batch.id)).toEqual(['unknown'])
    const ahead = { ...world, api: { clockDifferenceMs: () => 300_000 } }
    expect(
      (await reconcile(createRunner(store, ahead).ports, submissions, [createId(1)])).settled,
    ).toHaveLength(1)
  })

  test('no requests, or requests for other people', async () => {
    const { batch, submissions } = await addUnknownRows(store)
    const found = await reconcile(
      createRunner(store, serviceWithRequests(requestForBob)).ports,
      submissions,
      [createId(2)],
    )
    expect(found).toEqual({ settled: [], ambiguous: [], open: submissions, readCount: 1 })
    expect(await statesOf(store, batch.id)).toEqual(['unknown'])
  })

  test('an id that cannot be read does not stop the reading of the others', async () => {
    const { batch, submissions } = await addUnknownRows(store)
    const none = new NotFoundError('no such request')
    const { ports } = createRunner(store, { reads: { [createId(9)]: none, [createId(1)]: requestFor(1) } })
    expect((await reconcile(ports, submissions, [createId(9), createId(1)])).readCount).toBe(1)
    expect(await statesOf(store, batch.id)).toEqual(['accepted'])
  })

  test('the error of an unreachable service is thrown', async () => {
    const { submissions } = await addUnknownRows(store)
    const down = new UnavailableError('down')
    const { ports } = createRunner(store, { reads: { [createId(1)]: down } })
    await expect(reconcile(ports, submissions, [createId(1)])).rejects.toBe(down)
  })
})

describe('the reads', () => {
  test('exclude ids of other orders', async () => {
    const other = await addBatch(store, { rows: orderRows(1, 5) })
    const [row] = await rowsOf(store, other.id)
    if (row !== undefined)
      await sendRow(store, row, { to: 'accepted', requestId: createId(5), requestStatus: 'RECEIVED' })
    const { submissions } = await addUnknownRows(store)
    const { ports, api } = createRunner(store)
    expect((await reconcile(ports, submissions, [createId(5)])).open).toHaveLength(1)
    expect(api.readIds).toEqual([])
  })

  test('exclude rows of another service, which stay unchanged', async () => {
    const { submissions } = await addUnknownRows(store, { baseUrl: 'http://127.0.0.1:4010/other' })
    const { ports, api } = createRunner(store)
    expect(await reconcile(ports, submissions, [createId(1)])).toMatchObject({
      open: submissions,
      readCount: 0,
    })
    expect(api.readIds).toEqual([])
    const here = await addUnknownRows(store, { rows: [orderRow(1, 'bob@example.com')] })
    const all = [...submissions, ...here.submissions]
    // A request at this service is no evidence for a row of another service.
    const found = await reconcile(
      createRunner(store, serviceWithRequests(requestFor(1, { recipient }))).ports,
      all,
      [createId(1)],
    )
    expect(found).toMatchObject({ settled: [], ambiguous: [{ submission: here.submissions[0] }] })
    expect(found.open).toEqual(submissions)
  })

  test('stay within the quota, and waits are reported in seconds', async () => {
    const { submissions } = await addUnknownRows(store)
    const { ports, api, clock } = createRunner(store, {
      ...serviceWithRequests(requestFor(2), requestFor(3)),
      windows: [{ calls: 1, seconds: 60 }],
    })
    const waitSeconds: number[] = []
    const startedAt = clock.now()
    await reconcile({ ...ports, onQuotaWait: (seconds) => waitSeconds.push(seconds) }, submissions, [
      createId(2),
      createId(3),
    ])
    expect(api.readIds).toHaveLength(2)
    expect(waitSeconds).toEqual([(clock.now() - startedAt) / 1000])
    expect(waitSeconds[0]).toBeGreaterThanOrEqual(60)
  })
})

describe('an erased person', () => {
  const createErasedRows = async () =>
    (await addUnknownRows(store)).submissions.map((each) => Object.assign(each, { recipient: undefined }))

  test('is recognised by the fingerprints', async () => {
    const submissions = await createErasedRows()
    const found = await reconcile(
      createRunner(store, serviceWithRequests(requestFor(1))).ports,
      submissions,
      [createId(1)],
    )
    expect(found.settled).toHaveLength(1)
  })

  test('has no request of another person among the matches', async () => {
    const submissions = await createErasedRows()
    const found = await reconcile(
      createRunner(store, serviceWithRequests(requestFor(2))).ports,
      submissions,
      [createId(2)],
    )
    expect(found).toMatchObject({ ambiguous: [], open: submissions })
  })

  test('without fingerprints has no matches', async () => {
    const submissions = await createErasedRows()
    const { ports } = createRunner(store, {
      ...serviceWithRequests(requestFor(1)),
      ledger: { personMatch: () => Promise.resolve('unknown') },
    })
    const found = await reconcile(ports, submissions, [createId(1)])
    expect(found).toMatchObject({ settled: [], ambiguous: [], open: submissions })
  })
})
