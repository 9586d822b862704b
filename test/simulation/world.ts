import { ProcessSteps, Scheduler } from './scheduler.ts'
import { createBody, findHuman, type Human, makePeople, type OfferedPackage } from './people.ts'
import { type EventCounts, type Loss, createEventCounts } from './event-counts.ts'
import { type Machine, Machines } from './machines.ts'
import type { StoreFiles } from './store-files.ts'
import { simulatedHttpClient } from './simulated-http.ts'
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
import { createGovernor } from '../../src/usecases/quota/governor.ts'

export const baseUrl = 'http://127.0.0.1:4010'
const quotaWindows = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

/** A file of people on a user's disk. */
export interface PeopleFile {
  name: string
  rows: { human: Human; spellingIndex: number }[]
  /** The package for which the file is run. */
  offer: OfferedPackage
  allowDuplicate: boolean
  /**
   * Run with `--allow-similar`: each row is a different person, though rows may share an e-mail or a phone.
   */
  allowSimilar: boolean
}

/** One simulated process, with its store and services. */
export interface Process {
  steps: ProcessSteps
  store: Store
  ports: StartServices
  machine: Machine
}

/** The state of one seed: its clock, service, people, store, machines and processes. */
export class World {
  readonly clock = new ManualClock({ now: Date.UTC(2026, 10, 21, 9), auto: true })
  readonly rng: () => number
  readonly scheduler: Scheduler
  readonly sandbox: Sandbox
  readonly mutant: Mutant
  readonly storage: StoreFiles
  readonly machines: Machines
  readonly eventCounts: EventCounts = createEventCounts()
  readonly losses: Loss[] = []
  /** The machine that made an attempt, by the attempt's id. */
  readonly machineOfAttempt = new Map<string, Machine>()
  /** People who were ordered twice in a way that the program cannot detect. */
  readonly undetectable = new Set<Human>()
  readonly everybody: Human[]
  readonly peopleFiles: PeopleFile[] = []
  /** Ids of batches that were run with `--allow-similar`. */
  readonly batchesAllowingSimilar = new Set<string>()
  /** The id of the attempt that made a request, by the request's id. */
  readonly attemptOfRequest = new Map<string, string>()
  /** Ids of requests that another program made, which the store knows only from events. */
  readonly foreignRequests = new Set<string>()
  /** Every call in sequence; the same seed gives the same trace. */
  readonly trace: string[] = []
  /** One sentence for each violation of a rule. */
  readonly broken: string[] = []
  /** The kinds of damage that were done to the store, and of rollbacks of the store, in sequence. */
  readonly storeDamages: string[] = []
  /** The package for which new files and orders are made. */
  offer: OfferedPackage
  /** Number of processes that were killed. */
  kills = 0
  /** How often the store was found closed. */
  closed = 0
  /** Number of POST calls whose answers did not show the outcome. */
  lostAnswerCount = 0
  /** Number of times that a row became `unknown` while a process ran. */
  unknownOutcomeCount = 0
  /** Number of calls that the service refused because the quota was exceeded. */
  quotaRefusalCount = 0
  /** The processes of this round. `undo` reverts what a power cut would lose. */
  readonly #processes: { store: Store; leases: Set<Lease>; undo: () => Promise<void> }[] = []

