/* Runs every scenario that could order a person twice or lose an order with the built program, and prints one table.
 * Run: npm run build && npm run campaign [-- --share 0.05] [--seed 1] [--only PART_OF_A_NAME]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { killBatches } from '../acceptance/batch/campaign.ts'
import { printTable } from '../bench/measuring.ts'
import { seeded } from '../harness/seeded-random.ts'
import { type Case, cases } from './cases.ts'
import { type FleetTally, runFleet } from './fleet/fleet.ts'
import { runReceivers } from './fleet/receivers.ts'
import { runOverlappingFiles } from './overlapping-files.ts'
import { runFileWithSingleOrders } from './single-orders.ts'
import type { EventCounts } from '../simulation/event-counts.ts'
import { runSimulations } from './simulations.ts'
import { type Backend, CampaignEnvironment } from './environment.ts'

interface Row {
  title: string
  /** The number of runs, orders and faults, such as `200 orders, 3 kills`. */
  amount: string
  /** People with more orders than expected. */
  twice: number
  /** Orders that no store knows. */
  lost: number
  /** Unknown outcomes per kill; undefined if no process was killed. */
  unknownPerKill: number | undefined
  seconds: number
  /** The first unexpected result. */
  failure: string | undefined
}

type ScenarioCounts = Omit<Row, 'title' | 'seconds' | 'failure'> & { failure?: string | undefined }

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
})
const seed = Number(values.seed)
const scaleByShare = (fullCount: number): number => Math.max(1, Math.ceil(fullCount * Number(values.share)))
const processCount = availableParallelism()

const scenarios: [title: string, runScenario: () => Promise<ScenarioCounts>][] = [
  ['SIGKILL of `batch run` at any moment', () => countKills(1000, 'SQLite')],
  ['SIGKILL of `batch run` at any moment, PostgreSQL', () => countKills(100, 'PostgreSQL')],
  ['one machine: a file and three single orders at once, PostgreSQL', countSingleOrders],
  ...[2, 4, 8].map((count): [string, () => Promise<ScenarioCounts>] => [
    `overlapping files on ${count} processes`,
    () => countOverlappingFiles(count),
  ]),
  ['overlapping files on 4 processes, PostgreSQL', () => countOverlappingFiles(4, 'PostgreSQL')],
  ['simulated runs with random faults on one store file', () => countSimulations(10_000, 'run')],
  ['simulated runs with random faults on one PostgreSQL', () => countSimulations(200, 'postgres')],
  ['fleet: 3 machines, one PostgreSQL that fails over', countFleet],
  ['fleet: 2 receivers, one PostgreSQL', countReceivers],
  ...selectCases().map(([each, store]): [string, () => Promise<ScenarioCounts>] => [
    `${each.section}: ${each.title}${store === 'SQLite' ? '' : `, ${store}`}`,
    () => runCase(each, store),
  ]),
]

/**
 * Returns each case with each store that it supports: a random sample of the fraction `--share`, or all cases if
 * `--only` is given.
 */
function selectCases(): readonly [Case, Backend][] {
  const casesWithStores = cases.flatMap((each): [Case, Backend][] =>
    each.isSqliteOnly === true
      ? [[each, 'SQLite']]
      : [
          [each, 'SQLite'],
          [each, 'PostgreSQL'],
        ],
  )
  if (values.only !== '') return casesWithStores
  const rng = seeded(seed)
  return casesWithStores.filter(() => rng() < Math.max(0.06, Number(values.share)))
}

const rows: Row[] = []
const startedAt = performance.now()
console.log(`seed ${seed}, share ${values.share}, ${processCount} processors`)
for (const [title, runScenario] of scenarios) {
  if (!title.includes(values.only)) continue
  const scenarioStartedAt = performance.now()
  const counted = await runScenario().catch((error: unknown) => countFailure(error))
  const row: Row = {
    failure: undefined,
    ...counted,
    title,
    seconds: (performance.now() - scenarioStartedAt) / 1000,
  }
  rows.push(row)
  process.stderr.write(
    `${row.seconds.toFixed(0)} s ${title}${row.failure === undefined ? '' : `: ${row.failure}`}\n`,
  )
}

printTable([
  ['what', 'how many', 'twice', 'lost', 'unknown a kill', 'seconds'],
  ...rows.map(({ title, amount, twice, lost, unknownPerKill, seconds, failure }) => [
    failure === undefined ? title : `${title} (FAILED: ${failure.split('\n')[0]?.slice(0, 160)})`,
    amount,
    String(twice),
    String(lost),
    unknownPerKill?.toFixed(2) ?? '-',
    seconds.toFixed(0),
  ]),
])
const sum = (part: (row: Row) => number): number => rows.reduce((total, row) => total + part(row), 0)
const failures = sum(({ failure }) => (failure === undefined ? 0 : 1))
console.log(
  `in all: ${sum(({ twice }) => twice)} twice, ${sum(({ lost }) => lost)} lost, ${failures} failed, ${Math.round((performance.now() - startedAt) / 1000)} s; seed ${seed}`,
)
if (sum(({ twice, lost }) => twice + lost) + failures > 0) process.exitCode = 1

function countFailure(error: unknown): ScenarioCounts {
  const failure = error instanceof Error ? error.message : String(error)
  return { amount: '', twice: 0, lost: 0, unknownPerKill: undefined, failure }
}

