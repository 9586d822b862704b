import { describe, expect, test } from 'vitest'

import { addCounts, createEventCounts } from './event-counts.ts'
import { type Mutant, mutants, noMutation } from './mutants.ts'
import { simulate } from './simulate.ts'

const seedCount = 20
const mutantSeedCount = 80
const seedsPerTest = 20

const replayCommand = (seed: number): string => `again: node test/simulation/run.ts 1 ${seed}`

describe('several processes on one store file with random faults by seed: kills at every step, cut connections, every fault of the service, files copied, restored (also while they are used), cut and torn, settings copied, clocks set, packages replaced, people purged, and decisions by users', () => {
  const firstSeeds = Array.from({ length: seedCount / seedsPerTest }, (_, at) => at * seedsPerTest + 1)
  test.each(firstSeeds)(
    `${seedsPerTest} seeds from %i: no person is ordered twice, no order is lost`,
    async (first) => {
      const totals = { kills: 0, damages: 0, closed: 0, people: 0, orders: 0 }
      const eventCounts = createEventCounts()
      for (let seed = first; seed < first + seedsPerTest; seed += 1) {
        const { broken, storeDamages, ...result } = await simulate(seed)
        expect({ broken, storeDamages, replay: replayCommand(seed) }).toEqual({
          broken: [],
          storeDamages,
          replay: replayCommand(seed),
        })
        totals.damages += storeDamages.length
        addCounts(eventCounts, result.eventCounts)
        for (const name of ['kills', 'closed', 'people', 'orders'] as const) totals[name] += result[name]
      }
      console.log(
        `simulation, seeds ${first} to ${first + seedsPerTest - 1}: 0 ordered twice, 0 lost; ${JSON.stringify({ ...totals, eventCounts })}`,
      )
      expect(totals.kills).toBeGreaterThan(seedsPerTest / 2)
      expect(totals.closed).toBeGreaterThan(0)
      for (const event of [
        'restored between rounds',
        'restored during a run',
        'settings copied',
        'clocks set',
        'recorded for held rows',
      ] as const)
        expect([event, eventCounts[event] > 0]).toEqual([event, true])
    },
    120_000,
  )
})

test.each([33, 108_052])(
  'seed %i makes the same calls, however long the machine takes for a call',
  async (seed) => {
    const { trace, orders, ...result } = await simulate(seed)
    const slowApi: Mutant = (parts) => ({
      ...parts,
      api: {
        ...parts.api,
        async createRequest(...args) {
          for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
          return parts.api.createRequest(...args)
        },
      },
    })
    expect(await simulate(seed, slowApi)).toEqual({ ...result, orders, trace })
    expect(orders).toBeGreaterThan(0)
  },
)

/** The lowest seed that detected each mutant when it was last searched for. It is tried first, then all others. */
const detectingSeeds: Readonly<Record<string, number>> = {
  'resend after a crash': 17,
  'journal after sending': 4,
  'NORMAL instead of FULL': 5,
  'retry on 5xx': 1,
  'reuse of keep-alive connections': 25,
  'lease expiry back to pending': 3,
}

describe('the simulation detects a program with this mutation:', () => {
  test.each(Object.keys(mutants))(
    '%s',
    async (name) => {
      const mutant = mutants[name] ?? noMutation
      const seeds = Array.from({ length: mutantSeedCount }, (_, at) => at + 1)
      const knownSeed = detectingSeeds[name]
      let failingSeed: number | undefined
      for (const seed of new Set([...(knownSeed === undefined ? [] : [knownSeed]), ...seeds])) {
        if ((await simulate(seed, mutant)).broken.length > 0) failingSeed = seed
        if (failingSeed !== undefined) break
      }
      expect({ name, failingSeed }).toEqual({ name, failingSeed: expect.any(Number) as number })
    },
    120_000,
  )
})
