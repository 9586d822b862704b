import { Life, Turns } from './crash.ts'
import { bodyFor, humanOf, type Human, humans, type OnOffer } from './people.ts'
import { type Happened, type Loss, nothingHappened } from './happened.ts'
import { type Machine, Machines } from './machines.ts'
import type { StoreFiles } from './store-files.ts'
import { simulatedWire } from './wire.ts'
import type { Mutant } from './mutants.ts'
import type { Clock } from '../../src/host/clock.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { seeded } from '../harness/seeded-random.ts'
import type { RequestBody } from '../../src/contract/request.ts'
import { connectApi } from '../../src/api/api.ts'
import { similarity } from '../../src/domain/submission/similarity.ts'
import type { Change } from '../../src/domain/submission/states.ts'
import type { Attempt } from '../../src/domain/submission/submission.ts'
import type { Random } from '../../src/host/random.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/control/embedded.ts'
import type { Batches } from '../../src/store/ledger/batches.ts'
import type { Lease } from '../../src/store/ledger/store-part.ts'
import { openStore } from '../../src/store/ledger/open.ts'
import type { Store } from '../../src/store/ledger/store.ts'
import type { StartServices } from '../../src/usecases/batch/start.ts'
import { governor } from '../../src/usecases/quota/governor.ts'

export const baseUrl = 'http://127.0.0.1:4010'
const windows = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

/** A file of people as it lies on a user's disk. */
export interface PeopleFile {
  name: string
  rows: { human: Human; spelling: number }[]
  offer: OnOffer
  allowDuplicate: boolean
  /** Its rows may share an e-mail or a phone: they are two people each. */
  allowSimilar: boolean
}

/** All that one process has. */
export interface Process {
  life: Life
  store: Store
  ports: StartServices
  machine: Machine
}

/** One seed: its clock, its service, its people, the files of its store, and all processes that ever were. */
export class World {
  readonly clock = new ManualClock({ now: Date.UTC(2026, 10, 21, 9), auto: true })
  readonly rng: () => number
  readonly turns: Turns
  readonly sandbox: Sandbox
  readonly mutant: Mutant
  readonly files: StoreFiles
  readonly machines: Machines
  readonly happened: Happened = nothingHappened()
  readonly losses: Loss[] = []
  /** Which machine made an attempt. */
  readonly madeBy = new Map<string, Machine>()
  /** People who were ordered twice in a way that the program cannot notice. */
  readonly excused = new Set<Human>()
  readonly everybody: Human[]
  readonly peopleFiles: PeopleFile[] = []
  /** Batches whose rows may be similar to one another. */
  readonly allowing = new Set<string>()
  /** Which attempt a request of the service came of. */
  readonly sentBy = new Map<string, string>()
  /** Requests that another program made, which the store knows by their events alone. */
  readonly elsewhere = new Set<string>()
  /** What was done, call by call: the same for the same seed. */
  readonly trace: string[] = []
  readonly broken: string[] = []
  readonly harmed: string[] = []
  offer: OnOffer
  kills = 0
  closed = 0
  /** Creates whose answers did not show what became of them. */
  lostAnswers = 0
  /** Rows that became unknown while a process ran. */
  unknown = 0
  /** Calls that the service refused of itself, for want of quota. */
  refused = 0
  readonly #processes: { store: Store; leases: Set<Lease>; undo: () => Promise<void> }[] = []

  constructor(seed: number, mutant: Mutant, files: StoreFiles) {
    this.files = files
    this.rng = seeded(seed)
    this.machines = new Machines(files, this.rng)
    this.turns = new Turns(this.rng)
    this.mutant = mutant
    this.sandbox = createSandbox({ clock: this.clock, seed, rules: 'seeded' })
    this.offer = { id: this.sandbox.packageIds.simple, hasConsent: false }
    this.everybody = humans(5 + Math.floor(this.rng() * 9), this.rng)
    this.sandbox.log.subscribe((entry) => {
      if (entry.kind !== 'call') return
      this.trace.push(`${entry.method} ${entry.path} ${entry.status} ${entry.fault}`)
      if (entry.status === 429 && entry.fault === null) this.refused += 1
      // What a fault does to an answer leaves it unclear, but for a 429.
      const isClear =
        (entry.fault === null && (entry.status ?? 500) < 500) ||
        (entry.fault === 'status' && entry.status === 429)
      if (entry.method === 'POST' && !isClear) this.lostAnswers += 1
    })
  }

