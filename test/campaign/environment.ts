import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createStore } from '../harness/create-store.ts'
import { Cluster } from '../harness/postgres-cluster.ts'
import { program } from '../harness/program.ts'
import { emptyEnv, roomyQuota, serviceEnv } from '../harness/service-env.ts'
import { systemClock } from '../../src/host/clock.ts'
import { systemRandom } from '../../src/host/random.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/control/embedded.ts'
import type { Submission } from '../../src/domain/submission/submission.ts'
import { listen } from '../../src/server/listen.ts'
import { openStore } from '../../src/store/ledger/open.ts'

/** Exit code and output of a command. */
export interface CommandResult {
  /** Null if the command was killed. */
  code: number | null
  stdout: string
  stderr: string
}

/** Counts by person and by request id, after a case or another scenario. */
export interface Tally {
  kills: number
  /** People with more orders than the case expects. */
  twice: number
  /** Orders of the service whose id is in no store, unless a row of the person is `unknown` or `dropped`. */
  lost: number
  unknown: number
}

/** The database of the stores. */
export type Backend = 'SQLite' | 'PostgreSQL'

interface RunOptions {
  /** Name of the machine, which has its own settings and its own store. */
  machine?: string
  env?: Record<string, string>
  /** The command is killed by SIGKILL once this many orders have reached the service since its start. */
  killAtOrder?: number
  /** `work` is called once while the command runs, when `atOrder` orders have reached the service since its start. */
  meanwhile?: { atOrder: number; work: () => unknown }
}

/** A sandbox on a port, a folder of files, and the built program, each command in a separate process. */
export class CampaignEnvironment {
  readonly folder = mkdtempSync(join(tmpdir(), 'refcheck-campaign-'))
  readonly sandbox: Sandbox
  kills = 0
  /** Number of orders that the case expects, by last name in lower case; one by default. */
  readonly expectedOrders = new Map<string, number>()
  #url = ''
  #close = (): Promise<void> => Promise.resolve()
  readonly #machines = new Set<string>()
  /** The PostgreSQL server with the stores of the machines; undefined with SQLite. */
  readonly #cluster: Cluster | undefined
  readonly #databases = new Map<string, Promise<string>>()

  private constructor(cluster: Cluster | undefined) {
    this.#cluster = cluster
    this.sandbox = createSandbox({ clock: systemClock, quota: [{ calls: 10_000_000, seconds: 3600 }] })
  }

  static async open(store: Backend = 'SQLite'): Promise<CampaignEnvironment> {
    const environment = new CampaignEnvironment(store === 'SQLite' ? undefined : await Cluster.start())
    const listener = await listen((request, connection) => {
      // A gateway in front of two services is simulated: both paths lead to the sandbox.
      const url = new URL(request.url)
      url.pathname = url.pathname.replace(/^\/(staging|prod)\//, '/')
      return environment.sandbox.fetch(new Request(url, request), connection)
    })
    environment.#url = listener.url
    environment.#close = () => listener.close()
    return environment
  }

  async close(): Promise<void> {
    await this.#close()
    await this.#cluster?.stop()
    this.sandbox.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  get url(): string {
    return this.#url
  }

  getDataFolder(machine = 'own'): string {
    return join(this.folder, machine, 'data')
  }

  getStorePath(machine = 'own'): string {
    return join(this.getDataFolder(machine), 'ledger.sqlite')
  }

  /** Returns the name of a machine's database, and creates it at the first use; undefined with SQLite. */
  #findDatabase(machine: string): Promise<string> | undefined {
    const cluster = this.#cluster
    if (cluster === undefined) return undefined
    const name =
      this.#databases.get(machine) ??
      cluster.create().then(async (created) => {
        await createStore(cluster.url(created))
        return created
      })
    this.#databases.set(machine, name)
    return name
  }

  /** Writes a file for the commands, and returns its name. */
  write(name: string, lines: readonly string[]): string {
    mkdirSync(join(this.folder, 'files'), { recursive: true })
    writeFileSync(join(this.folder, 'files', name), `${lines.join('\n')}\n`)
    return name
  }

  /** Runs a command on the machine `machine`. */
  async run(argv: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    const { machine = 'own', env = {}, killAtOrder, meanwhile } = options
    this.#machines.add(machine)
    const database = await this.#findDatabase(machine)
    const child = spawn(process.execPath, [program, ...argv], {
      cwd: join(this.folder, 'files'),
      env: {
        PATH: process.env['PATH'] ?? '',
        ...emptyEnv(join(this.folder, machine)),
        ...serviceEnv(this.#url, this.sandbox.credentials),
        ...roomyQuota.env,
        ...(database === undefined ? {} : { REFCHECK_STORE: this.#cluster?.url(database) }),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
    let hasStartedWork = false
    let workResult: unknown
    const orderCountBefore = this.sandbox.requests().length
    const unsubscribe = this.sandbox.log.subscribe(() => {
      const orderCount = this.sandbox.requests().length - orderCountBefore
      if (killAtOrder !== undefined && orderCount >= killAtOrder) child.kill('SIGKILL')
      if (meanwhile === undefined || hasStartedWork || orderCount < meanwhile.atOrder) return
      hasStartedWork = true
      workResult = meanwhile.work()
    })
    const [code] = (await once(child, 'close')) as [number | null]
    unsubscribe()
    await workResult
    if (code === null) {
      this.kills += 1
      // The lease of a killed process lasts longer than the campaign can wait, so it is ended here.
      const endLeaseSql = `UPDATE refcheck.runners SET leased_until = 0 WHERE pid = ${child.pid}`
      if (database !== undefined) await this.#cluster?.ask(endLeaseSql, database)
    }
    return { code, ...output }
  }

  /** Counts by person. People are identified by their last names, which differ within a case. */
  async createTally(): Promise<Tally> {
    const orderCounts = new Map<string, number>()
    for (const { recipient } of this.sandbox.requests()) {
      const lastName = recipient.last_name.toLowerCase().trim()
      orderCounts.set(lastName, (orderCounts.get(lastName) ?? 0) + 1)
    }
    const twice = [...orderCounts].filter(
      ([lastName, orderCount]) => orderCount > (this.expectedOrders.get(lastName) ?? 1),
    ).length
    const rows: Submission[] = []
    for (const machine of this.#machines) rows.push(...(await this.readSubmissions(machine)))
    const knownIds = new Set(rows.flatMap(({ requestId }) => requestId ?? []))
    const unresolved = rows.filter(({ state }) => state === 'unknown' || state === 'dropped')
    const lost = this.sandbox.requests().filter(
      ({ request_id, recipient }) =>
        !knownIds.has(request_id) &&
        // A row without a recipient has only the fingerprints of its person.
        !unresolved.some((row) => row.recipient === undefined || row.recipient.email === recipient.email),
    ).length
    return { kills: this.kills, twice, lost, unknown: unresolved.length }
  }

  async readSubmissions(machine = 'own'): Promise<Submission[]> {
    const paths = { config: join(this.folder, machine, 'config'), data: this.getDataFolder(machine) }
    const database = await this.#findDatabase(machine)
    const store = await openStore({
      chosenAddress: database === undefined ? undefined : this.#cluster?.url(database),
      paths,
      cwd: this.folder,
      clock: systemClock,
      random: systemRandom,
    })
    try {
      return await store.ledger.list({})
    } finally {
      await store.close()
    }
  }
}
