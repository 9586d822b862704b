import { describe, expect, test } from 'vitest'

import { governor } from '../../../src/domain/quota/governor.ts'
import { createSandbox } from '../../../src/sandbox/sandbox.ts'
import { seeded } from '../../harness/luck.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { scratch } from '../../store/ledger/scratch.ts'

const windows = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]
const processes = 8
const seeds = Array.from({ length: 10 }, (_, at) => at + 1)

interface Tally {
  answered: number[]
  refused: number[]
}

/**
 * Eight processes, each with a connection of its own to one store, make calls with one key until the
 * virtual hour is over. `before`: calls that somebody else made with the key, whom the store knows nothing of.
 */
async function anHour(seed: number, start: 'first-call' | 'clock', before: number): Promise<Tally> {
  const random = seeded(seed)
  const clock = new ManualClock({ now: Date.UTC(2026, 10, 21, 9) + Math.floor(random() * 3_600_000) })
  const sandbox = createSandbox({ clock, seed, rules: { 'quota-window-start': start } })
  const { apiKey, userEmail } = sandbox.credentials
  const headers = { 'X-Service-API-Key': apiKey, 'X-Service-User-Email': userEmail }
  const call = async (): Promise<Response> =>
    sandbox.fetch(new Request('http://127.0.0.1/v1/users', { headers }))
  const tally: Tally = { answered: [], refused: [] }
  const place = scratch(5000)
  for (let made = 0; made < before; made += 1) await call()
  await clock.advance(Math.floor(random() * 30_000))
  const end = clock.now() + 3_600_000
  const loop = async (): Promise<void> => {
    const { quota } = await place.store()
    const account = quota.account('http://127.0.0.1', apiKey)
    const pace = governor({ quota, account, windows, clock })
    while (clock.now() < end && tally.answered.length < 1000) {
      await pace.take('create')
      await clock.sleep(20 + random() * 400)
      const answer = await call()
      if (answer.status === 429) {
        tally.refused.push(clock.now())
        await pace.throttled(Number(answer.headers.get('Retry-After')))
      } else {
        tally.answered.push(clock.now())
      }
      await clock.sleep(random() * 100)
    }
  }
  const loops = Array.from({ length: processes }, loop)
  const all = { over: false }
  void Promise.all(loops).then(() => (all.over = true))
  while (!all.over) {
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(250)
  }
  await Promise.all(loops)
  sandbox.close()
  await place.end()
  return tally
}

/** The most refusals in any minute. */
function mostInAMinute(times: readonly number[]): number {
  return Math.max(0, ...times.map((at) => times.filter((other) => other >= at && other < at + 60_000).length))
}

describe('eight processes on one store and one key, an hour on a virtual clock', () => {
  test.each(seeds)('seed %i: an hour’s quota is used, and nothing is refused', async (seed) => {
    const tally = await anHour(seed, seed % 2 === 0 ? 'clock' : 'first-call', 0)
    expect(tally.answered.length, `seed ${seed}`).toBeGreaterThanOrEqual(970)
    expect(tally.refused, `seed ${seed}`).toEqual([])
  })

  test.each(seeds.slice(0, 4))(
    'seed %i: a key that others use as well: a 429 stops all of them, none goes on asking',
    async (seed) => {
      const tally = await anHour(seed, seed % 2 === 0 ? 'clock' : 'first-call', 40)
      expect(mostInAMinute(tally.refused), `seed ${seed}`).toBeLessThanOrEqual(processes)
      expect(tally.answered.length, `seed ${seed}`).toBeGreaterThanOrEqual(930)
    },
  )
})