  readonly random: Random = {
    uuid: () => {
      const hex = Array.from({ length: 32 }, () => Math.floor(this.rng() * 16).toString(16)).join('')
      return [8, 12, 16, 20, 32].map((end, at, ends) => hex.slice(ends[at - 1] ?? 0, end)).join('-')
    },
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => Math.floor(this.rng() * 256))),
    fraction: () => this.rng(),
  }

  /** With a clock of its own, and connections that end with their process. */
  get #hasServer(): boolean {
    return this.files.chosen !== undefined
  }

  /** `patienceMs`: for a server that goes away meanwhile. */
  open(machine = this.machines.present[0]!, patienceMs = 0): Promise<Store> {
    const { random } = this
    const { folder, paths, chosen, busyMs } = this.files
    return openStore({
      chosen,
      paths: { ...paths, config: machine.config },
      cwd: folder,
      clock: this.#clockOf(machine),
      random,
      busyMs,
      patienceMs,
    })
  }

  /** Another program orders a person; undefined where the service refuses it. */
  async orderElsewhere(human: Human): Promise<string | undefined> {
    const { clock, random, sandbox } = this
    const http = simulatedWire(sandbox, { connects: () => true })
    const { credentials } = sandbox
    const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 60_000 })
    await api.createRequest(Buffer.from(JSON.stringify(bodyFor(human.spellings[0]!, this.offer))))
    const made = sandbox.requests().find((request) => this.humanOf(request) === human)?.request_id
    if (made !== undefined) this.elsewhere.add(made)
    return made
  }

  /** A process with everything the program has, mortal where it says `dieAt`. */
  async process(dieAt = Number.POSITIVE_INFINITY): Promise<Process> {
    if (this.#hasServer) await this.files.setTime(this.clock.now())
    const machine = this.machines.next()
    const store = await this.open(machine, 60_000)
    const number = this.trace.push(`a process that dies at step ${dieAt}`)
    const life = new Life(this.turns, dieAt, (what) => this.trace.push(`${number} ${what}`))
    const leases = new Set<Lease>()
    const dead = { store, leases, undo: () => Promise.resolve() }
    this.#processes.push(dead)
    const clock = this.#clockOf(machine)
    const { random } = this
    const { apiKey, userEmail } = this.sandbox.credentials
    const http = simulatedWire(this.sandbox, { connects: () => this.rng() > 0.02 })
    const credentials = { apiKey, userEmail }
    const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 60_000 })
    const account = store.quota.account(baseUrl, apiKey)
    const mutated = this.mutant({
      api: {
        ...api,
        createRequest: (body, signal) =>
          this.#create({ life, machine }, body, () => api.createRequest(body, signal)),
      },
      ledger: { ...methods(store.ledger), acquire: tracked(store.ledger.acquire.bind(store.ledger), leases) },
      batches: {
        ...methods(store.batches),
        acquire: tracked(store.batches.acquire.bind(store.batches), leases),
      },
      clock,
      onDeath: (work) => (dead.undo = work),
    })
    const ports: StartServices = {
      api: life.of(this.#noting({ life, machine }, mutated.api), ['clockDifferenceMs']),
      ledger: life.of(this.#noting({ life, machine }, mutated.ledger)),
      batches: life.of(mutated.batches as Batches, ['rows', 'bodies']),
      waiting: life.of(store.waiting),
      inbox: life.of(store.inbox, ['list']),
      packageNames: {
        get: async () => new Map(),
        put: async () => {},
        forUsers: async () => () => undefined,
      },
      unmatched: life.of(store.unmatched),
      governor: governor({ quota: store.quota, account, windows, clock }),
      clock: { ...clock, sleep: (ms, signal) => this.#sleep(life, ms, signal) },
      random,
      schemas: { get: () => Promise.resolve(undefined), put: () => Promise.resolve() },
      files: { cwd: this.files.folder, stdin: { isTTY: false, stream: nothing() } },
      prompter: undefined,
      meter: { onStart: () => undefined, onEvent: () => undefined },
      onBatchEvent: () => undefined,
      waitBudgetMs: Number.POSITIVE_INFINITY,
    }
    return { life, store, ports, machine }
  }

  /** What its wall clock shows; time that passes by a wait passes on the server too. */
  #clockOf(machine: Machine): Clock {
    const { clock, files } = this
    return {
      now: () => clock.now() + machine.aheadMs,
      monotonic: () => clock.monotonic(),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal)
        await files.setTime(clock.now())
      },
    }
  }

  /** What the kernel does for a process that has ended; its connections are closed with the round. */
  async free(process: Process): Promise<void> {
    const found = this.#processes.find(({ store }) => store === process.store)
    for (const lease of found?.leases ?? []) await lease.release()
    found?.leases.clear()
    if (!process.life.isDead) return
    this.kills += 1
    await found?.undo()
    if (this.#hasServer) {
      await process.store.close()
      await this.files.endLeases()
    }
    // Killed between the commit and the end of the line that tells of it.
    const { lastAttempt, last } = process.life
    if (lastAttempt !== undefined && /^after (begin|moveAndBegin)/.test(last) && this.rng() < 0.3)
      this.files.tearLine(lastAttempt, process.machine.config)
  }

  /** Closes what is open, and leaves the files as SIGKILL does: no checkpoint, no WAL folded in. */
  async endRound(): Promise<void> {
    this.files.copy('left')
    for (const { store } of this.#processes.splice(0)) await store.close()
    this.files.restore('left')
    if (this.#hasServer) await this.files.endLeases()
  }

  humanOf(request: { recipient: Human['spellings'][number] }): Human {
    return humanOf(this.everybody, request.recipient)
  }

  /** The last attempt of each process. */
  readonly #attempts = new Map<Life, string>()

  async #sleep(life: Life, ms: number, signal?: AbortSignal): Promise<void> {
    await life.step('before sleep')
    await this.clock.sleep(ms, signal)
    await this.files.setTime(this.clock.now())
    await life.step('after sleep')
  }

  /** Notes which attempt is under way, and how often an outcome is unknown. */
  #noting<T extends object>({ life, machine }: Pick<Process, 'life' | 'machine'>, port: T): T {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (!['begin', 'beginInQuota', 'moveAndBegin', 'move', 'recover'].includes(String(name))) return value
        return async (...args: unknown[]) => {
          const result: unknown = await Reflect.apply(value as (...all: unknown[]) => unknown, target, args)
          if (name === 'recover') this.unknown += (result as unknown[]).length
          else if (name === 'move')
            this.unknown += result === true && (args[1] as Change).to === 'unknown' ? 1 : 0
          else {
            const { attempt = result } = (result ?? {}) as { attempt?: unknown }
            const { attemptId } = (attempt ?? {}) as Partial<Attempt>
            if (attemptId !== undefined) {
              this.#attempts.set(life, attemptId)
              this.madeBy.set(attemptId, machine)
              await this.#nextToUnknown(target as Process['ports']['ledger'], attempt as Attempt)
            }
            life.lastAttempt = attemptId
          }
          return result
        }
      },
    })
  }

  /** Whatever a file allows of its own rows, none goes past one whose outcome is unknown. */
  async #nextToUnknown(ledger: Process['ports']['ledger'], { batchId, row }: Attempt): Promise<void> {
    if (!this.allowing.has(batchId)) return
    const rows = await ledger.list({ batchId })
    const { recipient } = rows.find((each) => each.row === row) ?? {}
    for (const other of rows) {
      if (other.state !== 'unknown' || recipient === undefined || other.recipient === undefined) continue
      if (similarity(recipient, other.recipient)?.kind !== 'similar') continue
      this.broken.push(`row ${row} of ${batchId} went past row ${other.row}, whose outcome is unknown`)
    }
  }

  /** Notes what a create made. */
  async #create<T>(
    { life, machine }: Pick<Process, 'life' | 'machine'>,
    body: Uint8Array,
    send: () => Promise<T>,
  ): Promise<T> {
    const attempt = this.#attempts.get(life) ?? 'nobody'
    const { recipient } = (
      body.length === 0 ? {} : JSON.parse(Buffer.from(body).toString())
    ) as Partial<RequestBody>
    const before = new Set(this.sandbox.requests().map(({ request_id }) => request_id))
    if (recipient !== undefined) await this.#noteExcuse(this.humanOf({ recipient }), machine)
    try {
      return await send()
    } finally {
      for (const made of this.sandbox.requests()) {
        const isOurs = recipient !== undefined && this.humanOf(made) === this.humanOf({ recipient })
        if (isOurs && !before.has(made.request_id)) this.sentBy.set(made.request_id, attempt)
      }
    }
  }

  /**
   * Before an order of a person who has one: whether that is among what cannot be noticed. The store was restored to before
   * the first order, no user said so, and no log of this machine has anything of what was lost; or the log that had it is gone.
   */
  async #noteExcuse(human: Human, machine: Machine): Promise<void> {
    for (const request of this.sandbox.requests()) {
      if (this.humanOf(request) !== human) continue
      const attempt = this.sentBy.get(request.request_id) ?? ''
      if (await this.files.hasAttempt(attempt)) continue
      const losses = this.losses.filter(({ lost }) => lost.has(attempt))
      const isUnknown = losses.some(
        ({ lost, isSilent }) => isSilent && !this.machines.knowsAny(machine, lost),
      )
      if (!isUnknown && !this.isUnknowable(attempt)) continue
      this.excused.add(human)
      this.happened['not noticeable'] += 1
    }
  }

  /** An attempt that the store lost, and the only log that had it. */
  isUnknowable(attempt: string | undefined): boolean {
    return (
      this.losses.some(({ lost }) => lost.has(attempt ?? '')) &&
      this.madeBy.get(attempt ?? '')?.isGone === true
    )
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // Nothing is piped in.
}

function tracked<A extends unknown[]>(lease: (...args: A) => Promise<Lease | undefined>, leases: Set<Lease>) {
  return async (...args: A): Promise<Lease | undefined> => {
    const taken = await lease(...args)
    if (taken !== undefined) leases.add(taken)
    return taken
  }
}

/** An object's methods as functions of their own, for a mutant or a proxy to stand before. */
function methods<T extends object>(object: T): Pick<T, keyof T> {
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
