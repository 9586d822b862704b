/* Every benchmark that ends within minutes, one after another, and all their figures in one table: npm run bench [NAME…] */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { goalResult, type Figure, figureRow, printTable } from './measuring.ts'

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

/** Prints what it prints; what it measured, or undefined where it failed. */
async function measured(name: string, argv: readonly string[]): Promise<Figure[] | undefined> {
  const figures: Figure[] = []
  const child = spawn(process.execPath, [join(import.meta.dirname, name, 'run.ts'), ...argv], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  child.on('message', (received) => figures.push(...(received as Figure[])))
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0 ? figures : undefined
}

const asked = process.argv.slice(2)
const rows: string[][] = []
const missed: string[] = []
for (const [name, ...argv] of benchmarks) {
  if (asked.length > 0 && !asked.includes(name)) continue
  process.stdout.write(`\n== ${name}\n`)
  const figures = await measured(name, argv)
  if (figures === undefined) {
    process.exitCode = 1
    rows.push([name, 'failed', '', '', '', ''])
  }
  for (const figure of figures ?? []) {
    rows.push([name, ...figureRow(figure)])
    if (goalResult(figure) === 'missed') missed.push(`${name}: ${figure.what}`)
  }
}
process.stdout.write('\n')
printTable([['benchmark', 'figure', '', 'goal', '', ''], ...rows])
process.stdout.write(
  missed.length === 0 ? '\nEvery goal is met.\n' : `\nNot met:\n  ${missed.join('\n  ')}\n`,
)
