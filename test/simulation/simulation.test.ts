import { describe, expect, test } from 'vitest'

import { mutants, sound } from './mutants.ts'
import { simulate } from './simulate.ts'

const seeds = 1000
const mutantSeeds = 120
const perTest = 100

const replay = (seed: number): string => `again: node test/simulation/run.ts 1 ${seed}`

describe('a batch in a seeded storm: kills at every step, cut connections, every fault of the service, several runners', () => {
  const starts = Array.from({ length: seeds / perTest }, (_, at) => at * perTest + 1)
  test.each(starts)(`${perTest} seeds from %i: nobody is ordered twice, nothing is lost`, async (first) => {
    const totals = { kills: 0, rows: 0, accepted: 0, unknown: 0 }
    for (let seed = first; seed < first + perTest; seed += 1) {
      const { broken, kills, counts } = await simulate(seed, sound)
      expect({ broken, replay: replay(seed) }).toEqual({ broken: [], replay: replay(seed) })
      totals.kills += kills
      totals.rows += counts.total
      totals.accepted += counts.accepted
      totals.unknown += counts.unknown
    }
    console.log(
      `simulation, seeds ${first} to ${first + perTest - 1}: 0 ordered twice, 0 lost; ${JSON.stringify(totals)}`,
    )
    expect(totals.kills).toBeGreaterThan(perTest / 2)
  })
})

describe('the simulation notices a program that', () => {
  test.each(Object.keys(mutants))('does this: %s', async (name) => {
    const mutant = mutants[name] ?? sound
    let caught: number | undefined
    for (let seed = 1; seed <= mutantSeeds && caught === undefined; seed += 1) {
      if ((await simulate(seed, mutant)).broken.length > 0) caught = seed
    }
    expect({ name, caught }).toEqual({ name, caught: expect.any(Number) as number })
  })
})
