import { describe, expect, test } from 'vitest'

import { addCounts, noEvents } from './event-counts.ts'
import { type Mutant, mutants, unchanged } from './mutants.ts'
import { simulate } from './simulate.ts'

const seeds = 20
const mutantSeeds = 80
const perTest = 20

const replay = (seed: number): string => `again: node test/simulation/run.ts 1 ${seed}`

describe('several processes on one store file with random faults by seed: kills at every step, cut connections, every fault of the service, files copied, restored (also while they are used), cut and torn, settings copied, clocks set, packages replaced, people purged, and people who decide', () => {
  const starts = Array.from({ length: seeds / perTest }, (_, at) => at * perTest + 1)
  test.each(starts)(
    `${perTest} seeds from %i: no person is ordered twice, no order is lost`,
    async (first) => {
      const totals = { kills: 0, damages: 0, closed: 0, people: 0, orders: 0 }
      const eventCounts = noEvents()
      for (let seed = first; seed < first + perTest; seed += 1) {
        const { broken, damages, ...more } = await simulate(seed)
        expect({ broken, damages, replay: replay(seed) }).toEqual({
          broken: [],
          damages,
          replay: replay(seed),
        })
        totals.damages += damages.length
        addCounts(eventCounts, more.eventCounts)
        for (const name of ['kills', 'closed', 'people', 'orders'] as const) totals[name] += more[name]
      }
      console.log(
        `simulation, seeds ${first} to ${first + perTest - 1}: 0 ordered twice, 0 lost; ${JSON.stringify({ ...totals, eventCounts })}`,
      )
      expect(totals.kills).toBeGreaterThan(perTest / 2)
      expect(totals.closed).toBeGreaterThan(0)
      for (const what of [
        'restored between rounds',
        'restored during a run',
        'settings copied',
        'clocks set',
      ] as const)
        expect([what, eventCounts[what] > 0]).toEqual([what, true])
    },
    120_000,
  )
})

test.each([33, 108_052])(
  'seed %i makes the same calls, however long the machine takes for one',
  async (seed) => {
    const { trace, orders, ...result } = await simulate(seed)
    const slow: Mutant = (parts) => ({
      ...parts,
      api: {
        ...parts.api,
        async createRequest(...args) {
          for (let left = 5; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve))
          return parts.api.createRequest(...args)
        },
      },
    })
    expect(await simulate(seed, slow)).toEqual({ ...result, orders, trace })
    expect(orders).toBeGreaterThan(0)
  },
)

describe('the simulation detects a program with this mutation:', () => {
  test.each(Object.keys(mutants))(
    '%s',
    async (name) => {
      const mutant = mutants[name] ?? unchanged
      let caught: number | undefined
      for (let seed = 1; seed <= mutantSeeds && caught === undefined; seed += 1) {
        if ((await simulate(seed, mutant)).broken.length > 0) caught = seed
      }
      expect({ name, caught }).toEqual({ name, caught: expect.any(Number) as number })
    },
    120_000,
  )
})
