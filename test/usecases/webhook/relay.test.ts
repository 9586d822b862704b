import { expect, onTestFinished, test } from 'vitest'

import { eventBody, requestIds } from '../../harness/deliveries.ts'
import type { InboxEvent } from '../../../src/domain/webhook/inbox-event.ts'
import { read } from '../../../src/domain/webhook/received.ts'
import type { Delivered } from '../../../src/domain/webhook/retry.ts'
import { IoError } from '../../../src/errors/kinds.ts'
import { systemClock } from '../../../src/host/clock.ts'
import type { Inbox } from '../../../src/store/ledger/inbox.ts'
import type { Hold } from '../../../src/store/ledger/holds.ts'
import { Relay } from '../../../src/usecases/webhook/relay.ts'
import { scratch } from '../../store/ledger/scratch.ts'

const locked = new IoError('the store is locked')

/** A real inbox with two events of two requests, whose notes of what was taken fail `times` times. */
async function relayed(times: number, deliver: (event: InboxEvent) => Promise<Delivered>) {
  const place = scratch()
  onTestFinished(() => place.end())
  const { inbox } = await place.store()
  const bodies = [eventBody(requestIds[0]), eventBody(requestIds[1])]
  await inbox.add(
    bodies.map((body) => read(Buffer.from(body), 'a'.repeat(64), 1)),
    true,
  )
  let left = times
  const forwarded: Inbox['forwarded'] = async (...note) => {
    if (left === 0) return inbox.forwarded(...note)
    left -= 1
    throw locked
  }
  const relay = new Relay({
    inbox: inPlaceOf(inbox, forwarded),
    clock: systemClock,
    deliver,
    signal: new AbortController().signal,
    onDelivered: () => undefined,
  })
  return { inbox, run: (hold?: Pick<Hold, 'isLost'>) => relay.run(() => true, hold) }
}

function inPlaceOf(inbox: Inbox, forwarded: Inbox['forwarded']): Inbox {
  return new Proxy(inbox, {
    get(target, name: keyof Inbox) {
      const method = target[name] as (...given: unknown[]) => unknown
      return name === 'forwarded' ? forwarded : method.bind(target)
    },
  })
}

test('what was acknowledged but could not be recorded is recorded later and never forwarded twice', async () => {
  const handed: number[] = []
  const { inbox, run } = await relayed(2, async ({ id }) => {
    handed.push(id)
    return { taken: true, answer: '204' }
  })
  await expect(run()).rejects.toBe(locked)
  expect(await inbox.get(1)).toMatchObject({ forward: 'waiting' })
  await run()
  expect(handed).toEqual([1, 2])
  for (const id of [1, 2]) {
    expect(await inbox.get(id)).toMatchObject({ forward: 'done', attempts: 1, lastAnswer: '204' })
  }
})

test('a store that fails ends the relay only when nothing is in flight any more', async () => {
  const slow = Promise.withResolvers<Delivered>()
  const { run } = await relayed(1, async ({ id }) =>
    id === 1 ? { taken: true, answer: '204' } : slow.promise,
  )
  let hasEnded = false
  const ended = run().catch(() => {
    hasEnded = true
  })
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => void setImmediate(done))
  expect(hasEnded).toBe(false)
  slow.resolve({ taken: true, answer: '204' })
  await ended
  expect(hasEnded).toBe(true)
})

test('nothing is forwarded once another may have taken over, and the rest is when it is not so', async () => {
  const handed: number[] = []
  const { run } = await relayed(0, async ({ id }) => {
    handed.push(id)
    return { taken: true, answer: '204' }
  })
  expect(await run({ isLost: () => true })).toBe('lost')
  expect(handed).toEqual([])
  expect(await run({ isLost: () => false })).toBe('done')
  expect(handed).toEqual([1, 2])
})
