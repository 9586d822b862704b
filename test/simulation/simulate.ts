import { randomUUID } from 'node:crypto'

import { Crash, Mortality } from './crash.ts'
import { seeded } from '../harness/seeded-random.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import type { Mutant } from './mutants.ts'
import { connectApi } from '../../src/api/service.ts'
import type { BatchCounts, NewRow } from '../../src/domain/batch/batch.ts'
import { RefcheckError } from '../../src/errors/base.ts'
import type { Random } from '../../src/host/random.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/control/create-sandbox.ts'
import type { Hold } from '../../src/store/ledger/ledger.ts'
import { openStore } from '../../src/store/ledger/open.ts'
import type { Store } from '../../src/store/ledger/store.ts'
import { carryOut } from '../../src/usecases/batch/carry-out.ts'
import type { RunPorts } from '../../src/usecases/batch/ports.ts'
import { governor } from '../../src/usecases/quota/governor.ts'
import { stormOver, trouble } from './storm.ts'
import { simulatedWire } from './wire.ts'

const baseUrl = 'http://127.0.0.1:4010'
const windows = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]
const mostRuns = 12

export interface SimulationResult {
  seed: number
  /** What was broken; empty where all held. */
  broken: string[]
  counts: BatchCounts
  kills: number
}

/** One world: its clock, its service, its store, and all the processes that ever ran the batch. */
class Simulation {
  readonly clock = new ManualClock({ now: Date.UTC(2026, 10, 21, 9), auto: true })
  readonly rng: () => number
  readonly sandbox: Sandbox
  readonly mutant: Mutant
  readonly rows: number
  readonly held = new Set<Hold>()
  readonly batchId = randomUUID()
  store!: Store
  kills = 0
  /** Creates whose answers left nobody the wiser. */
  lostAnswers = 0
  /** Calls that the service refused of itself, for want of quota. */
  refused = 0

  constructor(seed: number, mutant: Mutant) {
    this.rng = seeded(seed)
    this.mutant = mutant
    this.sandbox = createSandbox({ clock: this.clock, seed, rules: 'seeded' })
    this.rows = 4 + Math.floor(this.rng() * 20)
    this.sandbox.log.subscribe((entry) => {
      if (entry.kind !== 'call') return
      if (entry.status === 429 && entry.fault === null) this.refused += 1
      // A refusal that a fault made up is clear; whatever else a fault does leaves the answer in doubt.
      const isClear =
        entry.fault === null || (entry.fault === 'status' && [400, 429].includes(entry.status ?? 0))
      if (entry.method === 'POST' && !isClear) this.lostAnswers += 1
    })
  }

