import { describe, expect, test } from 'vitest'

import { parseRetryAfter } from '../../../src/contract/headers.ts'
import { type Governor, createGovernor } from '../../../src/usecases/quota/governor.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { createTemporaryStores } from '../../store/ledger/temporary-stores.ts'
import { windows } from './hour.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

// The tests of this file whose titles match are the row `clock` of the fault table (test/resilience/rows.ts).
recordForFaultTable('clock', { mustNotHappen: 'early sends', titles: /by a day/ })

const day = 86_400_000
const url = 'https://api.example.com'

/** Runs `work` with one store and a clock whose sleeps end at once; each process has its own connection. */
async function runOnOneStore(
  work: (process: () => Promise<Governor>, clock: ManualClock) => Promise<void>,
): Promise<void> {
  const home = createTemporaryStores(5000)
  const clock = new ManualClock({ auto: true })
  try {
    await work(async () => {
      const { quota } = await home.openStore()
      return createGovernor({ quota, account: quota.account(url, 'k'.repeat(32)), windows, clock })
    }, clock)
  } finally {
    await home.remove()
  }
}

async function claimCalls(processGovernor: Governor, count: number): Promise<void> {
  for (let claimedCount = 0; claimedCount < count; claimedCount += 1) await processGovernor.claim('create')
}

describe('a clock that jumps', () => {
  test('forward by a day: no early call, neither after a full window nor after a 429', async () =>
    runOnOneStore(async (process, clock) => {
      const processGovernor = await process()
      await claimCalls(processGovernor, 60)
      clock.jump(day)
      let startedAt = clock.monotonic()
      await processGovernor.claim('create')
      expect(clock.monotonic() - startedAt).toBeGreaterThan(60_000)
      await processGovernor.recordThrottle(1800)
      startedAt = clock.monotonic()
      clock.jump(day)
      await processGovernor.claim('create')
      expect(clock.monotonic() - startedAt).toBe(1_800_000)
    }))

  test('back by a day: no wait is longer than the time that the service stated, or than a window', async () =>
    runOnOneStore(async (process, clock) => {
      const processGovernor = await process()
      await claimCalls(processGovernor, 60)
      clock.jump(-day)
      await processGovernor.claim('create')
      expect(clock.monotonic()).toBeLessThan(62_000)
      await processGovernor.recordThrottle(30)
      clock.jump(-day)
      const startedAt = clock.monotonic()
      await (await process()).claim('create')
      expect(clock.monotonic() - startedAt).toBe(30_000)
    }))

  test('back and forth while another process waits: the process waits once', async () =>
    runOnOneStore(async (process, clock) => {
      const [one, other] = [await process(), await process()]
      await one.recordThrottle(100)
      clock.jump(-day)
      await other.claim('poll')
      clock.jump(day)
      const startedAt = clock.monotonic()
      await one.claim('create')
      expect(clock.monotonic() - startedAt).toBeLessThanOrEqual(1000)
    }))
})

describe('what one process received applies to the others', () => {
  test('at once, and after it has ended', async () =>
    runOnOneStore(async (process, clock) => {
      await (await process()).recordThrottle(42)
      const next = await process()
      expect((await next.status()).notBefore - clock.now()).toBe(42_000)
      await next.claim('poll')
      expect(clock.sleeps).toEqual([42_000])
    }))

  test('a wait that exceeds the budget is refused, and no call is counted', async () =>
    runOnOneStore(async (process) => {
      const processGovernor = await process()
      await processGovernor.recordThrottle(42)
      await expect(processGovernor.claim('create', { budgetMs: 41_000 })).rejects.toMatchObject({
        code: 'throttled',
        retryAfter: 42,
      })
      expect((await processGovernor.status()).windows[1]).toMatchObject({ used: 0 })
    }))

  test('the store contains neither the key nor a hash that others could compute', async () =>
    runOnOneStore(async () => {
      const [one, other] = [createTemporaryStores(5000), createTemporaryStores(5000)]
      const accounts = await Promise.all(
        [one, other].map(async (home) => (await home.openStore()).quota.account(url, 'k'.repeat(32))),
      )
      expect(accounts[0]).not.toContain('k'.repeat(32))
      expect(accounts[0]).not.toBe(accounts[1])
      await Promise.all([one.remove(), other.remove()])
    }))
})

/** The Retry-After of a 429, and the resulting wait in seconds. */
const table: [header: string | undefined, seconds: number][] = [
  ['0', 1],
  ['1', 1],
  ['59', 59],
  ['60', 60],
  ['3600', 3600],
  ['3660', 3660],
  ['3661', 60],
  ['99999999999999999999', 60],
  ['-1', 60],
  ['-0', 60],
  ['0.5', 60],
  ['1e3', 60],
  ['0x10', 60],
  ['NaN', 60],
  ['Infinity', 60],
  ['soon', 60],
  ['', 60],
  [' 7 ', 7],
  ['Fri, 21 Nov 2026 10:00:00 GMT', 60],
  [undefined, 60],
]

test.each(table)('Retry-After %j leads to a wait of %i s each time', async (header, seconds) =>
  runOnOneStore(async (process, clock) => {
    const processGovernor = await process()
    for (let refusal = 0; refusal < 5; refusal += 1) {
      const parsed = parseRetryAfter(header)
      await processGovernor.recordThrottle(parsed.seconds, parsed.isStated)
      await processGovernor.claim('create')
    }
    expect(clock.monotonic()).toBeGreaterThanOrEqual(5 * seconds * 1000)
    expect(clock.monotonic()).toBeLessThanOrEqual(5 * seconds * 1000 + 5000)
    expect(clock.sleeps.length).toBeLessThanOrEqual(10)
  }),
)
