import { createGovernor } from '../../../src/usecases/quota/governor.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { seeded } from '../../harness/seeded-random.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { createTemporaryStores } from '../../store/ledger/temporary-stores.ts'

export const windows = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]
export const processCount = 8

export interface HourOptions {
  seed: number
  /** The sandbox's rule for where a window starts. */
  windowStart: 'first-call' | 'clock'
  /** Calls a minute that another program makes with the key; the store does not count them. */
  otherCallsPerMinute?: number
}

export interface Tally {
  /** Number of calls that the service answered without a 429. */
  answered: number
  /** For each 429 the end of the window, computed from its Retry-After; wall time in ms. */
  refusedWindowEnds: number[]
}

/**
 * Eight processes, each with its own connection to one store, make calls with one key until the
 * virtual hour is over, at a random phase and with random latencies.
 */
export async function simulateHour({
  seed,
  windowStart,
  otherCallsPerMinute = 0,
}: HourOptions): Promise<Tally> {
  const random = seeded(seed)
  const clock = new ManualClock({ now: Date.UTC(2026, 10, 21, 9) + Math.floor(random() * 3_600_000) })
  const sandbox = createSandbox({ clock, seed, rules: { 'quota-window-start': windowStart } })
  const { apiKey, userEmail } = sandbox.credentials
  const headers = { 'X-Service-API-Key': apiKey, 'X-Service-User-Email': userEmail }
  const call = async (): Promise<Response> =>
    sandbox.fetch(new Request('http://127.0.0.1/v1/users', { headers }))
  const tally: Tally = { answered: 0, refusedWindowEnds: [] }
  const home = createTemporaryStores(5000)
  const end = clock.now() + 3_600_000
  const runProcess = async (): Promise<void> => {
    const { quota } = await home.openStore()
    const account = quota.account('http://127.0.0.1', apiKey)
    const governor = createGovernor({ quota, account, windows, clock })
    while (clock.now() < end && tally.answered < 1000) {
      await governor.claim('create')
      await clock.sleep(20 + random() * 400)
      const answer = await call()
      if (answer.status === 429) {
        const seconds = Number(answer.headers.get('Retry-After'))
        tally.refusedWindowEnds.push(clock.now() + seconds * 1000)
        await governor.recordThrottle(seconds)
      } else {
        tally.answered += 1
      }
      await clock.sleep(random() * 100)
    }
  }
  const callAsOtherProgram = async (): Promise<void> => {
    while (clock.now() < end && tally.answered < 1000) {
      await clock.sleep(60_000 / otherCallsPerMinute)
      await call()
    }
  }
  const runs = Array.from({ length: processCount }, runProcess)
  if (otherCallsPerMinute > 0) runs.push(callAsOtherProgram())
  const all = { over: false }
  void Promise.all(runs).then(() => (all.over = true))
  while (!all.over) {
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(250)
  }
  await Promise.all(runs)
  sandbox.close()
  await home.remove()
  return tally
}

/** Returns the number of 429s of each window, in the order of the windows. */
export function countRefusedByWindow({ refusedWindowEnds }: Tally): number[] {
  const ends: { end: number; count: number }[] = []
  for (const end of refusedWindowEnds) {
    const known = ends.find((each) => Math.abs(each.end - end) <= 2000)
    if (known === undefined) ends.push({ end, count: 1 })
    else known.count += 1
  }
  return ends.map(({ count }) => count)
}
