/*
 * Everything that could order a person twice or lose an order, on the built program, in one table.
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
import { type FleetTally, fleet } from './fleet/fleet.ts'
import { receivers } from './fleet/receivers.ts'
import { runOverlappingFiles } from './overlapping.ts'
import { oneMachine } from './one-machine.ts'
import type { Happened } from '../simulation/happened.ts'
import { simulated } from './simulated.ts'
import { type Backend, Stage } from './stage.ts'

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
const share = (whole: number): number => Math.max(1, Math.ceil(whole * Number(values.share)))
const processes = availableParallelism()

const parts: [what: string, count: () => Promise<Counted>][] = [
  ['SIGKILL of `batch run` at any moment', () => kills(1000, 'SQLite')],
  ['SIGKILL of `batch run` at any moment, PostgreSQL', () => kills(100, 'PostgreSQL')],
  ['one machine: a file and three single orders at once, PostgreSQL', runFileWithSingleOrders],
  ...[2, 4, 8].map((count): [string, () => Promise<Counted>] => [
    `overlapping files on ${count} processes`,
    () => files(count),
  ]),
  ['overlapping files on 4 processes, PostgreSQL', () => files(4, 'PostgreSQL')],
  ['simulated runs with random faults on one store file', () => simulations(10_000, 'run')],
  ['simulated runs with random faults on one PostgreSQL', () => simulations(200, 'postgres')],
  ['fleet: 3 machines, one PostgreSQL that fails over', runFleet],
  ['fleet: 2 receivers, one PostgreSQL', runReceivers],
  ...someCases().map(([each, store]): [string, () => Promise<Counted>] => [
    `${each.section}: ${each.what}${store === 'SQLite' ? '' : `, ${store}`}`,
    () => runCase(each, store),
  ]),
]

/**
 * Each case with each store it supports: a random sample of the size `--share`, or all of them with `--only`.
 */
function someCases(): readonly [Case, Backend][] {
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
  const began = performance.now()
  const counted = await count().catch((error: unknown) => failed(error))
  const row: Row = { failure: undefined, ...counted, what, seconds: (performance.now() - began) / 1000 }
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

function failed(error: unknown): Counted {
  const failure = error instanceof Error ? error.message : String(error)
  return { amount: '', twice: 0, lost: 0, unknownPerKill: undefined, failure }
}

/** In as many processes as there are processors, each with a store, a service and files of its own. */
async function kills(whole: number, store: Backend): Promise<Counted> {
  const each = Math.ceil(share(whole) / processes)
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

async function runFileWithSingleOrders(): Promise<Counted> {
  const rounds = share(30)
  const { kills: killed, twice, lost } = await oneMachine(rounds, seeded(seed * 10 + 3))
  return { amount: `${rounds} rounds, ${killed} kills`, twice, lost, unknownPerKill: undefined }
}

async function files(count: number, store: Backend = 'SQLite'): Promise<Counted> {
  const many = share(200)
  const { twice, lost } = await runOverlappingFiles(many, count, seeded(seed * 1000 + count), store)
  return { amount: `${many} files`, twice, lost, unknownPerKill: undefined }
}

async function simulations(whole: number, store: 'run' | 'postgres'): Promise<Counted> {
  const seeds = share(whole)
  const {
    kills: killed,
    twice,
    lost,
    broken,
    happened,
  } = await simulated(seeds, seed * 100_000, processes, store)
  for (const line of broken) console.log(line)
  return {
    amount: [`${seeds} seeds`, `${killed} kills`, ...formatHappened(happened)].join(', '),
    twice,
    lost,
    unknownPerKill: undefined,
    failure: broken.length === 0 ? undefined : broken[0],
  }
}

/** Each kind of fault that occurred, with its count. */
function formatHappened(happened: Happened): string[] {
  return Object.entries(happened).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`]))
}

/**
 * A share below 0.1 still has one failover that loses commits, and a quota that is used up within seconds.
 */
async function runFleet(): Promise<Counted> {
  const isSmall = Number(values.share) < 0.1
  const plan = {
    rows: Math.max(32, share(3000)),
    files: isSmall ? 2 : 6,
    kills: share(200),
    pauses: share(100),
    cuts: share(20),
    restarts: share(12),
    failovers: isSmall ? 0 : share(3),
    losing: share(3),
    restores: isSmall ? 0 : share(4),
    oldPrimaries: isSmall ? 0 : share(2),
    clocks: share(30),
    copies: isSmall ? 0 : share(2),
    quota: isSmall ? [{ calls: 60, seconds: 15 }] : [{ calls: 600, seconds: 60 }],
    answerDelayMs: isSmall ? 0 : 60,
  }
  const onProgress = (line: string): unknown => process.stderr.write(`${line}\n`)
  const tally = await fleet(plan, seeded(seed * 10 + 1), isSmall ? {} : { onProgress })
  const exceeded = tally.peaks.filter(({ orders, calls }) => orders > calls)
  return {
    amount: `${tally.orders} orders, ${deedsOf(tally)}`,
    twice: tally.twice,
    lost: tally.lost,
    unknownPerKill: tally.unknown / Math.max(1, tally.deeds.kills),
    failure:
      tally.failures[0] ??
      exceeded.map(({ orders, calls, seconds }) => `${orders} orders in ${seconds} s, not ${calls}`)[0],
  }
}

function deedsOf({ deeds, throttled }: FleetTally): string {
  return `${deeds.kills} kills, ${deeds.pauses} pauses, ${deeds.cuts} cuts at a COMMIT, ${deeds.restarts} restarts, ${deeds.failovers + deeds.losing} failovers (${deeds.losing} losing commits), ${deeds.restores} restored, ${deeds.oldPrimaries} old primaries back, ${deeds.clocks} clocks set, ${deeds.copies} settings copied, ${throttled} answers 429`
}

async function runReceivers(): Promise<Counted> {
  const { kills: killed, acknowledged, lost, ...wrong } = await receivers(share(50), seeded(seed * 10 + 2))
  const isWrong = Object.values(wrong).some((many) => many > 0)
  return {
    amount: `${acknowledged} events, ${killed} kills`,
    twice: 0,
    lost,
    unknownPerKill: undefined,
    failure: isWrong ? JSON.stringify(wrong) : undefined,
  }
}

async function runCase({ play, section }: Case, store: Backend): Promise<Counted> {
  const stage = await Stage.open(store)
  try {
    const failure = await play(stage).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const { kills: killed, twice, lost, unknown } = await stage.tally()
    const amount = `${stage.sandbox.requests().length} orders${killed === 0 ? '' : `, ${killed} kills`}`
    // Rows that a store had lost become `unknown` without a kill, so the number per kill would mean nothing.
    const unknownPerKill = killed === 0 || section === 'Age' ? undefined : unknown / killed
    return { amount, twice, lost, unknownPerKill, failure }
  } finally {
    await stage.close()
  }
}
