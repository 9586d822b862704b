/*
 * The real runner, store and service on a virtual clock under a seeded storm.
 * Run: node test/simulation/run.ts [SEEDS [FIRST [MUTANT]]]
 */
import { mutants, sound } from './mutants.ts'
import { simulate } from './simulate.ts'

const [seeds = '1000', first = '1', name] = process.argv.slice(2)
const mutant = name === undefined ? sound : mutants[name]
if (mutant === undefined)
  throw new Error(`there is no mutant "${name}"; there are: ${Object.keys(mutants).join(', ')}`)
const totals = { seeds: 0, broken: 0, kills: 0, rows: 0, accepted: 0, rejected: 0, unknown: 0 }
for (let seed = Number(first); seed < Number(first) + Number(seeds); seed += 1) {
  const { broken, kills, counts } = await simulate(seed, mutant)
  totals.seeds += 1
  totals.kills += kills
  totals.rows += counts.total
  totals.accepted += counts.accepted
  totals.rejected += counts.rejected
  totals.unknown += counts.unknown
  if (broken.length === 0) continue
  totals.broken += 1
  console.log(
    `seed ${seed}: ${broken.join('; ')}\n  again: node test/simulation/run.ts 1 ${seed}${name === undefined ? '' : ` "${name}"`}`,
  )
}
console.log(JSON.stringify(totals))
if (totals.broken > 0) process.exitCode = 1
