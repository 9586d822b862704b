import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { addUp, type Happened, nothingHappened } from '../simulation/happened.ts'

export interface Simulated {
  kills: number
  twice: number
  lost: number
  happened: Happened
  /** Whatever else was broken, by its seed. */
  broken: string[]
}

const perChild = 100

/** Seeds of test/simulation, in so many processes at once. */
export async function simulated(
  seeds: number,
  first: number,
  processes: number,
  store: 'run' | 'postgres' = 'run',
): Promise<Simulated> {
  const total: Simulated = { kills: 0, twice: 0, lost: 0, happened: nothingHappened(), broken: [] }
  const starts = Array.from({ length: Math.ceil(seeds / perChild) }, (_, at) => at * perChild)
  const worker = async (): Promise<void> => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const count = Math.min(perChild, seeds - start)
      const program = join(import.meta.dirname, '..', 'simulation', `${store}.ts`)
      const printed = await printedBy([program, `${count}`, `${first + start}`])
      const output = printed.trimEnd().split('\n')
      const { kills, twice, lost, happened } = JSON.parse(output.pop() ?? '') as Simulated
      total.kills += kills
      total.twice += twice
      total.lost += lost
      addUp(total.happened, happened)
      total.broken.push(...output)
    }
  }
  await Promise.all(Array.from({ length: processes }, worker))
  return total
}

/** What a simulation printed, its last line what its seeds came to; an error with its last words where it did not get there. */
export async function printedBy(argv: readonly string[]): Promise<string> {
  const ran = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  const taken = { stdout: '', stderr: '' }
  ran.stdout.on('data', (chunk: Buffer) => (taken.stdout += chunk.toString()))
  ran.stderr.on('data', (chunk: Buffer) => (taken.stderr += chunk.toString()))
  await once(ran, 'close')
  if (!/^\{.*\}\n$/m.test(taken.stdout)) throw new Error(`${argv.join(' ')}: ${taken.stderr}`)
  return taken.stdout
}
