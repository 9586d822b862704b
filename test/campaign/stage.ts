import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { makeStore } from '../harness/made-store.ts'
import { Cluster } from '../harness/postgres-cluster.ts'
import { program } from '../harness/program.ts'
import { emptyEnv, roomyQuota, serviceEnv } from '../harness/service-env.ts'
import { systemClock } from '../../src/host/clock.ts'
import { systemRandom } from '../../src/host/random.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/control/embedded.ts'
import type { Submission } from '../../src/domain/submission/submission.ts'
import { listen } from '../../src/server/listen.ts'
import { openStore } from '../../src/store/ledger/open.ts'

/** What a command came to. */
export interface Ended {
  /** Null where it was killed. */
  code: number | null
  stdout: string
  stderr: string
}

/** What was counted, by person and by id. */
export interface Tally {
  kills: number
  /** People with more orders than a person explicitly asked for. */
  twice: number
  /** Orders of the service that no store knows by their id, and whose row no store has as unknown or dropped. */
  lost: number
  unknown: number
}

/** What keeps the stores of a stage. */
export type Backend = 'SQLite' | 'PostgreSQL'

interface RunOptions {
  /** Whose machine: settings and store of its own. */
  home?: string
  env?: Record<string, string>
  /** SIGKILL once so many orders have reached the service. */
  killAt?: number
  /** As something happens meanwhile, once so many orders have reached the service. */
  meanwhile?: { at: number; work: () => unknown }
}

/** A service on a port, a folder of files, and the built program in processes of its own. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'refcheck-campaign-'))
  readonly sandbox: Sandbox
  kills = 0
  /** How many orders were asked for, by person; one by default. */
  readonly asked = new Map<string, number>()
  #url = ''
  #close = (): Promise<void> => Promise.resolve()
  readonly #homes = new Set<string>()
  /** Of the stores of its homes, where PostgreSQL keeps them. */
  readonly #cluster: Cluster | undefined
  readonly #databases = new Map<string, Promise<string>>()

  private constructor(cluster: Cluster | undefined) {
    this.#cluster = cluster
    this.sandbox = createSandbox({ clock: systemClock, quota: [{ calls: 10_000_000, seconds: 3600 }] })
  }

  static async open(store: Backend = 'SQLite'): Promise<Stage> {
    const stage = new Stage(store === 'SQLite' ? undefined : await Cluster.start())
    const listener = await listen((request, connection) => {
      // A gateway that fronts more than one service passes all of them on.
      const url = new URL(request.url)
      url.pathname = url.pathname.replace(/^\/(staging|prod)\//, '/')
      return stage.sandbox.fetch(new Request(url, request), connection)
    })
    stage.#url = listener.url
    stage.#close = () => listener.close()
    return stage
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

  dataOf(home = 'own'): string {
    return join(this.folder, home, 'data')
  }

  storeOf(home = 'own'): string {
    return join(this.dataOf(home), 'ledger.sqlite')
  }

  /** The database of a home, made when it is first needed; undefined where a file is the store. */
  #databaseOf(home: string): Promise<string> | undefined {
    const cluster = this.#cluster
    if (cluster === undefined) return undefined
    const made =
      this.#databases.get(home) ??
      cluster.create().then(async (name) => {
        await makeStore(cluster.url(name))
        return name
      })
    this.#databases.set(home, made)
    return made
  }

  write(name: string, lines: readonly string[]): string {
    mkdirSync(join(this.folder, 'files'), { recursive: true })
    writeFileSync(join(this.folder, 'files', name), `${lines.join('\n')}\n`)
    return name
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const { home = 'own', env = {}, killAt, meanwhile } = options
    this.#homes.add(home)
    const database = await this.#databaseOf(home)
    const child = spawn(process.execPath, [program, ...argv], {
      cwd: join(this.folder, 'files'),
      env: {
        PATH: process.env['PATH'] ?? '',
        ...emptyEnv(join(this.folder, home)),
        ...serviceEnv(this.#url, this.sandbox.credentials),
        ...roomyQuota.env,
        ...(database === undefined ? {} : { REFCHECK_STORE: this.#cluster?.url(database) }),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const taken = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => (taken.stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (taken.stderr += chunk.toString()))
    let isDone = false
    let done: unknown
    const start = this.sandbox.requests().length
    const stop = this.sandbox.log.subscribe(() => {
      const orders = this.sandbox.requests().length - start
      if (killAt !== undefined && orders >= killAt) child.kill('SIGKILL')
      if (meanwhile === undefined || isDone || orders < meanwhile.at) return
      isDone = true
      done = meanwhile.work()
    })
    const [code] = (await once(child, 'close')) as [number | null]
    stop()
    await done
    if (code === null) {
      this.kills += 1
      // Of a killed process: the campaign does not wait as long as a lease outlasts a process.
      const end = `UPDATE refcheck.runners SET leased_until = 0 WHERE pid = ${child.pid}`
      if (database !== undefined) await this.#cluster?.ask(end, database)
    }
    return { code, ...taken }
  }

  /** By person: everybody of a case has a last name of their own, however they are spelt. */
  async tally(): Promise<Tally> {
    const people = new Map<string, number>()
    for (const { recipient } of this.sandbox.requests()) {
      const person = recipient.last_name.toLowerCase().trim()
      people.set(person, (people.get(person) ?? 0) + 1)
    }
    const twice = [...people].filter(([person, orders]) => orders > (this.asked.get(person) ?? 1)).length
    const rows: Submission[] = []
    for (const home of this.#homes) rows.push(...(await this.submissions(home)))
    const known = new Set(rows.flatMap(({ requestId }) => requestId ?? []))
    const open = rows.filter(({ state }) => state === 'unknown' || state === 'dropped')
    const lost = this.sandbox.requests().filter(
      ({ request_id, recipient }) =>
        !known.has(request_id) &&
        // A person whose name is lost is known by the fingerprints alone.
        !open.some((row) => row.recipient === undefined || row.recipient.email === recipient.email),
    ).length
    return { kills: this.kills, twice, lost, unknown: open.length }
  }

  async submissions(home = 'own'): Promise<Submission[]> {
    const paths = { config: join(this.folder, home, 'config'), data: this.dataOf(home) }
    const database = await this.#databaseOf(home)
    const store = await openStore({
      chosen: database === undefined ? undefined : this.#cluster?.url(database),
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
