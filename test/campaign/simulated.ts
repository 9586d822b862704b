import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface Simulated {
  kills: number
  twice: number
  lost: number
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
  const total: Simulated = { kills: 0, twice: 0, lost: 0, broken: [] }
  const starts = Array.from({ length: Math.ceil(seeds / perChild) }, (_, at) => at * perChild)
  const worker = async (): Promise<void> => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const count = Math.min(perChild, seeds - start)
      const printed = await child(`${store}.ts`, count, first + start)
      const told = printed.trimEnd().split('\n')
      const { kills, twice, lost } = JSON.parse(told.pop() ?? '') as Simulated
      total.kills += kills
      total.twice += twice
      total.lost += lost
      total.broken.push(...told)
    }
  }
  await Promise.all(Array.from({ length: processes }, worker))
  return total
}

async function child(name: string, count: number, first: number): Promise<string> {
  const program = join(import.meta.dirname, '..', 'simulation', name)
  const ran = spawn(process.execPath, [program, String(count), String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  ran.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await once(ran, 'close')
  return printed
}
