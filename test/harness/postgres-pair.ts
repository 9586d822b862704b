import { setTimeout as pause } from 'node:timers/promises'

import { Cluster } from './postgres-cluster.ts'
import { type Cut, SwitchedPort } from './switched-port.ts'

/** Enough to follow from, however long the link was cut. */
const settings = ['wal_keep_size=256MB', 'max_connections=60']
const followsWithinMs = 30_000

export interface Failover {
  /** The old primary may return: see `returnFormer`. */
  canReturnFormer?: boolean
  /** Whether the last commits reach the standby. */
  how: 'synchronous' | 'asynchronous'
  /** What happens between the cut of the link and the end of the primary; with `asynchronous` alone. */
  meanwhile: () => Promise<void>
}

interface Follower {
  cluster: Cluster
  name: string
  /** The way on which it follows. */
  link: SwitchedPort
}

/** A primary behind one address that stays, and a standby for each failover. */
export class PostgresPair {
  readonly #address: SwitchedPort
  #primary: Cluster
  readonly #database: string
  #standbys = 0
  #next: Follower | undefined
  /** The primary of before the last failover, where it may return. */
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

  /** The same whichever server is behind it. */
  get url(): string {
    return this.#primary.url(this.#database).replace(`:${this.#primary.port}/`, `:${this.#address.port}/`)
  }

  /** As after a power cut, and on again. */
  async restart(): Promise<void> {
    await this.#primary.kill()
    await this.#primary.again()
  }

  /** The network is lost once at the next COMMIT of any client. */
  cutAtCommit(cut: Cut): void {
    this.#address.cutAtCommit(cut)
  }

  /** From now on the server has each COMMIT so many ms later, and transactions overlap that do not wait for each other. */
  delayCommits(ms: number): void {
    this.#address.commitDelayMs = ms
  }

  /** Makes the standby of the next failover, which takes a moment, before that is wanted. */
  async prepare(): Promise<void> {
    this.#next ??= await this.#follow()
  }

  /** A standby takes over from a primary that is gone for good. */
  async failOver({ how, meanwhile, canReturnFormer: mayReturn = false }: Failover): Promise<void> {
    const before = this.#primary
    const { cluster: after, name, link } = this.#next ?? (await this.#follow())
    this.#next = undefined
    await follows(before, name, 'async')
    if (how === 'synchronous') {
      await before.ask(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
      await before.ask('SELECT pg_reload_conf()')
      await follows(before, name, 'sync')
    } else {
      link.lead(undefined)
    }
    await meanwhile()
    await before.kill()
    await after.ask('SELECT pg_promote()')
    this.#primary = after
    this.#address.lead(after.port)
    await link.close()
    if (mayReturn) this.#former = before
    else await before.stop()
  }

  /** The old primary serves again, as it was when it stopped; the new one is removed. */
  async returnFormer(): Promise<void> {
    const [former, gone] = [this.#former, this.#primary]
    if (former === undefined) throw new Error('no primary may return')
    this.#former = undefined
    await gone.kill()
    await former.again()
    this.#primary = former
    this.#address.lead(former.port)
    await gone.stop()
  }

  /** The server's files as they are now; the returned function restores them. */
  snapshot(): Promise<() => Promise<void>> {
    return this.#primary.snapshot()
  }

  ask(sql: string): Promise<Record<string, unknown>[]> {
    return this.#primary.ask(sql, this.#database)
  }

  async stop(): Promise<void> {
    await this.#address.close()
    await this.#next?.link.close()
    await this.#next?.cluster.stop()
    await this.#former?.stop()
    await this.#primary.stop()
  }

  async #follow(): Promise<Follower> {
    const link = await SwitchedPort.open(this.#primary.port)
    this.#standbys += 1
    const name = `standby${this.#standbys}`
    return { cluster: await this.#primary.standby(name, link.port), name, link }
  }
}

async function follows(primary: Cluster, name: string, how: 'async' | 'sync'): Promise<void> {
  const deadline = Date.now() + followsWithinMs
  for (;;) {
    const found = await primary.ask(
      `SELECT 1 FROM pg_stat_replication WHERE application_name = '${name}' AND state = 'streaming' AND sync_state = '${how}'`,
    )
    if (found.length > 0) return
    if (Date.now() > deadline) throw new Error(`the standby does not follow: ${primary.log().slice(-500)}`)
    await pause(50)
  }
}
