import { describe, expect, test } from 'vitest'

import { sampleOf } from '../../harness/share.ts'
import { simulateHour, processCount, countRefusedByWindow } from './hour.ts'

const seeds = Array.from({ length: 12 }, (_, at) => at + 1)
const windowStartFor = (seed: number): 'clock' | 'first-call' => (seed % 2 === 0 ? 'clock' : 'first-call')

describe('eight processes on one store and one key, an hour on a virtual clock', () => {
  test.each(sampleOf(seeds, 4))(
    'seed %i: at least 97% of the hour’s quota is used, nothing is refused',
    async (seed) => {
      const tally = await simulateHour({ seed, windowStart: windowStartFor(seed) })
      expect(tally.answered, `seed ${seed}`).toBeGreaterThanOrEqual(970)
      expect(tally.refusedWindowEnds, `seed ${seed}`).toEqual([])
    },
  )

  test.each(sampleOf(seeds.slice(0, 4), 1))(
    'seed %i: if other programs use the key too, at most one call per window gets a 429',
    // An hour of a virtual clock, on a machine that is busy with other tests.
    { timeout: 120_000 },
    async (seed) => {
      const tally = await simulateHour({ seed, windowStart: windowStartFor(seed), otherCallsPerMinute: 30 })
      const [first = 0, ...later] = countRefusedByWindow(tally)
      // No process knows of the other calls yet, so up to one call of each process may be in transit.
      expect(first, `seed ${seed}`).toBeLessThanOrEqual(processCount)
      expect(Math.max(0, ...later), `seed ${seed}: ${later.join(' ')}`).toBeLessThanOrEqual(1)
    },
  )
})
