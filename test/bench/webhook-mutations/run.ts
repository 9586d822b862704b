/*
 * Sends 100,000 mutated webhook deliveries to the code that reads and verifies them: none may be accepted, and none may
 * cause an unexpected error. `npm test` runs 5,000 of them.
 * Run: node test/bench/webhook-mutations/run.ts [COUNT [SEED]]
 */
import { runCampaign } from '../../domain/webhook/mutations.ts'
import { printFigures } from '../measuring.ts'

const [count = 100_000, seed = 1] = process.argv.slice(2).map(Number)
const startedAt = performance.now()
const { deliveries, accepted, crashes, kindCount } = runCampaign(count, seed)
const seconds = (performance.now() - startedAt) / 1000
printFigures([
  {
    label: 'mutated deliveries accepted, or a crash',
    value: accepted.length + crashes.length,
    atMost: 0,
    note: `of ${deliveries}, ${kindCount} kinds (seed ${seed}, ${seconds.toFixed(1)} s)`,
  },
])
for (const line of [...accepted, ...crashes].slice(0, 20)) process.stdout.write(`  ${line}\n`)
if (accepted.length + crashes.length > 0) process.exitCode = 1
