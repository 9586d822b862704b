import { setImmediate } from 'node:timers/promises'

import { expect, onTestFinished, test } from 'vitest'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import type { ForwardResult } from '../../../src/domain/webhook/delivery.ts'
import type { InboxEvent, ReceivedEvent } from '../../../src/domain/webhook/events.ts'
import { readEvent } from '../../../src/domain/webhook/read-event.ts'
import { IoError } from '../../../src/errors/kinds.ts'
import { systemClock } from '../../../src/host/clock.ts'
import type { Lease } from '../../../src/store/ledger/store-part.ts'
import type { Inbox } from '../../../src/store/ledger/inbox.ts'
import { createReceiver, Relay } from '../../../src/usecases/webhook/listen.ts'
import { eventBody, requestIds } from '../../harness/deliveries.ts'
import { createTemporaryStores } from '../../store/ledger/temporary-stores.ts'

const key = signingKey('a-secret-of-a-test')

/** Returns a receiver with an inbox whose commits the test completes. */
function createTestReceiver() {
  const commits: { events: readonly ReceivedEvent[]; end: (error?: Error) => void }[] = []
  let wake: (() => void) | undefined
  const receive = createReceiver({
    inbox: {
      add: (events) =>
        new Promise((resolve, reject) => {
          const added = events.map((_, at) => ({ id: at + 1, repeated: false }))
          commits.push({ events, end: (error) => (error === undefined ? resolve(added) : reject(error)) })
          wake?.()
        }),
    },
    key,
    clock: systemClock,
    path: '/',
    shouldForward: false,
    onStored: () => undefined,
    onRefused: () => undefined,
    onUnstored: () => undefined,
  })
  const deliver = async (text: string): Promise<number> => {
    const body = Buffer.from(text)
    const answer = await receive({ method: 'POST', path: '/', headers: () => [sign(body, key)], body })
    return answer.status
  }
  const commit = async (at: number) => {
    if (commits[at] === undefined) await new Promise<void>((resolve) => (wake = resolve))
    return commits[at] as (typeof commits)[number]
  }
  return { commits, commit, deliver }
}

test('deliveries during a commit share the next commit, and each is answered after its own commit', async () => {
  const { commits, commit, deliver } = createTestReceiver()
  const first = deliver('{"n": 1}')
  const firstCommit = await commit(0)
  const others = [deliver('{"n": 2}'), deliver('{"n": 3}')]
  await setImmediate()
  expect(commits).toHaveLength(1)
  firstCommit.end()
  expect(await first).toBe(204)
  const next = await commit(1)
  expect(next.events.map(({ body }) => Buffer.from(body).toString())).toEqual(['{"n": 2}', '{"n": 3}'])
  next.end()
  expect(await Promise.all(others)).toEqual([204, 204])
})

test('deliveries of a failed commit are not acknowledged, and later ones are stored', async () => {
  const { commit, deliver } = createTestReceiver()
  const failedDeliveries = [deliver('{"n": 1}'), deliver('{"n": 2}')]
  const failing = await commit(0)
  failing.end(new Error('the disk is full'))
  expect(await Promise.all(failedDeliveries)).toEqual([500, 500])
  const later = deliver('{"n": 3}')
  const next = await commit(1)
  next.end()
  expect(await later).toBe(204)
})

const locked = new IoError('the store is locked')

/** Returns a relay and a real inbox with two events, whose recordForwarded fails `times` times. */
async function createRelay(times: number, deliver: (event: InboxEvent) => Promise<ForwardResult>) {
  const home = createTemporaryStores()
  onTestFinished(() => home.remove())
  const { inbox } = await home.openStore()
  const bodies = [eventBody(requestIds[0]), eventBody(requestIds[1])]
  await inbox.add(
    bodies.map((body) => readEvent(Buffer.from(body), 'a'.repeat(64), 1)),
    true,
  )
  let remainingFailures = times
  const forwarded: Inbox['recordForwarded'] = async (...note) => {
    if (remainingFailures === 0) return inbox.recordForwarded(...note)
    remainingFailures -= 1
    throw locked
  }
  const relay = new Relay({
    inbox: withForwarded(inbox, forwarded),
    clock: systemClock,
    deliver,
    signal: new AbortController().signal,
    onDelivered: () => undefined,
  })
  return { inbox, run: (lease?: Pick<Lease, 'isLost'>) => relay.run(() => true, lease) }
}

function withForwarded(inbox: Inbox, forwarded: Inbox['recordForwarded']): Inbox {
  return new Proxy(inbox, {
    get(target, name: keyof Inbox) {
      const method = target[name] as (...given: unknown[]) => unknown
      return name === 'recordForwarded' ? forwarded : method.bind(target)
    },
  })
}

test('an acknowledged event that could not be recorded is recorded later and not forwarded twice', async () => {
  const deliveredIds: number[] = []
  const { inbox, run } = await createRelay(2, async ({ id }) => {
    deliveredIds.push(id)
    return { isAccepted: true, answer: '204' }
  })
  await expect(run()).rejects.toBe(locked)
  expect(await inbox.get(1)).toMatchObject({ forward: 'waiting' })
  await run()
  expect(deliveredIds).toEqual([1, 2])
  for (const id of [1, 2]) {
    expect(await inbox.get(id)).toMatchObject({ forward: 'done', attempts: 1, lastAnswer: '204' })
  }
})

test('if the store fails, the relay ends only after the deliveries in flight', async () => {
  const slowDelivery = Promise.withResolvers<ForwardResult>()
  const { run } = await createRelay(1, async ({ id }) =>
    id === 1 ? { isAccepted: true, answer: '204' } : slowDelivery.promise,
  )
  let hasEnded = false
  const ended = run().catch(() => {
    hasEnded = true
  })
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  expect(hasEnded).toBe(false)
  slowDelivery.resolve({ isAccepted: true, answer: '204' })
  await ended
  expect(hasEnded).toBe(true)
})

test('nothing is forwarded with a lost lease, and all events are with a valid one', async () => {
  const deliveredIds: number[] = []
  const { run } = await createRelay(0, async ({ id }) => {
    deliveredIds.push(id)
    return { isAccepted: true, answer: '204' }
  })
  expect(await run({ isLost: () => true })).toBe('lost')
  expect(deliveredIds).toEqual([])
  expect(await run({ isLost: () => false })).toBe('done')
  expect(deliveredIds).toEqual([1, 2])
})
