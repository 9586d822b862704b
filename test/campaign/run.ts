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
  what: string
  /** What was run and how often, such as `200 orders, 3 kills`. */
  amount: string
  twice: number
  lost: number
  /** Undefined where nothing was killed. */
  unknownPerKill: number | undefined
  seconds: number
  /** The first unexpected result. */
  failure: string | undefined
}

type Counted = Omit<Row, 'what' | 'seconds' | 'failure'> & { failure?: string | undefined }

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
})
const seed = Number(values.seed)
const shareOf = (whole: number): number => Math.max(1, Math.ceil(whole * Number(values.share)))
const processes = availableParallelism()

const parts: [what: string, count: () => Promise<Counted>][] = [
  ['SIGKILL of `batch run` at any moment', () => killRuns(1000, 'SQLite')],
  ['SIGKILL of `batch run` at any moment, PostgreSQL', () => killRuns(100, 'PostgreSQL')],
  ['one machine: a file and three single orders at once, PostgreSQL', countSingleOrders],
  ...[2, 4, 8].map((count): [string, () => Promise<Counted>] => [
    `overlapping files on ${count} processes`,
    () => overlappingFiles(count),
  ]),
  ['overlapping files on 4 processes, PostgreSQL', () => overlappingFiles(4, 'PostgreSQL')],
  ['simulated runs with random faults on one store file', () => simulations(10_000, 'run')],
  ['simulated runs with random faults on one PostgreSQL', () => simulations(200, 'postgres')],
  ['fleet: 3 machines, one PostgreSQL that fails over', countFleet],
  ['fleet: 2 receivers, one PostgreSQL', countReceivers],
  ...selectCases().map(([each, store]): [string, () => Promise<Counted>] => [
    `${each.section}: ${each.what}${store === 'SQLite' ? '' : `, ${store}`}`,
    () => runCase(each, store),
  ]),
]

/**
 * Each case with each store it supports: a random sample of the size `--share`, or all of them with `--only`.
 */
function selectCases(): readonly [Case, Backend][] {
  const all = cases.flatMap((each): [Case, Backend][] =>
    each.isSqliteOnly === true
      ? [[each, 'SQLite']]
      : [
          [each, 'SQLite'],
          [each, 'PostgreSQL'],
        ],
  )
  if (values.only !== '') return all
  const rng = seeded(seed)
  return all.filter(() => rng() < Math.max(0.06, Number(values.share)))
}

const rows: Row[] = []
const startedAt = performance.now()
console.log(`seed ${seed}, share ${values.share}, ${processes} processors`)
for (const [what, count] of parts) {
  if (!what.includes(values.only)) continue
  const startedAtMs = performance.now()
  const counted = await count().catch((error: unknown) => countFailure(error))
  const row: Row = { failure: undefined, ...counted, what, seconds: (performance.now() - startedAtMs) / 1000 }
  rows.push(row)
  process.stderr.write(
    `${row.seconds.toFixed(0)} s ${what}${row.failure === undefined ? '' : `: ${row.failure}`}\n`,
  )
}

