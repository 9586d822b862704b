import { setImmediate } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import type { ReceivedEvent } from '../../../src/domain/webhook/inbox-event.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { receiver } from '../../../src/usecases/webhook/receive.ts'

const key = signingKey('a-secret-of-a-test')

/** A receiver over an inbox whose commits end when the test says so. */
function receiving() {
  const commits: { events: readonly ReceivedEvent[]; end: (error?: Error) => void }[] = []
  let wake: (() => void) | undefined
  const take = receiver({
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
    forward: false,
    onKept: () => undefined,
    onRefused: () => undefined,
    onLost: () => undefined,
  })
  const deliver = async (text: string): Promise<number> => {
    const body = Buffer.from(text)
    const answer = await take({ method: 'POST', path: '/', headers: () => [sign(body, key)], body })
    return answer.status
  }
  const commit = async (at: number) => {
    if (commits[at] === undefined) await new Promise<void>((resolve) => (wake = resolve))
    return commits[at] as (typeof commits)[number]
  }
  return { commits, commit, deliver }
}

test('deliveries that arrive while others are committed share the next commit, and each is answered after its own', async () => {
  const { commits, commit, deliver } = receiving()
  const first = deliver('{"n": 1}')
  const before = await commit(0)
  const others = [deliver('{"n": 2}'), deliver('{"n": 3}')]
  await setImmediate()
  expect(commits).toHaveLength(1)
  before.end()
  expect(await first).toBe(204)
  const next = await commit(1)
  expect(next.events.map(({ body }) => Buffer.from(body).toString())).toEqual(['{"n": 2}', '{"n": 3}'])
  next.end()
  expect(await Promise.all(others)).toEqual([204, 204])
})

test('deliveries of a commit that failed are not acknowledged, and later ones are kept', async () => {
  const { commit, deliver } = receiving()
  const lost = [deliver('{"n": 1}'), deliver('{"n": 2}')]
  const failing = await commit(0)
  failing.end(new Error('the disk is full'))
  expect(await Promise.all(lost)).toEqual([500, 500])
  const later = deliver('{"n": 3}')
  const next = await commit(1)
  next.end()
  expect(await later).toBe(204)
})
