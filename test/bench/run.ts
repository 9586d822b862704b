/* Runs all benchmarks that end within minutes, or those that are named, and prints all figures in one table: npm run bench [NAME…] */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { compareWithGoal, type Figure, formatFigure, printTable } from './measuring.ts'

const benchmarks: [name: string, ...argv: string[]][] = [
  ['start-up'],
  ['install'],
  ['get-table'],
  ['reads', '200'],
  ['batch'],
  ['waiting'],
  ['downloads'],
  ['webhook-verify'],
  ['webhook-receive'],
  ['webhook-mutations'],
  ['sheets'],
  ['sandbox'],
  ['ledger', '200000'],
  ['fleet', '200000'],
]

/** Runs a benchmark with the output of this process. Returns its figures; undefined if it failed. */
async function runBenchmark(name: string, argv: readonly string[]): Promise<Figure[] | undefined> {
  const figures: Figure[] = []
  const child = spawn(process.execPath, [join(import.meta.dirname, name, 'run.ts'), ...argv], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  child.on('message', (received) => figures.push(...(received as Figure[])))
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0 ? figures : undefined
}

const selectedNames = process.argv.slice(2)
const rows: string[][] = []
const missedGoals: string[] = []
for (const [name, ...argv] of benchmarks) {
  if (selectedNames.length > 0 && !selectedNames.includes(name)) continue
  process.stdout.write(`\n== ${name}\n`)
  const figures = await runBenchmark(name, argv)
  if (figures === undefined) {
    process.exitCode = 1
    rows.push([name, 'failed', '', '', '', ''])
  }
  for (const figure of figures ?? []) {
    rows.push([name, ...formatFigure(figure)])
    if (compareWithGoal(figure) === 'missed') missedGoals.push(`${name}: ${figure.label}`)
  }
}
process.stdout.write('\n')
printTable([['benchmark', 'figure', '', 'goal', '', ''], ...rows])
process.stdout.write(
  missedGoals.length === 0 ? '\nEvery goal is met.\n' : `\nNot met:\n  ${missedGoals.join('\n  ')}\n`,
)
