import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Crash, Mortality } from './crash.ts'
import { seeded } from '../harness/seeded-random.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { connectApi } from '../../src/api/service.ts'
import { RefcheckError } from '../../src/errors/base.ts'
import { systemRandom } from '../../src/host/random.ts'
import { createSandbox } from '../../src/sandbox/control/create-sandbox.ts'
import type { Batches } from '../../src/store/ledger/batches.ts'
import type { Hold, Ledger } from '../../src/store/ledger/ledger.ts'
import { openStore } from '../../src/store/ledger/open.ts'
import type { Store } from '../../src/store/ledger/store.ts'
import { carryOut } from '../../src/usecases/batch/carry-out.ts'
import type { RunPorts } from '../../src/usecases/batch/ports.ts'
import { governor } from '../../src/usecases/quota/governor.ts'
import { simulatedRow } from './simulate.ts'
import { simulatedWire } from './wire.ts'

const baseUrl = 'http://127.0.0.1:4010'
const windows = [{ calls: 100_000, seconds: 60 }]

/** What befalls the files of a store between two runs. */
const harms = ['none', 'restore', 'no wal', 'cut wal', 'torn wal', 'lost', 'torn list'] as const

export interface ForgettingResult {
  seed: number
  /** What was broken; empty where all held. */
  broken: string[]
  harmed: string[]
  /** How often the store was found closed. */
  closed: number
  kills: number
}

/** A real store file, whose processes are killed and whose files are copied, put back, cut and torn. */
class Forgetting {
  readonly clock = new ManualClock({ now: Date.UTC(2026, 10, 21, 9), auto: true })
  readonly rng: () => number
  readonly folder = mkdtempSync(join(tmpdir(), 'refcheck-forgetting-'))
  readonly path = join(this.folder, 'data', 'ledger.sqlite')
  readonly rows: number
  readonly sandbox
  readonly result: ForgettingResult
  batchId = randomUUID() as string
  readonly #held = new Set<Hold>()

  constructor(seed: number) {
    this.rng = seeded(seed)
    this.rows = 4 + Math.floor(this.rng() * 12)
    this.sandbox = createSandbox({ clock: this.clock, seed, quota: windows })
    this.result = { seed, broken: [], harmed: [], closed: 0, kills: 0 }
  }

  open(): Promise<Store> {
    const { clock, folder } = this
    const paths = { config: join(folder, 'config'), data: join(folder, 'data') }
    return openStore({ chosen: undefined, paths, cwd: folder, clock, random: systemRandom })
  }

  /** Adds the file's rows, unless the store knows the batch. */
  async take(store: Store): Promise<void> {
    const known = await store.batches.find(this.batchId)
    if (known !== undefined && known.counts.pending > 0) return
    if (known !== undefined) {
      if (known.counts.total === this.rows) return
      // It came back from the list with some of its rows: the file is a batch of its own again.
      this.batchId = randomUUID()
    }
    const { clock, sandbox, batchId: id } = this
    const packageId = sandbox.packageIds.simple
    const rows = Array.from({ length: this.rows }, (_, at) => simulatedRow(at + 1, packageId))
    await store.batches.add(
      {
        id,
        addedAt: clock.now(),
        baseUrl,
        userEmail: sandbox.credentials.userEmail,
        identity: id,
        name: 'people.csv',
        sha256: '',
        packageId,
        path: undefined,
        resultsFile: undefined,
        reading: '{}',
        allowDuplicate: false,
      },
      rows,
    )
  }

  /** One process: it goes on with the batch, and may be killed on the way; what SIGKILL leaves is left. */
  async process(dieAt: number): Promise<'done' | 'again'> {
    const store = await this.open()
    const mortality = new Mortality(dieAt)
    try {
      await this.take(store)
      await carryOut(this.#running(store, mortality), this.batchId, {
        max: Number.POSITIVE_INFINITY,
        waitBudgetMs: Number.POSITIVE_INFINITY,
        unclaimed: () => Promise.resolve([]),
        writeResults: () => Promise.resolve(undefined),
      })
      return 'done'
    } catch (error) {
      if (mortality.dead) this.result.kills += 1
      else if (!(error instanceof RefcheckError) && !(error instanceof Crash)) throw error
      return 'again'
    } finally {
      for (const hold of this.#held) await hold.release()
      this.#held.clear()
      this.copy('left')
      await store.close()
      this.putBack('left')
    }
  }

