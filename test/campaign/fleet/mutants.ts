/*
 * Breaks the fleet's rules one at a time and runs the campaign briefly with each, and with the program as it is: says which
 * are found. Run: node test/campaign/fleet/mutants.ts [--seeds 3] [--only PART_OF_A_NAME]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { fleet, type FleetTally, type Plan } from './fleet.ts'
import { printTable } from '../../bench/measuring.ts'
import { seeded } from '../../harness/seeded-random.ts'

interface Broken {
  what: string
  path: string
  from: string
  to: string
  plan: Plan
}

const root = join(import.meta.dirname, '..', '..', '..')
const postgres = 'src/store/ledger/postgres'
const quick = [{ calls: 10_000, seconds: 60 }]
const calm: Plan = {
  rows: 60,
  files: 3,
  kills: 0,
  pauses: 0,
  restarts: 0,
  failovers: 0,
  losing: 0,
  quota: quick,
}
const losing: Plan = { ...calm, rows: 45, losing: 1 }
const killed: Plan = { ...calm, rows: 60, kills: 12 }
const throttled: Plan = { ...calm, rows: 100, quota: [{ calls: 60, seconds: 15 }] }

const all: readonly Broken[] = [
  {
    what: 'a claim does not look which server it is on',
    path: `${postgres}/claim.ts`,
    from: 'fence === undefined || !fence.is_same',
    to: 'fence === undefined',
    plan: losing,
  },
  {
    what: 'attempts are not listed on the machine',
    path: `${postgres}/listing.ts`,
    from: 'this.#lists.append(own, listLine(attempt, digest))',
    to: 'void attempt',
    plan: losing,
  },
  {
    what: 'nobody locks the account',
    path: `${postgres}/locking.ts`,
    from: "if (account !== '') await sql.run(lockNobody)\n  await sql.run(lockOne, { account })",
    to: "await sql.get(`SELECT 1 WHERE :account = ''`, { account })",
    // Everybody is in each of the files.
    plan: { ...calm, rows: 180, shared: 1 },
  },
  {
    what: 'a row in flight whose runner is gone is sent again',
    path: 'src/domain/submission/recovery.ts',
    from: "return { to: 'unknown', at,",
    to: "return { to: 'pending', at,",
    plan: killed,
  },
  {
    what: 'an order leaves before its attempt is committed',
    path: `${postgres}/connection.ts`,
    from: 'await this.#commit(client)\n      return result',
    to: 'if (Math.random() < 0.5) await this.#commit(client)\n      return result',
    plan: killed,
  },
  {
    what: 'the quota goes by the clocks of the machines',
    path: `${postgres}/quota.ts`,
    from: 'decide(parsed(kept), now)',
    to: 'decide(parsed(kept))',
    plan: throttled,
  },
]

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '3' }, only: { type: 'string', default: '' } },
})

/** What was wrong; undefined where nothing was. */
function wrongIn(tally: FleetTally): string | undefined {
  if (tally.twice > 0) return `${tally.twice} ordered twice`
  if (tally.lost > 0) return `${tally.lost} lost`
  const passed = tally.fullest.find(({ orders, calls }) => orders > calls)
  if (passed !== undefined) return `${passed.orders} orders in ${passed.seconds} s, not ${passed.calls}`
  // A call that arrives later than others of its window is refused by the service, and that is obeyed: now and then.
  if (tally.throttled > tally.orders / 10 && tally.deeds.losing === 0) return `${tally.throttled} answers 429`
  return tally.failures[0]?.split('\n')[0]?.slice(0, 120)
}

/** The first seed that finds it, and what it found. */
async function tried(plan: Plan, mutated: { plan: string }, seeds: number): Promise<string | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const wrong = wrongIn(await fleet(plan, seeded(seed), mutated))
    if (wrong !== undefined) return `seed ${seed}: ${wrong}`
  }
  return undefined
}

const folder = mkdtempSync(join(tmpdir(), 'refcheck-fleet-mutants-'))
const file = join(folder, 'plan.json')
const rows: string[][] = []
let isWrong = false

async function tell(what: string, plan: Plan, shouldBeFound: boolean, sources: object[]): Promise<void> {
  if (!what.includes(values.only)) return
  const began = performance.now()
  writeFileSync(file, JSON.stringify({ sources }))
  const found = await tried(plan, { plan: file }, shouldBeFound ? Number(values.seeds) : 1)
  isWrong ||= (found !== undefined) !== shouldBeFound
  rows.push([what, found ?? 'nothing found', `${((performance.now() - began) / 1000).toFixed(0)} s`])
  process.stderr.write(`${rows.at(-1)?.join(': ')}\n`)
}

try {
  for (const [name, plan] of Object.entries({ losing, killed, throttled }))
    await tell(`as it is (${name})`, plan, false, [])
  for (const { what, path, from, to, plan } of all) {
    const text = readFileSync(join(root, path), 'utf8')
    if (!text.includes(from)) throw new Error(`${path} holds no "${from}" any more`)
    await tell(what, plan, true, [{ path: join(root, path), text: text.replace(from, () => to) }])
  }
  printTable([['the program', 'what the campaign found', 'time'], ...rows])
} finally {
  rmSync(folder, { recursive: true })
}
if (isWrong) process.exitCode = 1
