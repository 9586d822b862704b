import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { noLimit, addBatch } from './runner.ts'
import {
  expectFree,
  createId,
  memoryStore,
  packages,
  packagesOf,
  requestFor,
  createRunner,
  sendRow,
  sentAt,
  addUnknownRows,
} from './unknown-rows.ts'
import { clientError, lostAnswer, answer201 } from '../request/answers.ts'
import { invalidRow, orderRow, orderRows, rowsOf, statesOf } from '../../store/ledger/files.ts'
import { personOf } from '../../store/ledger/batches.ts'
import type { NewFileBatch, NewRow } from '../../../src/domain/batch/batch.ts'
import { ForbiddenError, InvalidInputError, IoError, UnavailableError } from '../../../src/errors/kinds.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { reconcileAndSend, type RunBatchOptions } from '../../../src/usecases/batch/start.ts'

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

type World = NonNullable<Parameters<typeof createRunner>[1]>

/** Runs a batch, by default with two rows, and returns the steps in their order. */
async function runBatch(world: World = {}, options: Partial<RunBatchOptions> = {}, given?: NewFileBatch) {
  const batch = given ?? (await addBatch(store, { rows: orderRows(2) }))
  const runner = createRunner(store, { ...world, api: { ...packages, ...world.api } })
  const steps: string[] = []
  const done = await reconcileAndSend(runner.ports, batch.id, {
    ...noLimit,
    listUnmatchedIds: () => {
      steps.push('look')
      return Promise.resolve([])
    },
    writeResults: ({ counts }) => {
      steps.push(`write ${counts.accepted}`)
      return Promise.resolve(true)
    },
    beforeFirstRow: () => {
      steps.push(`before ${runner.api.sentBodies.length}`)
      return Promise.resolve()
    },
    onStart: ({ counts }) => steps.push(`start ${counts.pending}`),
    onResultsWriteError: () => steps.push('unwritten'),
    ...options,
  }).catch((thrown: unknown) => ({ thrown }))
  const states = await statesOf(store, batch.id)
  return { done, steps, states, sent: runner.api.sentBodies.length, ...runner, batch }
}

const answers = [answer201(createId(1)), answer201(createId(2))]

describe('a run', () => {
  test('sends the pending rows and then writes the results', async () => {
    const { done, steps, states, events } = await runBatch({ creates: answers })
    // Without unknown rows there is no health check.
    expect(events.map(({ name }) => name)).toEqual(['row', 'row'])
    expect(states).toEqual(['accepted', 'accepted'])
    expect(steps).toEqual(['before 0', 'start 2', 'write 2'])
    expect(done).toMatchObject({ failure: undefined, batch: { holder: undefined, counts: { accepted: 2 } } })
  })

  test('releases the batch at the end, also after an error', async () => {
    const { batch } = await runBatch({ creates: answers })
    const failing = () => Promise.reject(new TypeError('a fault of ours'))
    const { done } = await runBatch({}, { writeResults: failing }, batch)
    expect(done).toMatchObject({ thrown: { message: 'a fault of ours' } })
    await expectFree(store, batch.id)
  })

  test('without pending rows sends nothing and does not check the package', async () => {
    const { batch } = await runBatch({ creates: answers })
    const listPackages = () => Promise.reject(new UnavailableError('down'))
    const options = { shouldCheckPackages: true }
    const { done, steps, sent } = await runBatch({ api: { listPackages } }, options, batch)
    expect([done, steps, sent]).toMatchObject([{ failure: undefined }, ['start 0', 'write 2'], 0])
  })

  test('of a single row has the same steps', async () => {
    const { steps } = await runBatch(
      { creates: [answer201()] },
      {},
      await addBatch(store, { rows: orderRows(1) }),
    )
    expect(steps).toEqual(['before 0', 'start 1', 'write 1'])
  })

  test('removes a queued batch from the queue, unless the runner is a worker', async () => {
    const batch = await addBatch(store)
    await store.batches.recordQueued(batch.id, sentAt)
    await runBatch({ creates: [lostAnswer] }, { maxOrders: 1, isQueued: true }, batch)
    expect((await store.batches.find(batch.id))?.queuedAt).toBe(sentAt)
    await runBatch({ creates: [answer201()] }, { maxOrders: 1 }, batch)
    expect((await store.batches.find(batch.id))?.queuedAt).toBeUndefined()
    // For a batch that is not in the queue, nothing is written to the queue.
    store.batches.recordQueued = () => Promise.reject(new Error('it is not queued'))
    const fresh = await addBatch(store, { rows: orderRows(1, 40) })
    expect((await runBatch({ creates: [answer201(createId(9))] }, {}, fresh)).states).toEqual(['accepted'])
  })

  test('of a batch for another service is refused, and nothing is sent', async () => {
    const batch = await addBatch(store, { baseUrl: 'http://127.0.0.1:4010/other' })
    const { done, sent } = await runBatch({}, {}, batch)
    expect(done).toMatchObject({
      thrown: {
        code: 'usage',
        message: expect.stringContaining('is for http://127.0.0.1:4010/other') as string,
      },
    })
    expect(sent).toBe(0)
    // All loopback names of a port are one service.
    const local = await addBatch(store, { baseUrl: 'http://localhost:4010', rows: orderRows(1, 9) })
    expect((await runBatch({ creates: [answer201()] }, {}, local)).states).toEqual(['accepted'])
  })
})

