/*
 * The real program, store and service on a virtual clock under a seeded storm.
 * Run: node test/simulation/run.ts [SEEDS [FIRST [MUTANT]]]
 */
import { addUp, nothingHappened } from './happened.ts'
import { mutants, sound } from './mutants.ts'
import { seedLimit } from './seed-limit.ts'
import { simulate } from './simulate.ts'

const [seeds = '1000', first = '1', wanted] = process.argv.slice(2)
const mutant = wanted === undefined ? sound : mutants[wanted]
if (mutant === undefined)
  throw new Error(`there is no mutant "${wanted}"; there are: ${Object.keys(mutants).join(', ')}`)
const totals = {
  seeds: 0,
  broken: 0,
  twice: 0,
  lost: 0,
  kills: 0,
  harmed: 0,
  closed: 0,
  orders: 0,
  accepted: 0,
  unknown: 0,
  dropped: 0,
  happened: nothingHappened(),
}
const begin = seedLimit()
for (let seed = Number(first); seed < Number(first) + Number(seeds); seed += 1) {
  begin(seed)
  const { broken, counts, harmed, happened, ...more } = await simulate(seed, mutant)
  totals.seeds += 1
  totals.harmed += harmed.length
  addUp(totals.happened, happened)
  for (const name of ['twice', 'lost', 'kills', 'closed', 'orders'] as const) totals[name] += more[name]
  for (const name of ['accepted', 'unknown', 'dropped'] as const) totals[name] += counts[name]
  if (broken.length === 0) continue
  totals.broken += 1
  console.log(
    `seed ${seed} (${harmed.join(', ')}): ${broken.join('; ')}\n  again: node test/simulation/run.ts 1 ${seed}${wanted === undefined ? '' : ` "${wanted}"`}`,
  )
}
console.log(JSON.stringify(totals))
if (totals.broken > 0) process.exitCode = 1
