import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { addCounts, type EventCounts, noEvents } from '../simulation/event-counts.ts'

export interface SimulationTotals {
  kills: number
  twice: number
  lost: number
  eventCounts: EventCounts
  /** Other rules that were broken, one line for each seed. */
  broken: string[]
}

const seedsPerChild = 100

/** Runs seeds of test/simulation in `processes` parallel processes. */
export async function runSimulations(
  seeds: number,
  first: number,
  processes: number,
  store: 'run' | 'postgres' = 'run',
): Promise<SimulationTotals> {
  const total: SimulationTotals = { kills: 0, twice: 0, lost: 0, eventCounts: noEvents(), broken: [] }
  const starts = Array.from({ length: Math.ceil(seeds / seedsPerChild) }, (_, at) => at * seedsPerChild)
  const worker = async (): Promise<void> => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const count = Math.min(seedsPerChild, seeds - start)
      const program = join(import.meta.dirname, '..', 'simulation', `${store}.ts`)
      const printed = await runAndReadOutput([program, `${count}`, `${first + start}`])
      const output = printed.trimEnd().split('\n')
      const { kills, twice, lost, eventCounts } = JSON.parse(output.pop() ?? '') as SimulationTotals
      total.kills += kills
      total.twice += twice
      total.lost += lost
      addCounts(total.eventCounts, eventCounts)
      total.broken.push(...output)
    }
  }
  await Promise.all(Array.from({ length: processes }, worker))
  return total
}

/**
 * Runs a simulation and returns its stdout, whose last line is the totals in JSON. Throws with its stderr if
 * it ended without them.
 */
export async function runAndReadOutput(argv: readonly string[]): Promise<string> {
  const ran = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  const taken = { stdout: '', stderr: '' }
  ran.stdout.on('data', (chunk: Buffer) => (taken.stdout += chunk.toString()))
  ran.stderr.on('data', (chunk: Buffer) => (taken.stderr += chunk.toString()))
  await once(ran, 'close')
  if (!/^\{.*\}\n$/m.test(taken.stdout)) throw new Error(`${argv.join(' ')}: ${taken.stderr}`)
  return taken.stdout
}
