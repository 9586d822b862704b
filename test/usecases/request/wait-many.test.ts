import { expect, test } from 'vitest'

import { simulateWait } from './waiting.ts'

const hour = 3_600_000

test(
  'a wait for 500 requests with a receiver makes fewer reads and finds changes ten times sooner',
  { timeout: 2 * 60_000 },
  async () => {
    const options = { seed: 12, requests: 500, spanMs: 6 * hour }
    const { reads, lateness, readsAfterFinalStatus } = await simulateWait({ ...options, receiver: 'runs' })
    const withoutReceiver = await simulateWait({ ...options, receiver: 'none' })
    expect(readsAfterFinalStatus).toBe(0)
    expect(reads.length).toBeLessThan(withoutReceiver.reads.length)
    const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
    expect(median(lateness)).toBeLessThan(median(withoutReceiver.lateness) / 10)
  },
)
