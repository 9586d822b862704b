/*
 * Breaks the fleet's rules one at a time and runs the campaign briefly with each, so that it meets what the rule is there
 * for, and with the program as it is: says which are found.
 * Run: node test/campaign/fleet/mutants.ts [--seeds 3] [--first 1] [--only PART_OF_A_NAME]
 */
import { parseArgs } from 'node:util'

import { fleet, type FleetTally, type Plan } from './fleet.ts'
import { type Edit, MutatedProgram } from './mutated.ts'
import { receivers } from './receivers.ts'
import { printTable } from '../../bench/measuring.ts'
import { seeded } from '../../harness/seeded-random.ts'

const ledger = 'src/store/ledger'
const postgres = `${ledger}/postgres`
const calm: Plan = {
  rows: 120,
  files: 3,
  kills: 0,
  pauses: 0,
  cuts: 0,
  restarts: 0,
  failovers: 0,
  losing: 0,
  quota: [{ calls: 10_000, seconds: 60 }],
  answersAfterMs: 100,
}
const plans = {
  'a standby that lacks the last commits takes over': {
    ...calm,
    files: 1,
    rows: 44,
    losing: 1,
    failsOverAtRest: true,
    quota: [{ calls: 40, seconds: 12 }],
    answersAfterMs: 10,
  },
  'runners are killed': { ...calm, kills: 12 },
  'runners stand still past their lease': { ...calm, files: 6, pauses: 6 },
  // A row that had to wait for its place is claimed by itself, and another machine is there to take one that was given back.
  'the network is lost at the COMMIT of a claim': {
    ...calm,
    files: 1,
    rows: 60,
    cuts: 20,
    cutsClaims: true,
    quota: [{ calls: 4, seconds: 1 }],
  },
  'all files hold the same people': { ...calm, rows: 45, shared: 1, inStep: true, commitDelayMs: 500 },
  'the quota is used up': {
    ...calm,
    rows: 90,
    quota: [{ calls: 60, seconds: 30 }],
    isQuotaOurs: true,
    answersAfterMs: 0,
  },
} satisfies Record<string, Plan>
const receiving = 'two receivers are killed'
const receiverKills = 8

