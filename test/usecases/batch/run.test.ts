import { afterEach, beforeEach, expect, test } from 'vitest'

import { requestId, taken } from '../request/answers.ts'
import { scriptedOrdering } from '../request/scripted-ordering.ts'
import type { BatchCounts } from '../../../src/domain/batch/batch.ts'
import { windowsFor } from '../../../src/domain/quota/windows.ts'
import { IoError } from '../../../src/errors/kinds.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import type { RunPorts } from '../../../src/usecases/batch/ports.ts'
import { runBatch } from '../../../src/usecases/batch/run.ts'
import { governor } from '../../../src/usecases/quota/governor.ts'
import { bound } from '../../store/ledger/bound.ts'
import { fileBatch, orderRows } from '../../store/ledger/files.ts'
import { scratch, type Scratch } from '../../store/ledger/scratch.ts'

let place: Scratch
let store: Store

beforeEach(async () => {
  place = scratch()
  store = await place.store()
})
afterEach(() => place.end())

/** Three rows, and a ledger that may fail; how many were sent, and how it ended. */
async function run(ledger: Ledger): Promise<{ sent: number; ended: unknown; counts: BatchCounts }> {
  const batch = fileBatch()
  await store.batches.add(batch, orderRows(3))
  const ordering = scriptedOrdering(ledger, { creates: [taken(), taken(), taken()] })
  const { clock, random, api } = ordering
  const running: RunPorts = {
    api,
    ledger,
    clock,
    random,
    batches: store.batches,
    waiting: store.waiting,
    governor: governor({
      quota: store.quota,
      account: 'one',
      windows: windowsFor(api.baseUrl, undefined),
      clock,
    }),
    cache: { get: () => Promise.resolve(undefined), put: () => Promise.resolve() },
  }
  const limits = { max: Number.POSITIVE_INFINITY, waitBudgetMs: Number.POSITIVE_INFINITY }
  const ended = await runBatch(running, batch.id, limits).catch((error: unknown) => error)
  return { sent: api.sent.length, ended, counts: await store.batches.counts(batch.id) }
}

test('a disk that fails as an order is recorded: its id is told, and nothing more is sent', async () => {
  const disk = new IoError('cannot use the store: no space is left on the disk')
  const { sent, ended } = await run({ ...bound(store.ledger), moveAndBegin: () => Promise.reject(disk) })
  expect(sent).toBe(1)
  expect(ended).toMatchObject({
    code: 'io',
    message: `the order was accepted as request ${requestId}, but this could not be recorded: ${disk.message}`,
  })
})

test('a store that cannot be read while an order is in flight: the order is recorded first', async () => {
  const disk = new IoError('cannot use the store: it cannot be read')
  const { batches } = store
  const read = batches.nextPending.bind(batches)
  let reads = 0
  batches.nextPending = async (batchId, after) => {
    reads += 1
    if (reads > 1) throw disk
    return read(batchId, after)
  }
  const { sent, ended, counts } = await run(store.ledger)
  expect({ sent, ended }).toEqual({ sent: 1, ended: disk })
  expect(counts).toMatchObject({ accepted: 1, pending: 2, sending: 0 })
})
