import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { addCounts, type EventCounts, createEventCounts } from '../simulation/event-counts.ts'

export interface SimulationTotals {
  kills: number
  /** People who were ordered twice, less those that the program cannot detect. */
  twice: number
  /** Requests of the service that no row of the store has. */
  lost: number
  eventCounts: EventCounts
  /** Other rules that were broken, one line for each seed. */
  broken: string[]
}

const seedsPerChild = 100

/** Runs seeds of `program` (run.ts or postgres.ts of test/simulation) in `processCount` parallel processes. */
export async function runSimulations(
  seedCount: number,
  firstSeed: number,
  processCount: number,
  program: 'run' | 'postgres' = 'run',
): Promise<SimulationTotals> {
  const total: SimulationTotals = {
    kills: 0,
    twice: 0,
    lost: 0,
    eventCounts: createEventCounts(),
    broken: [],
  }
  const offsets = Array.from(
    { length: Math.ceil(seedCount / seedsPerChild) },
    (_, index) => index * seedsPerChild,
  )
  const worker = async (): Promise<void> => {
    for (let offset = offsets.shift(); offset !== undefined; offset = offsets.shift()) {
      const count = Math.min(seedsPerChild, seedCount - offset)
      const path = join(import.meta.dirname, '..', 'simulation', `${program}.ts`)
      const stdout = await runAndReadOutput([path, `${count}`, `${firstSeed + offset}`])
      const lines = stdout.trimEnd().split('\n')
      const { kills, twice, lost, eventCounts } = JSON.parse(lines.pop() ?? '') as SimulationTotals
      total.kills += kills
      total.twice += twice
      total.lost += lost
      addCounts(total.eventCounts, eventCounts)
      total.broken.push(...lines)
    }
  }
  await Promise.all(Array.from({ length: processCount }, worker))
  return total
}

/**
 * Runs a simulation and returns its stdout, whose last line is the totals in JSON. Throws an error with
 * stderr if stdout has no totals.
 */
export async function runAndReadOutput(argv: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  await once(child, 'close')
  if (!/^\{.*\}\n$/m.test(output.stdout)) throw new Error(`${argv.join(' ')}: ${output.stderr}`)
  return output.stdout
}
