/* Every benchmark that ends within minutes, one after another: npm run bench */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const benchmarks: [name: string, ...argv: string[]][] = [
  ['start-up'],
  ['sandbox'],
  ['sheets'],
  ['ledger', '200000'],
  ['webhook-verify'],
  ['webhook-receive'],
  ['webhook-mutations'],
  ['waiting'],
  ['downloads'],
]

for (const [name, ...argv] of benchmarks) {
  console.log(`\n== ${name}`)
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, name, 'run.ts'), ...argv], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
