import { Client } from 'pg'

import { createStore } from '../harness/create-store.ts'
import { type DamageKind, StoreFiles } from './store-files.ts'

/**
 * Tables and functions that replace the server's clock and identity in a simulation. The columns `timeline` and
 * `attempts` replace the timeline of the WAL and the oid of the table attempts.
 */
const createSimulatedServerSql = `
CREATE SCHEMA refcheck;
CREATE TABLE refcheck.simulated_clock (at double precision NOT NULL);
INSERT INTO refcheck.simulated_clock VALUES (0);
CREATE FUNCTION refcheck.simulated_now() RETURNS timestamptz LANGUAGE sql VOLATILE
AS 'SELECT to_timestamp(at / 1000) FROM refcheck.simulated_clock';
CREATE TABLE refcheck.simulated_server (timeline int NOT NULL, attempts int NOT NULL);
INSERT INTO refcheck.simulated_server VALUES (1, 1);
CREATE SEQUENCE refcheck.simulated_servers START 2`

const selectTables = `
SELECT table_name AS name FROM information_schema.tables
WHERE table_schema = 'refcheck' AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'simulated%'`
const selectIdentityColumns = `
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = 'refcheck' AND is_identity = 'YES'`
const selectNames = `
SELECT id AS name FROM refcheck.attempts UNION ALL
SELECT convert_from(value, 'UTF8') FROM refcheck.meta WHERE name = 'generation'`

/** Ids that a restored database lacks: those of attempts, and that of the database's generation if it differs. */
export type LostIds = ReadonlySet<string>

/** The way in which a database returns to an older state. It determines the server's identity afterwards. */
export type RollbackKind = 'snapshot' | 'failover' | 'restore' | 'old primary'

/** A store on PostgreSQL, with the attempt logs of its machines in their folders of settings. */
export class StoreDatabase extends StoreFiles {
  override readonly storeSetting: string
  override readonly lockWaitMs = 20_000
  readonly #client: Client

  private constructor(url: string, client: Client) {
    super()
    this.storeSetting = url
    this.#client = client
  }

  /** Creates a store in an empty database. */
  static async open(url: string): Promise<StoreDatabase> {
    const client = new Client({ connectionString: url })
    // The connection may end with a seed that fails, which reports its own error.
    client.on('error', () => undefined)
    await client.connect()
    await client.query(createSimulatedServerSql)
    await createStore(url)
    return new StoreDatabase(url, client)
  }

  override async setTime(now: number): Promise<void> {
    await this.#client.query('UPDATE refcheck.simulated_clock SET at = $1', [now])
  }

  /** Ends the leases of processes whose connections are closed. */
  override async endLeases(): Promise<void> {
    await this.#client.query('UPDATE refcheck.runners SET leased_until = 0')
  }

  /** A server loses no commit when a process is killed, so there is no state to save. */
  override copyTo(): void {
    // Nothing to do.
  }

  override restoreFrom(): void {
    // Nothing to do.
  }

  /** Saves the state under a name, and replaces an earlier state of that name. */
  async saveState(name: string): Promise<void> {
    const tables = await this.#selectNames(selectTables)
    await this.#client.query(
      [
        `DROP SCHEMA IF EXISTS ${name} CASCADE; CREATE SCHEMA ${name}`,
        ...[...tables, 'simulated_server'].map(
          (table) => `CREATE TABLE ${name}.${table} AS TABLE refcheck.${table}`,
        ),
      ].join(';'),
    )
  }

  /**
   * Restores the state that was saved under `name`; undefined if there is none. `shouldDisconnect`: all
   * connections are closed, as when a server restarts.
   */
  async restoreState(
    name: string,
    kind: RollbackKind,
    shouldDisconnect: boolean,
  ): Promise<LostIds | undefined> {
    const { rows } = await this.#client.query(`SELECT to_regclass('${name}.meta') AS saved`)
    if ((rows as { saved: string | null }[])[0]?.saved === null) return undefined
    const namesBefore = await this.#selectNames(selectNames)
    if (kind === 'failover') await this.saveState('old_primary')
    const tables = await this.#selectNames(selectTables)
    const identityColumns = (await this.#client.query(selectIdentityColumns)).rows as {
      table_name: string
      column_name: string
    }[]
    const updateServerSql = {
      snapshot: '',
      failover: "UPDATE refcheck.simulated_server SET timeline = nextval('refcheck.simulated_servers')",
      restore: "UPDATE refcheck.simulated_server SET attempts = nextval('refcheck.simulated_servers')",
      'old primary': `DELETE FROM refcheck.simulated_server; INSERT INTO refcheck.simulated_server TABLE ${name}.simulated_server`,
    }[kind]
    await this.#client.query(
      [
        `BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE ${tables.map((table) => `refcheck.${table}`).join()}`,
        ...tables.map(
          (table) => `INSERT INTO refcheck.${table} OVERRIDING SYSTEM VALUE TABLE ${name}.${table}`,
        ),
        ...identityColumns.map(
          ({ table_name: table, column_name: column }) =>
            `SELECT setval(pg_get_serial_sequence('refcheck.${table}', '${column}'), coalesce((SELECT max(${column}) FROM refcheck.${table}), 0) + 1, false)`,
        ),
        updateServerSql,
        'COMMIT',
        ...(shouldDisconnect
          ? [
              'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
            ]
          : []),
      ].join(';'),
    )
    const namesAfter = new Set(await this.#selectNames(selectNames))
    return new Set(namesBefore.filter((each) => !namesAfter.has(each)))
  }

  /** Whether the store has the attempt with this id. */
  override async hasAttempt(id: string): Promise<boolean> {
    return (await this.#client.query('SELECT 1 FROM refcheck.attempts WHERE id = $1', [id])).rows.length > 0
  }

  async #selectNames(sql: string): Promise<string[]> {
    const { rows } = await this.#client.query(sql)
    return (rows as { name: string }[]).map(({ name }) => name)
  }

  override damage(kind: DamageKind, rng: () => number): void {
    if (kind === 'torn list') super.damage(kind, rng)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