describe('one runner per batch', () => {
  test('a second runner is refused and sends nothing', async () => {
    const batch = await addBatch(store)
    const lease = await store.batches.acquire(batch.id)
    store.batches.acquire = () => Promise.resolve(undefined)
    const { done, sent } = await runBatch({}, {}, batch)
    expect({ done, sent }).toMatchObject({ done: { thrown: { code: 'incomplete' } }, sent: 0 })
    await lease?.release()
  })

  test('rows in flight of a runner that died become unknown and not pending', async () => {
    const batch = await addBatch(store, { rows: orderRows(2) })
    const [row] = await rowsOf(store, batch.id)
    if (row !== undefined) await sendRow(store, row, 'in flight')
    const { states, events } = await runBatch({ creates: [answer201(createId(2))] }, {}, batch)
    expect(states).toEqual(['unknown', 'accepted'])
    // The health check is not reported, because this run has reported no failure.
    expect(events).toMatchObject([{ name: 'row', row: 2 }])
  })

  test('if a row in flight is not recovered after three attempts, nothing is sent', async () => {
    const batch = await addBatch(store, { rows: orderRows(2) })
    const [row] = await rowsOf(store, batch.id)
    if (row !== undefined) await sendRow(store, row, 'in flight')
    let tries = 0
    const recover = () => {
      tries += 1
      return Promise.resolve([])
    }
    const { done, sent } = await runBatch({ ledger: { recover } }, {}, batch)
    expect({ done, sent, tries }).toMatchObject({ done: { thrown: { code: 'internal' } }, sent: 0, tries: 3 })
    await expectFree(store, batch.id)
  })

  test('a lease that the caller passes is used and released', async () => {
    const batch = await addBatch(store, { rows: orderRows(1) })
    let released = 0
    const held = { release: () => Promise.resolve(void (released += 1)) }
    store.batches.acquire = () => Promise.reject(new Error('it is held already'))
    expect((await runBatch({ creates: [answer201()] }, { lease: held }, batch)).states).toEqual(['accepted'])
    expect(released).toBe(1)
  })

  test('a runner of a shared batch sends while another runner has a row in flight', async () => {
    const batch = await addBatch(store, { rows: orderRows(2) })
    const [row] = await rowsOf(store, batch.id)
    if (row !== undefined) await sendRow(store, row, 'in flight')
    Object.defineProperty(store.batches, 'allowsSeveralRunners', { value: true })
    const { states } = await runBatch(
      { creates: [answer201(createId(2))], ledger: { recover: () => Promise.resolve([]) } },
      { maxOrders: 1 },
      batch,
    )
    expect(states).toEqual(['sending', 'accepted'])
  })
})

describe('the package', () => {
  const down = () => Promise.reject(new UnavailableError('down'))
  const packageGone = { api: { ...packagesOf({ status: 'DISABLED' }, { id: 13 }), packageSchema: down } }

  test('that is gone halts the batch before anything is sent, and the hint names `batch move`', async () => {
    const { done, states, sent, steps, batch } = await runBatch(packageGone, { shouldCheckPackages: true })
    expect({ states, sent }).toEqual({ states: ['pending', 'pending'], sent: 0 })
    const hint = expect.stringContaining(`refcheck batch move ${batch.id} --package 13`) as string
    expect(done).toMatchObject({ failure: { code: 'not_found', hint } })
    expect(steps).toEqual(['start 2', 'write 0'])
    const { halt } = (await store.batches.find(batch.id)) ?? {}
    expect(halt).toMatchObject({ code: 'not_found', at: sentAt, hint })
  })

  test('is not checked without shouldCheckPackages', async () => {
    expect((await runBatch({ ...packageGone, creates: answers })).states).toEqual(['accepted', 'accepted'])
  })

  test('that can be ordered again removes the earlier halt', async () => {
    const batch = await addBatch(store, { rows: orderRows(1) })
    expect((await runBatch(packageGone, { shouldCheckPackages: true }, batch)).sent).toBe(0)
    await runBatch({ creates: [answer201()] }, { shouldCheckPackages: true }, batch)
    expect((await store.batches.find(batch.id))?.halt).toBeUndefined()
  })

  test('of each row is checked if the rows name their own packages', async () => {
    const rows = [orderRow(1, 'a@example.com'), { ...orderRow(2, 'b@example.com'), packageId: 14 }]
    const batch = await addBatch(store, { packageId: undefined, rows })
    const { done, sent } = await runBatch({}, { shouldCheckPackages: true }, batch)
    const message = expect.stringContaining('package 14 is no longer available') as string
    expect({ done, sent }).toMatchObject({ done: { failure: { message } }, sent: 0 })
  })

  test('that cannot be checked halts the batch; an error of the store is thrown', async () => {
    const unreachable = await runBatch({ api: { listPackages: down } }, { shouldCheckPackages: true })
    expect({ done: unreachable.done, sent: unreachable.sent }).toMatchObject({
      done: { failure: { code: 'unavailable' } },
      sent: 0,
    })
    const disk = new IoError('no space is left')
    store.heldRows.recordLikelySuccessors = () => Promise.reject(disk)
    const { done } = await runBatch({}, { shouldCheckPackages: true }, unreachable.batch)
    expect(done).toEqual({ thrown: disk })
  })
})

