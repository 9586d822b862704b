import type { PostgresAge } from './age.ts'
import type { Database } from './connection.ts'
import type { Closed } from '../../../domain/store/age.ts'
import type { Forgotten, Purged, StoreInfo, StoreServer } from '../../../domain/store/told.ts'
import { type SubmissionState, submissionStates } from '../../../domain/submission/states.ts'
import { UsageError } from '../../../errors/kinds.ts'
import { damageOf } from '../damage.ts'
import type { Maintenance } from '../maintenance.ts'
import type { Keyed } from './keyed.ts'
import { danglingAttempts, selectPrints, selectReplication, selectTotals } from './maintenance-statements.ts'
import { formatOf } from './migrate.ts'
import { purge } from './purge.ts'

const pageRows = 2_000

/** Looking after a PostgreSQL database. */
export class PostgresMaintenance implements Maintenance {
  readonly #database: Database
  readonly #keyed: Keyed
  readonly #age: PostgresAge

  constructor(database: Database, keyed: Keyed, age: PostgresAge) {
    this.#database = database
    this.#keyed = keyed
    this.#age = age
  }

  async info(): Promise<StoreInfo> {
    const latencyMs = await this.#database.latency()
    const { replication } = (await this.#database.get(selectReplication)) as {
      replication: StoreServer['replication']
    }
    const info = await this.#contents()
    return { ...info, server: { replication, latencyMs } }
  }

  #contents(): Promise<StoreInfo> {
    return this.#database.transaction(async (sql) => {
      const rows = Object.fromEntries(submissionStates.map((state) => [state, 0])) as Record<
        SubmissionState,
        number
      >
      for (const row of await sql.all('SELECT state, count(*) AS count FROM submissions GROUP BY state')) {
        const { state, count } = row as { state: SubmissionState; count: number }
        rows[state] = count
      }
      const { batches, oldest, newest, events, version, bytes } = (await sql.get(selectTotals)) as {
        batches: number
        oldest: number | null
        newest: number | null
        events: number
        version: string
        bytes: number
      }
      return {
        location: this.#keyed.location,
        bytes,
        format: await formatOf(sql),
        engine: `PostgreSQL ${version.replace(/ .*/s, '')}`,
        batches,
        rows,
        events,
        oldest: oldest ?? undefined,
        newest: newest ?? undefined,
        closed: await this.#age.closed(sql),
      }
    })
  }

  async check(): Promise<string[]> {
    const found: string[] = []
    let after = { batch_id: '', row_number: 0 }
    for (;;) {
      const page = (await this.#database.all(selectPrints, { ...after, limit: pageRows })) as {
        batch_id: string
        row_number: number
      }[]
      for (const row of page) found.push(...damageOf(row, this.#keyed.fingerprint))
      const last = page.at(-1)
      if (last === undefined || page.length < pageRows) break
      after = { batch_id: last.batch_id, row_number: last.row_number }
    }
    for (const row of await this.#database.all(danglingAttempts)) {
      const { batch_id, row_number } = row as { batch_id: string; row_number: number }
      found.push(`row ${row_number} of batch ${batch_id} was accepted by an attempt that is not recorded`)
    }
    return found
  }

  async closed(): Promise<Closed | undefined> {
    return this.#age.examine()
  }

  async putBack(closed: Closed): Promise<string[]> {
    return this.#age.putBack(closed)
  }

  async acceptOlder(): Promise<{ held: number }> {
    return this.#age.accept()
  }

  async allowUnlisted(): Promise<void> {
    await this.#age.allowUnlisted()
  }

  backup(): Promise<void> {
    return Promise.reject(
      new UsageError('a store on PostgreSQL is backed up by the server’s own means', {
        hint: 'Use pg_dump, or pg_basebackup with WAL archiving.',
      }),
    )
  }

  async purge(who: Forgotten, options: { dryRun: boolean; completely: boolean }): Promise<Purged> {
    return purge(this.#database, this.#age, who, options)
  }
}