/** Runs one campaign for each processor in parallel, each with its own store, service and files. */
async function countKills(fullCount: number, store: Backend): Promise<ScenarioCounts> {
  const killsPerProcess = Math.ceil(scaleByShare(fullCount) / processCount)
  const tallies = await Promise.all(
    Array.from({ length: processCount }, async (_, at) => {
      const folder = mkdtempSync(join(tmpdir(), 'refcheck-kills-'))
      try {
        return await killBatches(folder, killsPerProcess, seeded(seed * 100 + at), store)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }),
  )
  const total = (part: 'kills' | 'twice' | 'lost' | 'invented' | 'closed' | 'unknown'): number =>
    tallies.reduce((count, tally) => count + tally[part], 0)
  return {
    amount: `${total('kills')} kills`,
    twice: total('twice'),
    lost: total('lost'),
    unknownPerKill: total('unknown') / total('kills'),
    failure:
      total('invented') + total('closed') === 0
        ? undefined
        : `${total('invented')} ids that are not there, ${total('closed')} sound stores closed`,
  }
}

async function countSingleOrders(): Promise<ScenarioCounts> {
  const rounds = scaleByShare(30)
  const { kills, twice, lost } = await runFileWithSingleOrders(rounds, seeded(seed * 10 + 3))
  return { amount: `${rounds} rounds, ${kills} kills`, twice, lost, unknownPerKill: undefined }
}

async function countOverlappingFiles(count: number, store: Backend = 'SQLite'): Promise<ScenarioCounts> {
  const fileCount = scaleByShare(200)
  const { twice, lost } = await runOverlappingFiles(fileCount, count, seeded(seed * 1000 + count), store)
  return { amount: `${fileCount} files`, twice, lost, unknownPerKill: undefined }
}

async function countSimulations(fullCount: number, program: 'run' | 'postgres'): Promise<ScenarioCounts> {
  const seeds = scaleByShare(fullCount)
  const { kills, twice, lost, broken, eventCounts } = await runSimulations(
    seeds,
    seed * 100_000,
    processCount,
    program,
  )
  for (const line of broken) console.log(line)
  return {
    amount: [`${seeds} seeds`, `${kills} kills`, ...formatOccurredEvents(eventCounts)].join(', '),
    twice,
    lost,
    unknownPerKill: undefined,
    failure: broken.length === 0 ? undefined : broken[0],
  }
}

/** Formats each kind of event that occurred, with its count. */
function formatOccurredEvents(eventCounts: EventCounts): string[] {
  return Object.entries(eventCounts).flatMap(([title, count]) => (count === 0 ? [] : [`${count} ${title}`]))
}

/** Even a share below 0.1 has one failover that loses commits, and a quota that is exhausted within seconds. */
async function countFleet(): Promise<ScenarioCounts> {
  const isSmall = Number(values.share) < 0.1
  const plan = {
    rows: Math.max(32, scaleByShare(3000)),
    files: isSmall ? 2 : 6,
    kills: scaleByShare(200),
    pauses: scaleByShare(100),
    cuts: scaleByShare(20),
    restarts: scaleByShare(12),
    failovers: isSmall ? 0 : scaleByShare(3),
    lossyFailovers: scaleByShare(3),
    restores: isSmall ? 0 : scaleByShare(4),
    oldPrimaries: isSmall ? 0 : scaleByShare(2),
    clockChanges: scaleByShare(30),
    settingsCopies: isSmall ? 0 : scaleByShare(2),
    quota: isSmall ? [{ calls: 60, seconds: 15 }] : [{ calls: 600, seconds: 60 }],
    answerDelayMs: isSmall ? 0 : 60,
  }
  const onProgress = (line: string): unknown => process.stderr.write(`${line}\n`)
  const tally = await runFleet(plan, seeded(seed * 10 + 1), isSmall ? {} : { onProgress })
  const exceeded = tally.peaks.filter(({ orders, calls: maxCalls }) => orders > maxCalls)
  return {
    amount: `${tally.orders} orders, ${formatFaults(tally)}`,
    twice: tally.twice,
    lost: tally.lost,
    unknownPerKill: tally.unknown / Math.max(1, tally.faults.kills),
    failure:
      tally.failures[0] ??
      exceeded.map(({ orders, calls, seconds }) => `${orders} orders in ${seconds} s, not ${calls}`)[0],
  }
}

function formatFaults({ faults, throttled }: FleetTally): string {
  return `${faults.kills} kills, ${faults.pauses} pauses, ${faults.cuts} cuts at a COMMIT, ${faults.restarts} restarts, ${faults.failovers + faults.lossyFailovers} failovers (${faults.lossyFailovers} losing commits), ${faults.restores} restored, ${faults.oldPrimaries} old primaries back, ${faults.clockChanges} clocks set, ${faults.settingsCopies} settings copied, ${throttled} answers 429`
}

async function countReceivers(): Promise<ScenarioCounts> {
  const { kills, acknowledged, lost, ...violations } = await runReceivers(
    scaleByShare(50),
    seeded(seed * 10 + 2),
  )
  const hasViolations = Object.values(violations).some((violationCount) => violationCount > 0)
  return {
    amount: `${acknowledged} events, ${kills} kills`,
    twice: 0,
    lost,
    unknownPerKill: undefined,
    failure: hasViolations ? JSON.stringify(violations) : undefined,
  }
}

async function runCase({ run: runSteps, section }: Case, store: Backend): Promise<ScenarioCounts> {
  const environment = await CampaignEnvironment.open(store)
  try {
    const failure = await runSteps(environment).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const { kills, twice, lost, unknown } = await environment.createTally()
    const amount = `${environment.sandbox.requests().length} orders${kills === 0 ? '' : `, ${kills} kills`}`
    // Rows that a store lost become `unknown` without a kill, so their number per kill has no meaning.
    const unknownPerKill = kills === 0 || section === 'Rollback detection' ? undefined : unknown / kills
    return { amount, twice, lost, unknownPerKill, failure }
  } finally {
    await environment.close()
  }
}