describe('automatic reconciliation', () => {
  const namingOptions = { listUnmatchedIds: () => Promise.resolve([createId(1)]) }

  test('takes place at the start and at the end of a run, before the results are written', async () => {
    const { batch } = await addUnknownRows(store, { rows: orderRows(2) })
    const found: unknown[] = []
    const { steps } = await runBatch({}, { onReconciled: (each) => found.push(each) }, batch)
    expect(steps).toEqual(['look', 'start 0', 'look', 'write 0'])
    expect(found).toHaveLength(2)
  })

  test('accepts a row that an event proves before anything is sent', async () => {
    const { batch } = await addUnknownRows(store)
    const { states, done } = await runBatch(
      { reads: { [createId(1)]: requestFor(1) }, signal: new AbortController().signal },
      namingOptions,
      batch,
    )
    expect({ states, done }).toMatchObject({ states: ['accepted'], done: { failure: undefined } })
  })

  test('reconciles a dropped row like an unknown one', async () => {
    const { batch, rows } = await addUnknownRows(store)
    const decision = { by: 'a person', why: 'nobody knows' }
    for (const row of rows)
      await store.ledger.move(row, { to: 'dropped', at: sentAt, reason: 'dropped', decision })
    const { states } = await runBatch({ reads: { [createId(1)]: requestFor(1) } }, namingOptions, batch)
    expect(states).toEqual(['accepted'])
  })

  test('does not stop the run if the service is unreachable; an error of the store is thrown', async () => {
    const { batch } = await addUnknownRows(store)
    const unreachable = (error: Error) => runBatch({ reads: { [createId(1)]: error } }, namingOptions, batch)
    expect((await unreachable(new UnavailableError('down'))).done).toMatchObject({
      failure: { code: 'outcome_unknown' },
    })
    const disk = new IoError('no space is left')
    expect((await unreachable(disk)).done).toEqual({ thrown: disk })
    const surprise = new TypeError('a fault of ours')
    expect((await unreachable(surprise)).done).toEqual({ thrown: surprise })
  })

  test('leads to a health check before the next row if an outcome stays unknown', async () => {
    const batch = await addBatch(store, { rows: orderRows(2) })
    const [row] = await rowsOf(store, batch.id)
    if (row !== undefined) await sendRow(store, row, { to: 'unknown', reason: 'cut' })
    const ping = () => Promise.reject(new ForbiddenError('no longer a member'))
    const { done, sent, states } = await runBatch({ api: { ping } }, {}, batch)
    expect({ done, sent, states }).toMatchObject({
      done: { failure: { code: 'outcome_unknown' } },
      sent: 0,
      states: ['unknown', 'pending'],
    })
  })

  test('makes no health check if no rows are left to send', async () => {
    const { batch } = await addUnknownRows(store)
    const ping = () => Promise.reject(new ForbiddenError('no longer a member'))
    const { done } = await runBatch({ api: { ping } }, {}, batch)
    expect(done).toMatchObject({ failure: { message: '1 row may or may not have been ordered' } })
    expect((await store.batches.find(batch.id))?.halt).toBeUndefined()
  })
})

