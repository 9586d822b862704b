import { expect, test } from 'vitest'

import { ManualClock } from '../../harness/manual-clock.ts'
import { type Batch, createEmptyCounts } from '../../../src/domain/batch/batch.ts'
import type { WorkerEvent } from '../../../src/domain/worker/events.ts'
import { StoreDownError } from '../../../src/errors/kinds.ts'
import { runWorker, type WorkerProfile } from '../../../src/usecases/worker/work.ts'

function createQueuedBatch(id: string, baseUrl: string): Batch {
  const counts = { ...createEmptyCounts(), total: 1, pending: 1 }
  return { id, baseUrl, userEmail: 'a@example.com', account: '', counts, halt: undefined } as unknown as Batch
}

const minuteMs = 60_000

/** Starts a worker with a manual clock, a queue, and a function that announces a change of the queue. */
function startWorker(
  names: readonly string[],
  send: (name: string, batchId: string) => Promise<void>,
  {
    refreshRequests = async () => undefined,
    onRead,
  }: Partial<Pick<WorkerProfile, 'refreshRequests'>> & { onRead?: () => void } = {},
) {
  const clock = new ManualClock()
  const stop = new AbortController()
  const queue: Batch[] = []
  const events: WorkerEvent[] = []
  let announce: (() => void) | undefined
  const profiles = names.map((name): WorkerProfile => ({
    name,
    baseUrl: `https://${name}.example.com`,
    email: 'a@example.com',
    account: '',
    async sendBatch(batchId) {
      await send(name, batchId)
      const batch = queue.splice(
        queue.findIndex(({ id }) => id === batchId),
        1,
      )[0]
      return { batch, failure: undefined } as unknown as Awaited<ReturnType<WorkerProfile['sendBatch']>>
    },
    refreshRequests,
    readQuota: async () => [],
    downloadReports: undefined,
  }))
  const ended = runWorker({
    batches: {
      async listQueued() {
        onRead?.()
        return [...queue]
      },
      recordNotQueued: async () => undefined,
    },
    profiles,
    clock,
    purgeExpired: async () => undefined,
    inbox: {
      onArrival: async (wake) => {
        announce = () => wake('batch')
      },
    },
    signal: stop.signal,
    refreshMs: minuteMs,
    once: false,
    onEvent: (event) => events.push(event),
  })
  return {
    clock,
    queue,
    events,
    announce: () => announce?.(),
    async stop() {
      stop.abort()
      await ended
    },
  }
}

test('a batch that the store announces is sent at once; any other at the next poll', async () => {
  const sent: [string, number][] = []
  const worker = startWorker(['acme'], async (_, batchId) => {
    sent.push([batchId, worker.clock.monotonic()])
  })
  await worker.clock.waitUntilSleeping()
  worker.queue.push(createQueuedBatch('told', 'https://acme.example.com'))
  worker.announce()
  await worker.clock.waitUntilSleeping()
  worker.queue.push(createQueuedBatch('untold', 'https://acme.example.com'))
  await worker.clock.advance(1_999)
  expect(sent).toEqual([['told', 0]])
  await worker.clock.advance(1)
  await worker.clock.waitUntilSleeping()
  expect(sent).toEqual([
    ['told', 0],
    ['untold', 2_000],
  ])
  await worker.stop()
})

test('profiles are served in parallel: one that waits does not delay another, and a stop waits for it', async () => {
  const slowSend = Promise.withResolvers<void>()
  const sent: string[] = []
  const worker = startWorker(['acme', 'beta'], async (name, batchId) => {
    if (name === 'acme') await slowSend.promise
    sent.push(`${name} ${batchId}`)
  })
  worker.queue.push(
    createQueuedBatch('1', 'https://acme.example.com'),
    createQueuedBatch('2', 'https://beta.example.com'),
  )
  worker.queue.push(createQueuedBatch('3', 'https://acme.example.com'))
  await worker.clock.waitUntilSleeping()
  expect(sent).toEqual(['beta 2'])
  expect(worker.events.flatMap((each) => (each.name === 'batch-started' ? [each.batchId] : []))).toEqual([
    '1',
    '2',
  ])
  const stopped = worker.stop()
  slowSend.resolve()
  await stopped
  expect(sent).toEqual(['beta 2', 'acme 1'])
  expect(worker.events.at(-1)).toEqual({ name: 'stopped' })
})

test('requests are refreshed each minute, also after a failure', async () => {
  const readAt: number[] = []
  const worker = startWorker(['acme'], () => Promise.resolve(), {
    async refreshRequests() {
      readAt.push(worker.clock.monotonic())
      if (readAt.length === 1) throw new StoreDownError('the store is gone', { hint: '' })
      return undefined
    },
  })
  await worker.clock.waitUntilSleeping()
  for (let second = 0; second < 125; second += 1) {
    await worker.clock.advance(1_000)
    await worker.clock.waitUntilSleeping()
  }
  expect(readAt).toEqual([0, minuteMs, 2 * minuteMs])
  expect(worker.events.flatMap((each) => (each.name === 'refreshed' ? [each.code] : []))).toEqual([
    'io',
    undefined,
    undefined,
  ])
  await worker.stop()
})

test('a store that cannot be read is read again later, and its queued batches are sent', async () => {
  let isGone = true
  const sent: string[] = []
  const worker = startWorker(['acme'], async (_, batchId) => void sent.push(batchId), {
    onRead() {
      if (isGone) throw new StoreDownError('the store is gone', { hint: '' })
    },
  })
  worker.queue.push(createQueuedBatch('1', 'https://acme.example.com'))
  await worker.clock.waitUntilSleeping()
  expect(worker.events).toContainEqual({ name: 'store-waits', code: 'io' })
  isGone = false
  await worker.clock.advance(2_000)
  await worker.clock.waitUntilSleeping()
  expect(sent).toEqual(['1'])
  await worker.stop()
})
