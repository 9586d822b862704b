import { expect, test } from 'vitest'

import { forgetting } from './forgetting.ts'

const seeds = 60
const perTest = 20

const starts = Array.from({ length: seeds / perTest }, (_, at) => at * perTest + 1)

test.each(starts)(
  `${perTest} stores from seed %i, killed, copied, put back, cut and torn: nobody twice, nobody lost`,
  async (first) => {
    const totals = { closed: 0, kills: 0 }
    for (let seed = first; seed < first + perTest; seed += 1) {
      const { broken, harmed, closed, kills } = await forgetting(seed)
      expect({ seed, harmed, broken }).toEqual({ seed, harmed, broken: [] })
      totals.closed += closed
      totals.kills += kills
    }
    console.log(`forgetting, seeds ${first} to ${first + perTest - 1}: ${JSON.stringify(totals)}`)
    expect(totals.closed).toBeGreaterThan(perTest / 4)
    expect(totals.kills).toBeGreaterThan(perTest / 4)
  },
  120_000,
)
