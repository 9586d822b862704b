/* Runs a short campaign with each mutant of planted.ts, under a plan whose faults the broken rule protects against, and with the unchanged program. Prints which mutants are detected.
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

/** The first problem of a run; undefined if there was none. */
function findProblem(tally: FleetTally): string | undefined {
  const { faults } = tally
  if (tally.twice > 0) return `${tally.twice} ordered twice`
  if (tally.lost > 0) return `${tally.lost} lost`
  if (tally.unknown > 0 && faults.kills + faults.restarts + faults.failovers + faults.lossyFailovers === 0)
    return `${tally.unknown} unknown, though every runner lived on`
  // In a window of a few seconds, delays of a busy machine can exceed the quota.
  const windows = tally.peaks.filter(({ seconds }) => seconds >= 15)
  const exceeded = windows.find(({ orders, calls }) => orders > calls)
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
  const { kills: _, acknowledged: __, ...wrong } = await runReceivers(receiverKills, seeded(seed), program)
  const found = Object.entries(wrong).filter(([, many]) => many > 0)
  return found.length === 0 ? undefined : found.map(([what, many]) => `${many} ${what}`).join(', ')
}

const rows: string[][] = []
let hasUnexpected = false

/** Adds a row to the table: runs the plan with one seed after another until a problem is found. */
async function report(
  what: string,
  edits: readonly Edit[],
  plan: Parameters<typeof runPlan>[0],
): Promise<void> {
  if (!what.includes(values.only)) return
  const startedAtMs = performance.now()
  using program = new MutatedProgram(edits)
  const isSound = edits.length === 0
  const seeds = Array.from(
    { length: isSound ? 1 : Number(values.seeds) },
    (_, at) => Number(values.first) + at,
  )
  let found: string | undefined
  for (const seed of seeds) {
    const wrong = await runPlan(plan, seed, program)
    if (wrong === undefined) continue
    found = `seed ${seed}: ${wrong}`
    break
  }
  hasUnexpected ||= (found === undefined) !== isSound
  rows.push([what, found ?? 'nothing found', `${((performance.now() - startedAtMs) / 1000).toFixed(0)} s`])
  process.stderr.write(`${rows.at(-1)?.join(': ')}\n`)
}

for (const { what, edits, plan } of mutants) await report(what, edits, plan)
for (const plan of [...(Object.keys(plans) as (keyof typeof plans)[]), receiverPlan] as const)
  await report(`as it is: ${plan}`, [], plan)
printTable([['the program', 'what the campaign found', 'time'], ...rows])
if (hasUnexpected) process.exitCode = 1
