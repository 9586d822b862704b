/* Runs the use cases with a real store and the sandbox on a virtual clock, with random faults by seed.
 * Run: node test/simulation/run.ts [SEEDS [FIRST [MUTANT]]]
 */
import { addCounts, createEventCounts } from './event-counts.ts'
import { mutants, noMutation } from './mutants.ts'
import { limitSeedDuration } from './seed-limit.ts'
import { simulate } from './simulate.ts'

const [seeds = '1000', first = '1', mutantName] = process.argv.slice(2)
const mutant = mutantName === undefined ? noMutation : mutants[mutantName]
if (mutant === undefined)
  throw new Error(`there is no mutant "${mutantName}"; there are: ${Object.keys(mutants).join(', ')}`)
const totals = {
  seeds: 0,
  broken: 0,
  twice: 0,
  lost: 0,
  kills: 0,
  damages: 0,
  closed: 0,
  orders: 0,
  accepted: 0,
  unknown: 0,
  dropped: 0,
  eventCounts: createEventCounts(),
}
const startSeed = limitSeedDuration()
for (let seed = Number(first); seed < Number(first) + Number(seeds); seed += 1) {
  startSeed(seed)
  const { broken, counts, storeDamages, eventCounts, ...orderCounts } = await simulate(seed, mutant)
  totals.seeds += 1
  totals.damages += storeDamages.length
  addCounts(totals.eventCounts, eventCounts)
  for (const name of ['twice', 'lost', 'kills', 'closed', 'orders'] as const)
    totals[name] += orderCounts[name]
  for (const name of ['accepted', 'unknown', 'dropped'] as const) totals[name] += counts[name]
  if (broken.length === 0) continue
  totals.broken += 1
  console.log(
    `seed ${seed} (${storeDamages.join(', ')}): ${broken.join('; ')}\n  again: node test/simulation/run.ts 1 ${seed}${mutantName === undefined ? '' : ` "${mutantName}"`}`,
  )
}
console.log(JSON.stringify(totals))
if (totals.broken > 0) process.exitCode = 1
