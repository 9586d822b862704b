/* Runs a short campaign with each mutant of planted.ts, and prints which mutants are detected. Each mutant breaks a rule
 * that protects against certain faults, and runs under a plan with these faults. The unmutated program runs under
 * every plan.
 * Run: node test/campaign/fleet/mutants.ts [--seeds 3] [--first 1] [--only PART_OF_A_NAME]
 */
import { parseArgs } from 'node:util'

import { runFleet, type FleetTally } from './fleet.ts'
import { type Edit, MutatedProgram } from './mutated.ts'
import { mutants, plans, receiverPlan } from './planted.ts'
import { runReceivers } from './receivers.ts'
import { printTable } from '../../bench/measuring.ts'
import { seeded } from '../../harness/seeded-random.ts'

const receiverKills = 8

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '3' },
    first: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
})

/** Returns the first problem of a run; undefined if there was none. */
function findProblem(tally: FleetTally): string | undefined {
  const { faults } = tally
  if (tally.twice > 0) return `${tally.twice} ordered twice`
  if (tally.lost > 0) return `${tally.lost} lost`
  if (tally.unknown > 0 && faults.kills + faults.restarts + faults.failovers + faults.lossyFailovers === 0)
    return `${tally.unknown} unknown, though every runner lived on`
  // In a window of a few seconds, delays of a busy machine can exceed the quota.
  const windows = tally.peaks.filter(({ seconds }) => seconds >= 15)
  const exceeded = windows.find(({ orders, calls: maxCalls }) => orders > maxCalls)
  if (exceeded !== undefined)
    return `${exceeded.orders} orders in ${exceeded.seconds} s, not ${exceeded.calls}`
  // A delayed call may count in a later window, so that the service refuses a few calls.
  if (windows.length > 0 && tally.throttled > tally.orders / 10 && faults.lossyFailovers === 0)
    return `${tally.throttled} answers 429`
  return tally.failures[0]?.split('\n')[0]?.slice(0, 160)
}

/** Runs `plan` with `program`, and returns the first problem. */
async function runPlan(
  plan: keyof typeof plans | typeof receiverPlan,
  seed: number,
  program: MutatedProgram,
): Promise<string | undefined> {
  if (plan !== receiverPlan) return findProblem(await runFleet(plans[plan], seeded(seed), program))
  const { kills: _, acknowledged: __, ...counts } = await runReceivers(receiverKills, seeded(seed), program)
  const violations = Object.entries(counts).filter(([, count]) => count > 0)
  return violations.length === 0
    ? undefined
    : violations.map(([name, count]) => `${count} ${name}`).join(', ')
}

const rows: string[][] = []
let hasUnexpectedResult = false

/** Adds a row to the table: runs the plan with one seed after another until a problem is found. */
async function reportMutant(
  title: string,
  edits: readonly Edit[],
  plan: Parameters<typeof runPlan>[0],
): Promise<void> {
  if (!title.includes(values.only)) return
  const startedAtMs = performance.now()
  using program = new MutatedProgram(edits)
  const isUnmutated = edits.length === 0
  const seeds = Array.from(
    { length: isUnmutated ? 1 : Number(values.seeds) },
    (_, index) => Number(values.first) + index,
  )
  let firstProblem: string | undefined
  for (const seed of seeds) {
    const problem = await runPlan(plan, seed, program)
    if (problem === undefined) continue
    firstProblem = `seed ${seed}: ${problem}`
    break
  }
  hasUnexpectedResult ||= (firstProblem === undefined) !== isUnmutated
  rows.push([
    title,
    firstProblem ?? 'nothing found',
    `${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`,
  ])
  process.stderr.write(`${rows.at(-1)?.join(': ')}\n`)
}

for (const { title, edits, plan } of mutants) await reportMutant(title, edits, plan)
for (const plan of [...(Object.keys(plans) as (keyof typeof plans)[]), receiverPlan] as const)
  await reportMutant(`as it is: ${plan}`, [], plan)
printTable([['the program', 'what the campaign found', 'time'], ...rows])
if (hasUnexpectedResult) process.exitCode = 1
