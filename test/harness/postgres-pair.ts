import { setTimeout as pause } from 'node:timers/promises'

import { Cluster } from './postgres-cluster.ts'
import { type Cut, SwitchedPort } from './switched-port.ts'

/** The primary retains enough of its log for a standby whose link was cut for long. */
const settings = ['wal_keep_size=256MB', 'max_connections=60']
const maxFollowWaitMs = 30_000

export interface Failover {
  /** Whether the old primary is retained for `returnFormer` after it is stopped. */
  canReturnFormer?: boolean
  /** With `asynchronous`, commits made in `meanwhile` do not reach the standby. */
  how: 'synchronous' | 'asynchronous'
  /** Called before the primary is killed; with `asynchronous` after the link to the standby was cut. */
  meanwhile: () => Promise<void>
}

interface Follower {
  cluster: Cluster
  name: string
  /** The port through which it replicates. */
  link: SwitchedPort
}

/** A primary behind an address that does not change, and a standby for each failover. */
export class PostgresPair {
  readonly #address: SwitchedPort
  #primary: Cluster
  readonly #database: string
  #standbys = 0
  #preparedStandby: Follower | undefined
  /** The primary before the last failover, if it was retained. */
  #former: Cluster | undefined

  private constructor(primary: Cluster, address: SwitchedPort, database: string) {
    this.#primary = primary
    this.#address = address
    this.#database = database
  }

  static async start(): Promise<PostgresPair> {
    const primary = await Cluster.start([...settings])
    const address = await SwitchedPort.open(primary.port)
    return new PostgresPair(primary, address, await primary.create())
  }

  /** The URL, which does not change with the server behind it. */
  get url(): string {
    return this.#primary.url(this.#database).replace(`:${this.#primary.port}/`, `:${this.#address.port}/`)
  }

  /** Kills the primary as a power cut does, and starts it again. */
  async restart(): Promise<void> {
    await this.#primary.kill()
    await this.#primary.startAgain()
  }

  /** Cuts the connection once, at the next COMMIT of any client. */
  cutAtCommit(cut: Cut): void {
    this.#address.cutAtCommit(cut)
  }

  /** Delays each COMMIT from now on, so that transactions that do not wait for each other overlap. */
  delayCommits(ms: number): void {
    this.#address.commitDelayMs = ms
  }

  /** Starts the standby of the next failover in advance, since that takes time. */
  async prepare(): Promise<void> {
    this.#preparedStandby ??= await this.#startFollower()
  }

  /** Stops the primary, and promotes a standby. */
  async failOver({ how, meanwhile, canReturnFormer = false }: Failover): Promise<void> {
    const before = this.#primary
    const { cluster: after, name, link } = this.#preparedStandby ?? (await this.#startFollower())
    this.#preparedStandby = undefined
    await waitUntilFollowing(before, name, 'async')
    if (how === 'synchronous') {
      await before.ask(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
      await before.ask('SELECT pg_reload_conf()')
      await waitUntilFollowing(before, name, 'sync')
    } else {
      link.connectTo(undefined)
    }
    await meanwhile()
    await before.kill()
    await after.ask('SELECT pg_promote()')
    this.#primary = after
    this.#address.connectTo(after.port)
    await link.close()
    if (canReturnFormer) this.#former = before
    else await before.stop()
  }

  /** Starts the old primary again, in its state when it stopped, and removes the new one. */
  async returnFormer(): Promise<void> {
    const [former, current] = [this.#former, this.#primary]
    if (former === undefined) throw new Error('no primary may return')
    this.#former = undefined
    await current.kill()
    await former.startAgain()
    this.#primary = former
    this.#address.connectTo(former.port)
    await current.stop()
  }

  /** Copies the server's files. Returns a function that restores them. */
  snapshot(): Promise<() => Promise<void>> {
    return this.#primary.snapshot()
  }

  ask(sql: string): Promise<Record<string, unknown>[]> {
    return this.#primary.ask(sql, this.#database)
  }

  async stop(): Promise<void> {
    await this.#address.close()
    await this.#preparedStandby?.link.close()
    await this.#preparedStandby?.cluster.stop()
    await this.#former?.stop()
    await this.#primary.stop()
  }

  async #startFollower(): Promise<Follower> {
    const link = await SwitchedPort.open(this.#primary.port)
    this.#standbys += 1
    const name = `standby${this.#standbys}`
    return { cluster: await this.#primary.startStandby(name, link.port), name, link }
  }
}

async function waitUntilFollowing(primary: Cluster, name: string, how: 'async' | 'sync'): Promise<void> {
  const deadline = Date.now() + maxFollowWaitMs
  for (;;) {
    const found = await primary.ask(
      `SELECT 1 FROM pg_stat_replication WHERE application_name = '${name}' AND state = 'streaming' AND sync_state = '${how}'`,
    )
    if (found.length > 0) return
    if (Date.now() > deadline) throw new Error(`the standby does not follow: ${primary.log().slice(-500)}`)
    await pause(50)
  }
}
