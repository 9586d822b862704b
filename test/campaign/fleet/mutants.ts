/*
 * Breaks the fleet's rules one at a time and runs the campaign briefly with each, so that it meets what the rule is there
 * for, and with the program as it is: reports which are found.
 * Run: node test/campaign/fleet/mutants.ts [--seeds 3] [--first 1] [--only PART_OF_A_NAME]
 */
import { parseArgs } from 'node:util'

import { fleet, type FleetTally } from './fleet.ts'
import { type Edit, MutatedProgram } from './mutated.ts'
import { mutants, plans, receiving } from './planted.ts'
import { receivers } from './receivers.ts'
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

/** What was wrong; undefined where nothing was. */
function wrongIn(tally: FleetTally): string | undefined {
  const { deeds } = tally
  if (tally.twice > 0) return `${tally.twice} ordered twice`
  if (tally.lost > 0) return `${tally.lost} lost`
  if (tally.unknown > 0 && deeds.kills + deeds.restarts + deeds.failovers + deeds.losing === 0)
    return `${tally.unknown} unknown, though every runner lived on`
  // Of a window of seconds a busy machine fills the next one early.
  const windows = tally.peaks.filter(({ seconds }) => seconds >= 15)
  const passed = windows.find(({ orders, calls }) => orders > calls)
  if (passed !== undefined) return `${passed.orders} orders in ${passed.seconds} s, not ${passed.calls}`
  // A call that arrives later than others of its window is refused by the service, and that is obeyed: now and then.
  if (windows.length > 0 && tally.throttled > tally.orders / 10 && deeds.losing === 0)
    return `${tally.throttled} answers 429`
  return tally.failures[0]?.split('\n')[0]?.slice(0, 160)
}

/** What the campaign finds wrong with a program that goes through a plan. */
async function tried(
  plan: keyof typeof plans | typeof receiving,
  seed: number,
  program: MutatedProgram,
): Promise<string | undefined> {
  if (plan !== receiving) return wrongIn(await fleet(plans[plan], seeded(seed), program))
  const { kills: _, acknowledged: __, ...wrong } = await receivers(receiverKills, seeded(seed), program)
  const found = Object.entries(wrong).filter(([, many]) => many > 0)
  return found.length === 0 ? undefined : found.map(([what, many]) => `${many} ${what}`).join(', ')
}

const rows: string[][] = []
let isWrong = false

/** By seeds, until something is found. */
async function report(
  what: string,
  edits: readonly Edit[],
  plan: Parameters<typeof tried>[0],
): Promise<void> {
  if (!what.includes(values.only)) return
  const began = performance.now()
  using program = new MutatedProgram(edits)
  const isSound = edits.length === 0
  const seeds = Array.from(
    { length: isSound ? 1 : Number(values.seeds) },
    (_, at) => Number(values.first) + at,
  )
  let found: string | undefined
  for (const seed of seeds) {
    const wrong = await tried(plan, seed, program)
    if (wrong === undefined) continue
    found = `seed ${seed}: ${wrong}`
    break
  }
  isWrong ||= (found === undefined) !== isSound
  rows.push([what, found ?? 'nothing found', `${((performance.now() - began) / 1000).toFixed(0)} s`])
  process.stderr.write(`${rows.at(-1)?.join(': ')}\n`)
}

for (const { what, edits, plan } of mutants) await report(what, edits, plan)
for (const plan of [...(Object.keys(plans) as (keyof typeof plans)[]), receiving] as const)
  await report(`as it is: ${plan}`, [], plan)
printTable([['the program', 'what the campaign found', 'time'], ...rows])
if (isWrong) process.exitCode = 1