describe('another organisation', () => {
  const addBatchOfOther = async (userEmail = 'starter@example.com') =>
    addBatch(store, { rows: orderRows(2), userEmail })

  test('is refused before anything is sent', async () => {
    const batch = await addBatchOfOther()
    const { done, sent, steps } = await runBatch({}, {}, batch)
    expect({ done, sent, steps }).toMatchObject({ done: { thrown: { code: 'usage' } }, sent: 0, steps: [] })
  })

  test('is not detected if the service fails: the batch halts and nothing is sent', async () => {
    const batch = await addBatchOfOther()
    const down = new UnavailableError('down')
    const { done, sent } = await runBatch({ api: { listUsers: () => Promise.reject(down) } }, {}, batch)
    expect({ done, sent }).toMatchObject({ done: { failure: { code: 'unavailable' } }, sent: 0 })
    expect((await store.batches.find(batch.id))?.halt).toMatchObject({ message: 'down' })
  })

  test('is not assumed if the user confirms that the person who started the batch has left', async () => {
    const batch = await addBatchOfOther()
    const asked: string[] = []
    const confirmStarterLeft = ({ userEmail }: { userEmail: string }) => {
      asked.push(userEmail)
      return Promise.resolve(true)
    }
    const { states } = await runBatch({ creates: answers }, { confirmStarterLeft }, batch)
    expect({ states, asked }).toEqual({ states: ['accepted', 'accepted'], asked: ['starter@example.com'] })
  })
})

describe('the end of a run', () => {
  test('records the halt and writes the results', async () => {
    const { done, steps, batch } = await runBatch({ creates: [clientError(403, 'no credits')] })
    expect(done).toMatchObject({ failure: { code: 'forbidden' } })
    expect(steps).toEqual(['before 0', 'start 2', 'write 0'])
    expect((await store.batches.find(batch.id))?.halt).toMatchObject({
      code: 'forbidden',
      message: 'no credits',
    })
  })

  test('after Ctrl-C writes the results and reads nothing', async () => {
    const stop = new AbortController()
    const create = () => {
      stop.abort()
      return lostAnswer
    }
    const { done, steps, batch } = await runBatch({ creates: [create], signal: stop.signal })
    expect(done).toMatchObject({ failure: { code: 'interrupted' } })
    expect(steps).toEqual(['before 0', 'start 2', 'write 0'])
    expect((await store.batches.find(batch.id))?.halt).toBeUndefined()
  })

  test('with a results file that cannot be written still reports the outcome of the rows', async () => {
    const disk = new IoError('no space is left')
    const events: unknown[] = []
    const options = {
      writeResults: () => Promise.reject(disk),
      onResultsWriteError: (error: Error) => events.push(error),
    }
    const result = await runBatch({ creates: answers }, options)
    expect(result.done).toMatchObject({
      failure: { code: 'io', message: 'the results file was not written: no space is left' },
      batch: { resultsFile: undefined },
    })
    const rows = orderRows(1, 30)
    const halted = await runBatch(
      { creates: [clientError(403, 'no')] },
      options,
      await addBatch(store, { rows }),
    )
    expect(halted.done).toMatchObject({ failure: { code: 'forbidden' } })
    // A people file that the user changed meanwhile is not a failure of the run.
    const changed = new InvalidInputError('line 3 has changed')
    const optionsOfChangedFile = { ...options, writeResults: () => Promise.reject(changed) }
    const fresh = await addBatch(store, { rows: orderRows(1, 50) })
    const { done } = await runBatch({ creates: [answer201(createId(50))] }, optionsOfChangedFile, fresh)
    expect(done).toMatchObject({ failure: undefined })
    expect(events).toEqual([disk, changed])
  })

  test('names the results file only if it was written', async () => {
    const resultsFile = '/nowhere/people.results.csv'
    const batch = await addBatch(store, { rows: orderRows(1), resultsFile })
    const { done } = await runBatch({ creates: [answer201()] }, {}, batch)
    expect(done).toMatchObject({ batch: { resultsFile } })
    const unwritten = await runBatch({}, { writeResults: () => Promise.resolve(false) }, batch)
    expect(unwritten.done).toMatchObject({ batch: { resultsFile: undefined }, failure: undefined })
  })

  test('names the first rows that need a decision', async () => {
    const rows = [...orderRows(2), { ...orderRow(3, 'PERSON1@example.com') }]
    const batch = await addBatch(store, { rows })
    const { done } = await runBatch({ creates: [answer201(createId(1)), lostAnswer] }, {}, batch)
    expect(done).toMatchObject({ failure: { code: 'outcome_unknown', order: { batchId: batch.id, row: 2 } } })
    const invalid = { ...invalidRow(2), reason: 'phone is required' }
    const again = await addBatch(store, { rows: [...orderRows(1), invalid] })
    const nothing = await runBatch({}, {}, again)
    expect(nothing.done).toMatchObject({ failure: { code: 'incomplete', isUserChoice: true } })
    const anne = orderRow(1, 'new@example.com')
    const recipient = { ...personOf('person1@example.com'), first_name: 'Anne' }
    const held = await addBatch(store, { rows: [{ ...anne, recipient }] as NewRow[] })
    const hint = expect.stringContaining(`refcheck batch release ${held.id} --row 1`) as string
    expect((await runBatch({}, {}, held)).done).toMatchObject({ failure: { code: 'incomplete', hint } })
  })
})