  constructor(seed: number, mutant: Mutant, storage: StoreFiles) {
    this.storage = storage
    this.rng = seeded(seed)
    this.machines = new Machines(storage, this.rng)
    this.scheduler = new Scheduler(this.rng)
    this.mutant = mutant
    this.sandbox = createSandbox({ clock: this.clock, seed, rules: 'seeded' })
    this.offer = { id: this.sandbox.packageIds.simple, hasConsent: false }
    this.everybody = makePeople(5 + Math.floor(this.rng() * 9), this.rng)
    this.sandbox.log.subscribe((entry) => {
      if (entry.kind !== 'call') return
      this.trace.push(`${entry.method} ${entry.path} ${entry.status} ${entry.fault}`)
      if (entry.status === 429 && entry.fault === null) this.quotaRefusalCount += 1
      // An answer that a fault has changed does not show the outcome, except a 429.
      const showsOutcome =
        (entry.fault === null && (entry.status ?? 500) < 500) ||
        (entry.fault === 'status' && entry.status === 429)
      if (entry.method === 'POST' && !showsOutcome) this.lostAnswerCount += 1
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

  /** Whether the store is on a server, which has its own clock, and whose connections end with their process. */
  get hasServer(): boolean {
    return this.storage.storeSetting !== undefined
  }

  /** Opens the store. `reconnectMs`: how long to wait for a server that is unreachable. */
  open(machine = this.machines.available[0]!, reconnectMs = 0): Promise<Store> {
    const { random } = this
    const { folder, paths, storeSetting, lockWaitMs } = this.storage
    return openStore({
      chosenAddress: storeSetting,
      paths: { ...paths, config: machine.config },
      cwd: folder,
      clock: this.#createClock(machine),
      random,
      lockWaitMs,
      reconnectMs,
    })
  }

  /** Orders a person as another program would. Returns the request id; undefined if the service refuses the order. */
  async orderElsewhere(human: Human): Promise<string | undefined> {
    const { clock, random, sandbox } = this
    const http = simulatedHttpClient(sandbox, { canConnect: () => true })
    const { credentials } = sandbox
    const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 60_000 })
    await api.createRequest(Buffer.from(JSON.stringify(createBody(human.spellings[0]!, this.offer))))
    const request = sandbox.requests().find((each) => this.findHumanOf(each) === human)
    if (request !== undefined) this.foreignRequests.add(request.request_id)
    return request?.request_id
  }

  /** Starts a process with all services of the program, which is killed at the step `killAtStep`. */
  async startProcess(killAtStep = Number.POSITIVE_INFINITY): Promise<Process> {
    if (this.hasServer) await this.storage.setTime(this.clock.now())
    const machine = this.machines.pickNext()
    const store = await this.open(machine, 60_000)
    const processNumber = this.trace.push(`a process that is killed at step ${killAtStep}`)
    const steps = new ProcessSteps(this.scheduler, killAtStep, (what) =>
      this.trace.push(`${processNumber} ${what}`),
    )
    const leases = new Set<Lease>()
    const started = { store, leases, undo: () => Promise.resolve() }
    this.#processes.push(started)
    const clock = this.#createClock(machine)
    const { random } = this
    const { apiKey, userEmail } = this.sandbox.credentials
    const http = simulatedHttpClient(this.sandbox, { canConnect: () => this.rng() > 0.02 })
    const credentials = { apiKey, userEmail }
    const api = connectApi({ http, clock, random, baseUrl, credentials, budgetMs: 60_000 })
    const account = store.quota.account(baseUrl, apiKey)
    const mutated = this.mutant({
      api: {
        ...api,
        createRequest: (body, signal) =>
          this.#sendCreate({ steps, machine }, body, () => api.createRequest(body, signal)),
      },
      ledger: {
        ...bindMethods(store.ledger),
        acquire: trackLeases(store.ledger.acquire.bind(store.ledger), leases),
      },
      batches: {
        ...bindMethods(store.batches),
        acquire: trackLeases(store.batches.acquire.bind(store.batches), leases),
      },
      clock,
      onKill: (work) => (started.undo = work),
    })
    const ports: StartServices = {
      api: steps.wrap(this.#recordAttempts({ steps, machine }, mutated.api), ['clockDifferenceMs']),
      ledger: steps.wrap(this.#recordAttempts({ steps, machine }, mutated.ledger)),
      batches: steps.wrap(mutated.batches as Batches, ['rows', 'bodies']),
      heldRows: steps.wrap(store.heldRows),
      inbox: steps.wrap(store.inbox, ['list']),
      packageNames: {
        get: async () => new Map(),
        put: async () => {},
        forUsers: async () => () => undefined,
      },
      unmatched: steps.wrap(store.unmatched),
      governor: createGovernor({ quota: store.quota, account, windows: quotaWindows, clock }),
      clock: { ...clock, sleep: (ms, signal) => this.#sleep(steps, ms, signal) },
      random,
      schemas: { get: () => Promise.resolve(undefined), put: () => Promise.resolve() },
      files: { cwd: this.storage.folder, stdin: { isTTY: false, stream: emptyStdin() } },
      prompter: undefined,
      progress: { onStart: () => undefined, onEvent: () => undefined },
      onBatchEvent: () => undefined,
      waitBudgetMs: Number.POSITIVE_INFINITY,
    }
    return { steps, store, ports, machine }
  }

  /** Creates the clock of a machine. A wait moves the clock of the server forward too. */
  #createClock(machine: Machine): Clock {
    const { clock, storage } = this
    return {
      now: () => clock.now() + machine.aheadMs,
      monotonic: () => clock.monotonic(),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal)
        await storage.setTime(clock.now())
      },
    }
  }

  /**
   * Releases the leases of a process that has ended, as the operating system would. Its connections are
   * closed at the end of the round.
   */
  async releaseProcess(process: Process): Promise<void> {
    const startedProcess = this.#processes.find(({ store }) => store === process.store)
    for (const lease of startedProcess?.leases ?? []) await lease.release()
    startedProcess?.leases.clear()
    if (!process.steps.isKilled) return
    this.kills += 1
    await startedProcess?.undo()
    if (this.hasServer) {
      await process.store.close()
      await this.storage.endLeases()
    }
    // Simulates a kill after the commit and before the line of the attempt log was complete.
    const { lastAttemptId, lastStep } = process.steps
    if (lastAttemptId !== undefined && /^after (begin|moveAndBegin)/.test(lastStep) && this.rng() < 0.3)
      this.storage.tearLine(lastAttemptId, process.machine.config)
  }

  /**
   * Closes the stores, and then restores the files as they were before. So the files are as after SIGKILL:
   * without a checkpoint of the WAL.
   */
  async endRound(): Promise<void> {
    this.storage.copyTo('before-close')
    for (const { store } of this.#processes.splice(0)) await store.close()
    this.storage.restoreFrom('before-close')
    if (this.hasServer) await this.storage.endLeases()
  }

  findHumanOf(request: { recipient: Human['spellings'][number] }): Human {
    return findHuman(this.everybody, request.recipient)
  }

  /** The id of the last attempt of each process. */
  readonly #lastAttemptIds = new Map<ProcessSteps, string>()

  async #sleep(steps: ProcessSteps, ms: number, signal?: AbortSignal): Promise<void> {
    await steps.step('before sleep')
    await this.clock.sleep(ms, signal)
    await this.storage.setTime(this.clock.now())
    await steps.step('after sleep')
  }

  /** Records which attempt is in flight, and how often an outcome becomes unknown. */
  #recordAttempts<T extends object>({ steps, machine }: Pick<Process, 'steps' | 'machine'>, port: T): T {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (!['beginInQuota', 'moveAndBegin', 'move', 'recover'].includes(String(name))) return value
        return async (...args: unknown[]) => {
          const result: unknown = await Reflect.apply(value as (...all: unknown[]) => unknown, target, args)
          if (name === 'recover') this.unknownOutcomeCount += (result as unknown[]).length
          else if (name === 'move')
            this.unknownOutcomeCount += result === true && (args[1] as Change).to === 'unknown' ? 1 : 0
          else {
            const { attempt = result } = (result ?? {}) as { attempt?: unknown }
            const { attemptId } = (attempt ?? {}) as Partial<Attempt>
            if (attemptId !== undefined) {
              this.#lastAttemptIds.set(steps, attemptId)
              this.machineOfAttempt.set(attemptId, machine)
              await this.#checkSimilarUnknown(target as Process['ports']['ledger'], attempt as Attempt)
            }
            steps.lastAttemptId = attemptId
          }
          return result
        }
      },
    })
  }

  /** Checks that no row is sent while a similar row of its file is unknown, even with `--allow-similar`. */
  async #checkSimilarUnknown(ledger: Process['ports']['ledger'], { batchId, row }: Attempt): Promise<void> {
    if (!this.batchesAllowingSimilar.has(batchId)) return
    const rows = await ledger.list({ batchId })
    const { recipient } = rows.find((each) => each.row === row) ?? {}
    for (const other of rows) {
      if (other.state !== 'unknown' || recipient === undefined || other.recipient === undefined) continue
      if (similarity(recipient, other.recipient)?.kind !== 'similar') continue
      this.broken.push(`row ${row} of ${batchId} was sent before row ${other.row}, whose outcome is unknown`)
    }
  }

  /** Sends a POST, and records the id of the request that the attempt made. */
  async #sendCreate<T>(
    { steps, machine }: Pick<Process, 'steps' | 'machine'>,
    body: Uint8Array,
    send: () => Promise<T>,
  ): Promise<T> {
    const attempt = this.#lastAttemptIds.get(steps) ?? 'no attempt'
    const { recipient } = (
      body.length === 0 ? {} : JSON.parse(Buffer.from(body).toString())
    ) as Partial<RequestBody>
    const idsBefore = new Set(this.sandbox.requests().map(({ request_id }) => request_id))
    if (recipient !== undefined) await this.#recordUndetectable(this.findHumanOf({ recipient }), machine)
    try {
      return await send()
    } finally {
      for (const request of this.sandbox.requests()) {
        const isOurs =
          recipient !== undefined && this.findHumanOf(request) === this.findHumanOf({ recipient })
        if (isOurs && !idsBefore.has(request.request_id))
          this.attemptOfRequest.set(request.request_id, attempt)
      }
    }
  }

  /**
   * Called before an order of a person who has one already. Records the person as undetectable if the store
   * was restored to a state before the first order, without `store check --restored`, and no log of this
   * machine has an attempt that was lost; or if the only log of the first attempt was lost.
   */
  async #recordUndetectable(human: Human, machine: Machine): Promise<void> {
    for (const request of this.sandbox.requests()) {
      if (this.findHumanOf(request) !== human) continue
      const attempt = this.attemptOfRequest.get(request.request_id) ?? ''
      if (await this.storage.hasAttempt(attempt)) continue
      const losses = this.losses.filter(({ lostIds }) => lostIds.has(attempt))
      const isUnknown = losses.some(
        ({ lostIds, isVisibleOnlyInLogs }) =>
          isVisibleOnlyInLogs && !this.machines.hasLogWithAny(machine, lostIds),
      )
      if (!isUnknown && !this.isUnknowable(attempt)) continue
      this.undetectable.add(human)
      this.eventCounts.undetectable += 1
    }
  }

  /** Whether the store lost the attempt, and the machine with its log was lost too. */
  isUnknowable(attempt: string | undefined): boolean {
    return (
      this.losses.some(({ lostIds }) => lostIds.has(attempt ?? '')) &&
      this.machineOfAttempt.get(attempt ?? '')?.isLost === true
    )
  }
}

async function* emptyStdin(): AsyncGenerator<Uint8Array> {
  // Nothing is piped in.
}

function trackLeases<A extends unknown[]>(
  acquire: (...args: A) => Promise<Lease | undefined>,
  leases: Set<Lease>,
) {
  return async (...args: A): Promise<Lease | undefined> => {
    const acquired = await acquire(...args)
    if (acquired !== undefined) leases.add(acquired)
    return acquired
  }
}

/** The properties of an object with its methods bound to it, so that a mutant or a proxy can replace them. */
function bindMethods<T extends object>(object: T): Pick<T, keyof T> {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(object) as object).filter(
    (name) => name !== 'constructor',
  )
  const methods = Object.fromEntries(
    names.map((name) => {
      const value: unknown = Reflect.get(object, name, object)
      return [name, typeof value === 'function' ? (value.bind(object) as unknown) : value]
    }),
  )
  return { ...object, ...methods }
}
