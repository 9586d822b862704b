/*
 * Runs the simulation with its stores on a PostgreSQL server that it starts. In the SQL of the store, the clock
 * of the server is replaced by the clock of the simulation.
 * Run: node test/simulation/postgres.ts [SEEDS [FIRST [MUTANT]]]
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..', '..')
const planVariable = 'MUTANTS_PLAN'

/** SQL of the store and its replacement: the simulation provides the time and the identity of the server. */
const simulatedSql = [
  {
    name: 'dialect.ts',
    edits: [
      ['clock_timestamp()', 'simulated_now()'],
      ['left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)', '(SELECT timeline FROM simulated_server)'],
      ["to_regclass('attempts')::oid", '(SELECT attempts FROM simulated_server)'],
    ],
  },
] as const

if (process.env[planVariable] === undefined) runWithSimulatedClock()
else await simulateAll()

/** Starts this program again with the replaced SQL. */
function runWithSimulatedClock(): void {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-simulation-'))
  const plan = join(folder, 'plan.json')
  const sources = simulatedSql.map(({ name, edits }) => {
    const path = join(root, 'src', 'store', 'ledger', 'postgres', name)
    let text = readFileSync(path, 'utf8')
    for (const [from, to] of edits) {
      if (!text.includes(from)) throw new Error(`${path} does not contain ${from} any more`)
      text = text.replaceAll(from, to)
    }
    return { path, text }
  })
  writeFileSync(plan, JSON.stringify({ sources }))
  const loader = pathToFileURL(join(root, 'test', 'mutants', 'load.ts')).href
  const { status } = spawnSync(
    process.execPath,
    [`--import=${loader}`, import.meta.filename, ...process.argv.slice(2)],
    { stdio: 'inherit', env: { ...process.env, [planVariable]: plan } },
  )
  rmSync(folder, { recursive: true })
  process.exitCode = status ?? 1
}

async function simulateAll(): Promise<void> {
  const { mutants, noMutation } = await import('./mutants.ts')
  const { limitSeedDuration } = await import('./seed-limit.ts')
  const { simulate } = await import('./simulate.ts')
  const { StoreDatabase } = await import('./store-database.ts')
  const { Cluster } = await import('../harness/postgres-cluster.ts')
  const [seeds = '20', first = '1', mutantName] = process.argv.slice(2)
  const mutant = mutantName === undefined ? noMutation : mutants[mutantName]
  if (mutant === undefined) throw new Error(`there is no mutant "${mutantName}"`)
  const { addCounts, createEventCounts } = await import('./event-counts.ts')
  const totals = {
    seeds: 0,
    broken: 0,
    twice: 0,
    lost: 0,
    kills: 0,
    closed: 0,
    orders: 0,
    eventCounts: createEventCounts(),
  }
  const startSeed = limitSeedDuration()
  const cluster = await Cluster.start(['max_connections=100'])
  try {
    for (let seed = Number(first); seed < Number(first) + Number(seeds); seed += 1) {
      startSeed(seed)
      const name = await cluster.create()
      const target = await StoreDatabase.open(cluster.url(name))
      const { broken, eventCounts, storeDamages, ...counts } = await simulate(seed, mutant, target)
      await target.close()
      await cluster.ask(`DROP DATABASE ${name} WITH (FORCE)`)
      totals.seeds += 1
      for (const count of ['twice', 'lost', 'kills', 'closed', 'orders'] as const)
        totals[count] += counts[count]
      addCounts(totals.eventCounts, eventCounts)
      if (broken.length === 0) continue
      totals.broken += 1
      console.log(
        `seed ${seed} (${storeDamages.join(', ')}): ${broken.join('; ')}\n  again: node test/simulation/postgres.ts 1 ${seed}`,
      )
    }
  } finally {
    await cluster.stop()
  }
  console.log(JSON.stringify(totals))
  if (totals.broken > 0) process.exitCode = 1
}