  async start(): Promise<void> {
    const { clock } = this
    const paths = { config: '/nowhere', data: '/nowhere' }
    this.store = await openStore({ chosen: ':memory:', paths, cwd: '/', clock, random: this.#random })
    await this.store.batches.add(
      {
        id: this.batchId,
        addedAt: clock.now(),
        baseUrl,
        userEmail: this.sandbox.credentials.userEmail,
        identity: this.batchId,
        name: 'people.csv',
        sha256: '',
        packageId: this.sandbox.packageIds.simple,
        path: undefined,
        resultsFile: undefined,
        reading: '{}',
        allowDuplicate: false,
      },
      Array.from({ length: this.rows }, (_, at) => simulatedRow(at + 1, this.sandbox.packageIds.simple)),
    )
  }

  /** One process, which may be killed at a step, beside another one now and then. */
  async process(stormy: boolean): Promise<'done' | 'again'> {
    const mend = stormy ? trouble(this.sandbox, this.rng) : () => undefined
    if (stormy) stormOver(this.sandbox, this.rng)
    else this.#calm()
    const dieAt =
      stormy && this.rng() < 0.7 ? 1 + Math.floor(this.rng() * this.rows * 6) : Number.POSITIVE_INFINITY
    const processes = [this.#run(new Mortality(dieAt))]
    if (this.rng() < 0.2) processes.push(this.#run(new Mortality(Number.POSITIVE_INFINITY)))
    await Promise.all(processes)
    // The kernel frees what a dead process held.
    for (const hold of this.held) await hold.release()
    this.held.clear()
    mend()
    await this.clock.sleep(1000)
    const { pending, sending } = await this.store.batches.counts(this.batchId)
    return pending + sending === 0 ? 'done' : 'again'
  }

  /** Whatever was broken on the service is mended. */
  #calm(): void {
    this.sandbox.clearFaults()
    this.sandbox.setCredits(null)
    this.sandbox.setUserActive(this.sandbox.credentials.userEmail, true)
  }

  async #run(mortality: Mortality): Promise<void> {
    const { clock, sandbox, store, rng } = this
    const { apiKey, userEmail } = sandbox.credentials
    const http = simulatedWire(sandbox, { connects: () => rng() > 0.02 })
    const api = connectApi({
      http,
      clock,
      random: this.#random,
      baseUrl,
      credentials: { apiKey, userEmail },
      budgetMs: 60_000,
    })
    const account = store.quota.account(baseUrl, apiKey)
    const ledger = { ...methods(store.ledger), hold: this.#holding(store.ledger.hold.bind(store.ledger)) }
    const batches = { ...methods(store.batches), hold: this.#holding(store.batches.hold.bind(store.batches)) }
    let undo: (() => Promise<void>) | undefined
    const mutated = this.mutant({ api, ledger, batches, clock, onDeath: (work) => (undo = work) })
    const running: RunPorts = {
      api: mortality.of(mutated.api),
      ledger: mortality.of(mutated.ledger),
      batches: mortality.of(mutated.batches),
      waiting: store.waiting,
      governor: governor({ quota: store.quota, account, windows, clock }),
      clock,
      random: this.#random,
      cache: { get: () => Promise.resolve(undefined), put: () => Promise.resolve() },
    }
    try {
      await carryOut(running, this.batchId, {
        max: Number.POSITIVE_INFINITY,
        waitBudgetMs: Number.POSITIVE_INFINITY,
        unclaimed: () => Promise.resolve([]),
        writeResults: () => Promise.resolve(undefined),
      })
    } catch (error) {
      if (mortality.dead) {
        this.kills += 1
        await undo?.()
      } else if (!(error instanceof RefcheckError) && !(error instanceof Crash)) throw error
    }
  }

  #holding<A extends unknown[]>(hold: (...args: A) => Promise<Hold | undefined>) {
    return async (...args: A): Promise<Hold | undefined> => {
      const taken = await hold(...args)
      if (taken !== undefined) this.held.add(taken)
      return taken
    }
  }

  readonly #random: Random = {
    uuid: () => randomUUID(),
    bytes: (count) => Buffer.alloc(count, 7),
    fraction: () => this.rng(),
  }

  /** What has to hold whatever happened. */
  async verdict(): Promise<{ broken: string[]; counts: BatchCounts }> {
    const broken: string[] = []
    const counts = await this.store.batches.counts(this.batchId)
    const ordered = new Map<string, string[]>()
    for (const { request_id, recipient } of this.sandbox.requests()) {
      ordered.set(recipient.email, [...(ordered.get(recipient.email) ?? []), request_id])
    }
    for (const [email, ids] of ordered)
      if (ids.length > 1) broken.push(`${email} was ordered ${ids.length} times`)
    if (counts.total !== this.rows) broken.push(`${counts.total} of ${this.rows} rows are accounted for`)
    if (counts.pending + counts.sending > 0)
      broken.push(`${counts.pending + counts.sending} rows never came to an end`)
    for await (const row of this.store.batches.rows(this.batchId)) {
      const ids = ordered.get(row.recipient?.email ?? '') ?? []
      const known = row.requestId === undefined ? [] : [row.requestId]
      if (row.state === 'accepted' && !ids.includes(row.requestId ?? ''))
        broken.push(`row ${row.row}: an id that is not there`)
      const lost = row.state !== 'unknown' && ids.some((id) => !known.includes(id))
      if (lost) broken.push(`row ${row.row} (${row.state}): an order on the service that nobody knows of`)
    }
    if (this.refused > 0) broken.push(`the quota was passed ${this.refused} times`)
    if (counts.unknown > this.lostAnswers + this.kills) {
      broken.push(
        `${counts.unknown} rows unknown after ${this.kills} kills and ${this.lostAnswers} lost answers`,
      )
    }
    return { broken, counts }
  }
}

/** Runs one seed to its end: storms and kills first, then in peace until every row has come to one. */
export async function simulate(seed: number, mutant: Mutant): Promise<SimulationResult> {
  const simulation = new Simulation(seed, mutant)
  await simulation.start()
  const stormyRuns = 1 + Math.floor(simulation.rng() * 4)
  for (let run = 0; run < mostRuns; run += 1) {
    if ((await simulation.process(run < stormyRuns)) === 'done' && run >= stormyRuns) break
  }
  const verdict = await simulation.verdict()
  const { kills } = simulation
  await simulation.store.close()
  simulation.sandbox.close()
  return { seed, ...verdict, kills }
}

/** An object's methods as functions of their own, for a mutant or a proxy to stand before. */
function methods<T extends object>(object: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(object) as object).filter(
    (name) => name !== 'constructor',
  )
  const own = Object.fromEntries(
    names.map((name) => {
      const value: unknown = Reflect.get(object, name, object)
      return [name, typeof value === 'function' ? (value.bind(object) as unknown) : value]
    }),
  )
  return { ...object, ...own }
}

/** A row of people of whom nobody resembles another. */
export function simulatedRow(row: number, packageId: number): NewRow {
  const recipient = {
    first_name: 'Ana',
    last_name: `Row ${row}`,
    email: `row${row}@example.com`,
    phone: `+614000${String(row).padStart(5, '0')}`,
  }
  const body = Buffer.from(JSON.stringify({ package_id: packageId, recipient }))
  return { row, state: 'pending', packageId, recipient, body }
}