const resent: Edit = {
  path: 'src/domain/submission/recovery.ts',
  from: "return { to: 'unknown', at,",
  to: "return { to: 'pending', at,",
}
const unlocked: Edit = {
  path: `${postgres}/engine.ts`,
  from: "if (account !== '') await sql.run(lockNobody)\n  await sql.run(lockOne, { account })",
  to: "await sql.get(`SELECT 1 WHERE :account = ''`, { account })\n  void lockNobody\n  void lockOne",
}
const mutants: readonly {
  what: string
  edits: readonly Edit[]
  plan: keyof typeof plans | typeof receiving
}[] = [
  {
    what: 'a claim does not compare the epoch of its server',
    edits: [
      {
        path: `${ledger}/claim.ts`,
        from: "isSameEpoch: textOf(fence.epoch) === (fence.epoch_now ?? '')",
        to: 'isSameEpoch: true',
      },
    ],
    plan: 'a standby that lacks the last commits takes over',
  },
  {
    what: 'attempts are not recorded on the machine',
    edits: [
      {
        path: `${ledger}/rollback-detection.ts`,
        from: "log.append({ kind: 'entry', generation: this.#begun?.generation ?? '', ...attempt })",
        to: 'void attempt',
      },
    ],
    plan: 'a standby that lacks the last commits takes over',
  },
  {
    what: 'a new server is accepted before all machines have reported',
    edits: [
      {
        path: 'src/domain/store/closing.ts',
        from: "if (unreportedLogs(closing, logs).length > 0) return 'reports'",
        to: '',
      },
    ],
    plan: 'a standby that lacks the last commits takes over',
  },
  {
    what: 'a row in flight whose runner is gone is sent again',
    edits: [resent],
    plan: 'runners are killed',
  },
  {
    what: 'an order leaves though its attempt was not committed',
    edits: [
      {
        path: `${postgres}/connection.ts`,
        from: 'await this.#commit(client)\n      return result',
        to: 'await (Math.random() < 0.9 ? this.#commit(client) : this.#rollBack(client))\n      return result',
      },
    ],
    plan: 'runners are killed',
  },
  {
    what: 'a row whose lease is over is sent again, though its runner is there',
    edits: [
      resent,
      {
        path: `${postgres}/engine.ts`,
        from: 'AND (r.leased_until >= ${databaseNow} OR ${runnerIsThere})',
        to: 'AND r.leased_until >= ${databaseNow}',
      },
    ],
    plan: 'runners stand still past their lease',
  },
  {
    what: 'a claim whose COMMIT has no answer is sent',
    edits: [
      {
        path: `${ledger}/ledger.ts`,
        from: 'await this.#takeBack(claim, unanswered)\n        return { waitMs: 0,',
        to: 'if (claim !== undefined) return this.#listed(claim)\n        return { waitMs: 0,',
      },
    ],
    plan: 'the network is lost at the COMMIT of a claim',
  },
  {
    // Nobody is ordered twice by that alone: a row is there, `pending` and for all to see, before it is claimed, so of two
    // claims at least the later one sees the other's row. Both may, and then neither goes out.
    what: 'nobody locks the account',
    edits: [unlocked],
    plan: 'all files hold the same people',
  },
  {
    what: 'nobody locks the account, a pending row is nobody’s match, and two of a person may be in flight',
    edits: [
      unlocked,
      { path: 'src/domain/submission/match.ts', from: "  'pending',\n] as const", to: '] as const' },
      {
        path: `${ledger}/schema.ts`,
        from: 'CREATE UNIQUE INDEX submissions_sending',
        to: 'CREATE INDEX submissions_sending',
      },
    ],
    plan: 'all files hold the same people',
  },
  {
    what: 'the quota goes by the clocks of the machines',
    edits: [{ path: `${ledger}/quota.ts`, from: ', stored?.now ?? undefined)', to: ')' }],
    plan: 'the quota is used up',
  },
  {
    what: 'an event is acknowledged before it is kept',
    edits: [
      {
        path: 'src/usecases/webhook/listen.ts',
        from: 'waiting.push({ event, kept, failed })',
        to: 'waiting.push({ event, kept, failed })\n      kept({ ...event, id: 0, repeated: false })',
      },
    ],
    plan: receiving,
  },
  {
    what: 'an event is forwarded though an earlier one of its request waits',
    edits: [
      {
        path: `${ledger}/inbox.ts`,
        from: 'p.request_id = e.request_id AND p.id < e.id',
        to: 'p.request_id = e.request_id AND p.id < 0',
      },
    ],
    plan: receiving,
  },
  {
    what: 'every receiver forwards',
    edits: [
      {
        path: `${ledger}/inbox.ts`,
        from: "return this.#holds.take({ id: 'forwarding', kind: 'file' }, shortWait)",
        to: 'void shortWait\n    return Promise.resolve({ release: () => Promise.resolve() })',
      },
    ],
    plan: receiving,
  },
  {
    what: 'adds of events take no turns',
    edits: [{ path: `${postgres}/engine.ts`, from: 'await sql.run(lockEvents)', to: 'void lockEvents' }],
    plan: receiving,
  },
]

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
  const windows = tally.fullest.filter(({ seconds }) => seconds >= 15)
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
async function tell(what: string, edits: readonly Edit[], plan: Parameters<typeof tried>[0]): Promise<void> {
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

for (const { what, edits, plan } of mutants) await tell(what, edits, plan)
for (const plan of [...(Object.keys(plans) as (keyof typeof plans)[]), receiving] as const)
  await tell(`as it is: ${plan}`, [], plan)
printTable([['the program', 'what the campaign found', 'time'], ...rows])
if (isWrong) process.exitCode = 1
