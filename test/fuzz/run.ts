/*
 * Feeds every parser that the outside reaches what is nearly right.
 * Run: npm run fuzz [-- --cases 100000] [--seed 1] [--only PART_OF_A_NAME]
 */
import { parseArgs } from 'node:util'

import { parsers } from './parsers.ts'
import { firstFault } from './tried.ts'

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.trunc(performance.timeOrigin)) },
    only: { type: 'string', default: '' },
  },
})
// fast-check's seeds are of 32 bits.
const seed = Number(values.seed) | 0
console.log(`seed ${seed}`)
for (const parser of parsers.filter(({ name }) => name.includes(values.only))) {
  const since = performance.now()
  const cases = Math.ceil(Number(values.cases) / (parser.share ?? 1))
  const fault = await firstFault(parser, cases, seed)
  const seconds = ((performance.now() - since) / 1000).toFixed(1)
  console.log(
    `${parser.name}: ${cases} inputs, ${seconds} s, ${fault === undefined ? 'held' : `FELL SHORT: ${fault}`}`,
  )
  if (fault !== undefined) process.exitCode = 1
}