  #running(store: Store, mortality: Mortality): RunPorts {
    const { clock, sandbox, rng } = this
    const { apiKey, userEmail } = sandbox.credentials
    const http = simulatedWire(sandbox, { connects: () => rng() > 0.02 })
    const credentials = { apiKey, userEmail }
    const api = connectApi({ http, clock, random: systemRandom, baseUrl, credentials, budgetMs: 60_000 })
    return {
      api: mortality.of(api),
      ledger: mortality.of(this.#tracked(store.ledger)),
      batches: mortality.of(this.#tracked(store.batches)),
      waiting: store.waiting,
      governor: governor({
        quota: store.quota,
        account: store.quota.account(baseUrl, apiKey),
        windows,
        clock,
      }),
      clock,
      random: systemRandom,
      cache: { get: () => Promise.resolve(undefined), put: () => Promise.resolve() },
    }
  }

  /** The kernel frees what a dead process held. */
  #tracked<T extends Ledger | Batches>(port: T): T {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== 'hold') return value.bind(target) as unknown
        return async (...args: unknown[]): Promise<unknown> => {
          const hold = (await Reflect.apply(value, target, args)) as Hold | undefined
          if (hold !== undefined) this.#held.add(hold)
          return hold
        }
      },
    })
  }

  copy(name: string): void {
    for (const suffix of ['', '-wal']) {
      if (existsSync(this.path + suffix)) copyFileSync(this.path + suffix, join(this.folder, name + suffix))
      else rmSync(join(this.folder, name + suffix), { force: true })
    }
  }

  putBack(name: string): void {
    rmSync(`${this.path}-shm`, { force: true })
    for (const suffix of ['', '-wal']) {
      const from = join(this.folder, name + suffix)
      if (existsSync(from)) copyFileSync(from, this.path + suffix)
      else rmSync(this.path + suffix, { force: true })
    }
  }

  harm(): void {
    const harm = harms[Math.floor(this.rng() * harms.length)] ?? 'none'
    this.result.harmed.push(harm)
    const wal = `${this.path}-wal`
    const walSize = statSync(wal, { throwIfNoEntry: false })?.size ?? 0
    if (harm === 'restore' && existsSync(join(this.folder, 'backup'))) this.putBack('backup')
    if (harm === 'no wal') rmSync(wal, { force: true })
    if (harm === 'cut wal' && walSize > 0) truncateSync(wal, Math.floor(this.rng() * walSize))
    if (harm === 'torn wal' && walSize > 0) scribble(wal, Math.floor(this.rng() * walSize))
    if (harm === 'lost')
      for (const suffix of ['', '-wal', '-shm']) rmSync(this.path + suffix, { force: true })
    if (harm === 'torn list') this.#tearList()
  }

  /** A runner was killed while it appended. */
  #tearList(): void {
    const lists = join(this.folder, 'config', 'attempts')
    for (const name of readdirSync(lists).filter((each) => each.endsWith('.list')))
      appendFileSync(join(lists, name), '\n0123456789abcdef ["half')
  }

  /** Accepts a store that was found closed, once it was seen that nothing was sent with it. */
  async accept(): Promise<void> {
    const store = await this.open()
    const closed = await store.maintenance.closed()
    if (closed !== undefined) {
      this.result.closed += 1
      const before = this.sandbox.requests().length
      await store.close()
      await this.process(Number.POSITIVE_INFINITY)
      if (this.sandbox.requests().length > before) this.result.broken.push('a closed store sent')
      const again = await this.open()
      await again.maintenance.acceptOlder()
      return again.close()
    }
    return store.close()
  }

  /** Every batch that the store knows is gone on with until nothing waits. */
  async inPeace(): Promise<void> {
    for (let run = 0; run < 4; run += 1) {
      await this.process(Number.POSITIVE_INFINITY)
      const store = await this.open()
      const batches = await store.batches.list()
      await store.close()
      for (const { id, counts } of batches) {
        if (counts.pending + counts.sending === 0) continue
        this.batchId = id
        await this.process(Number.POSITIVE_INFINITY)
      }
    }
  }

  /** By person and by id: nobody has two orders, and nobody who has one is free to be ordered again. */
  async judge(): Promise<void> {
    const ordered = new Map<string, string[]>()
    for (const { request_id, recipient } of this.sandbox.requests())
      ordered.set(recipient.email, [...(ordered.get(recipient.email) ?? []), request_id])
    for (const [email, ids] of ordered)
      if (ids.length > 1) this.result.broken.push(`${email} was ordered ${ids.length} times`)
    const store = await this.open()
    const submissions = await store.ledger.list({ states: ['pending', 'sending'] })
    if (submissions.length > 0) this.result.broken.push(`${submissions.length} rows never came to an end`)
    this.batchId = randomUUID()
    await this.take(store)
    for await (const row of store.batches.rows(this.batchId)) {
      const ids = ordered.get(row.recipient?.email ?? '') ?? []
      if (ids.length > 0 && row.state === 'pending')
        this.result.broken.push(`${row.email}: nobody knows of ${ids[0]}`)
    }
    await store.close()
  }
}

function scribble(path: string, at: number): void {
  const descriptor = openSync(path, 'r+')
  writeSync(descriptor, Buffer.alloc(16, 0x5a), 0, 16, at)
  closeSync(descriptor)
}

/** Runs one seed: kills and harm first, then in peace until every row has come to an end. */
export async function forgetting(seed: number): Promise<ForgettingResult> {
  const world = new Forgetting(seed)
  const { rng, result } = world
  try {
    for (let round = 1 + Math.floor(rng() * 4); round > 0; round -= 1) {
      const copyAt = Math.floor(rng() * world.rows)
      const stop = world.sandbox.log.subscribe(() => {
        if (world.sandbox.requests().length === copyAt) world.copy('backup')
      })
      await world.process(rng() < 0.8 ? 4 + Math.floor(rng() * world.rows * 6) : Number.POSITIVE_INFINITY)
      stop()
      world.harm()
      await world.accept()
    }
    await world.inPeace()
    await world.judge()
  } finally {
    world.sandbox.close()
    rmSync(world.folder, { recursive: true, force: true })
  }
  return result
}