printTable([
  ['what', 'how many', 'twice', 'lost', 'unknown a kill', 'seconds'],
  ...rows.map(({ what, amount, twice, lost, unknownPerKill, seconds, failure }) => [
    failure === undefined ? what : `${what} (FAILED: ${failure.split('\n')[0]?.slice(0, 160)})`,
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

function countFailure(error: unknown): Counted {
  const failure = error instanceof Error ? error.message : String(error)
  return { amount: '', twice: 0, lost: 0, unknownPerKill: undefined, failure }
}

/** Runs one campaign for each processor in parallel, each with its own store, service and files. */
async function killRuns(whole: number, store: Backend): Promise<Counted> {
  const each = Math.ceil(shareOf(whole) / processes)
  const tallies = await Promise.all(
    Array.from({ length: processes }, async (_, at) => {
      const folder = mkdtempSync(join(tmpdir(), 'refcheck-kills-'))
      try {
        return await killBatches(folder, each, seeded(seed * 100 + at), store)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }),
  )
  const total = (part: 'kills' | 'twice' | 'lost' | 'invented' | 'closed' | 'unknown'): number =>
    tallies.reduce((so, tally) => so + tally[part], 0)
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

async function countSingleOrders(): Promise<Counted> {
  const rounds = shareOf(30)
  const { kills: killed, twice, lost } = await runFileWithSingleOrders(rounds, seeded(seed * 10 + 3))
  return { amount: `${rounds} rounds, ${killed} kills`, twice, lost, unknownPerKill: undefined }
}

async function overlappingFiles(count: number, store: Backend = 'SQLite'): Promise<Counted> {
  const fileCount = shareOf(200)
  const { twice, lost } = await runOverlappingFiles(fileCount, count, seeded(seed * 1000 + count), store)
  return { amount: `${fileCount} files`, twice, lost, unknownPerKill: undefined }
}

async function simulations(whole: number, store: 'run' | 'postgres'): Promise<Counted> {
  const seeds = shareOf(whole)
  const {
    kills: killed,
    twice,
    lost,
    broken,
    eventCounts,
  } = await runSimulations(seeds, seed * 100_000, processes, store)
  for (const line of broken) console.log(line)
  return {
    amount: [`${seeds} seeds`, `${killed} kills`, ...formatHappened(eventCounts)].join(', '),
    twice,
    lost,
    unknownPerKill: undefined,
    failure: broken.length === 0 ? undefined : broken[0],
  }
}

/** Each kind of fault that occurred, with its count. */
function formatHappened(eventCounts: EventCounts): string[] {
  return Object.entries(eventCounts).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`]))
}

/**
 * A share below 0.1 still has one failover that loses commits, and a quota that is used up within seconds.
 */
async function countFleet(): Promise<Counted> {
  const isSmall = Number(values.share) < 0.1
  const plan = {
    rows: Math.max(32, shareOf(3000)),
    files: isSmall ? 2 : 6,
    kills: shareOf(200),
    pauses: shareOf(100),
    cuts: shareOf(20),
    restarts: shareOf(12),
    failovers: isSmall ? 0 : shareOf(3),
    lossyFailovers: shareOf(3),
    restores: isSmall ? 0 : shareOf(4),
    oldPrimaries: isSmall ? 0 : shareOf(2),
    clockChanges: shareOf(30),
    settingsCopies: isSmall ? 0 : shareOf(2),
    quota: isSmall ? [{ calls: 60, seconds: 15 }] : [{ calls: 600, seconds: 60 }],
    answerDelayMs: isSmall ? 0 : 60,
  }
  const onProgress = (line: string): unknown => process.stderr.write(`${line}\n`)
  const tally = await runFleet(plan, seeded(seed * 10 + 1), isSmall ? {} : { onProgress })
  const exceeded = tally.peaks.filter(({ orders, calls }) => orders > calls)
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

async function countReceivers(): Promise<Counted> {
  const {
    kills: killed,
    acknowledged,
    lost,
    ...wrong
  } = await runReceivers(shareOf(50), seeded(seed * 10 + 2))
  const isWrong = Object.values(wrong).some((many) => many > 0)
  return {
    amount: `${acknowledged} events, ${killed} kills`,
    twice: 0,
    lost,
    unknownPerKill: undefined,
    failure: isWrong ? JSON.stringify(wrong) : undefined,
  }
}

async function runCase({ run: play, section }: Case, store: Backend): Promise<Counted> {
  const environment = await CampaignEnvironment.open(store)
  try {
    const failure = await play(environment).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const { kills: killed, twice, lost, unknown } = await environment.tally()
    const amount = `${environment.sandbox.requests().length} orders${killed === 0 ? '' : `, ${killed} kills`}`
    // Rows that a store had lost become `unknown` without a kill, so the number per kill would mean nothing.
    const unknownPerKill = killed === 0 || section === 'Rollback detection' ? undefined : unknown / killed
    return { amount, twice, lost, unknownPerKill, failure }
  } finally {
    await environment.close()
  }
}
