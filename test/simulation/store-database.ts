import { Client } from 'pg'

import { makeStore } from '../harness/made-store.ts'
import { type Harm, StoreFiles } from './store-files.ts'

/** What statements ask in a simulation, in the place of `clock_timestamp()`. */
const makeClock = `
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
const selectNumbers = `
SELECT table_name AS name, column_name AS number FROM information_schema.columns
WHERE table_schema = 'refcheck' AND is_identity = 'YES'`
const selectNames = `
SELECT id AS name FROM refcheck.attempts UNION ALL
SELECT convert_from(value, 'UTF8') FROM refcheck.meta WHERE name = 'generation'`

/** What a database that was restored lacks: ids of attempts, and the generation where that is another one. */
export type Lost = ReadonlySet<string>

/** By what a database comes to an older state of itself, and so what its server says of itself afterwards. */
export type Return = 'snapshot' | 'failover' | 'restore' | 'old primary'

/** A store on PostgreSQL, with the attempt logs of its machines in folders of settings. */
export class StoreDatabase extends StoreFiles {
  override readonly chosen: string
  override readonly busyMs = 20_000
  readonly #client: Client

  private constructor(url: string, client: Client) {
    super()
    this.chosen = url
    this.#client = client
  }

  /** Of an empty database. */
  static async open(url: string): Promise<StoreDatabase> {
    const client = new Client({ connectionString: url })
    // A seed that fails is reported by its own error, whatever ends with it.
    client.on('error', () => undefined)
    await client.connect()
    await client.query(makeClock)
    await makeStore(url)
    return new StoreDatabase(url, client)
  }

  override async setTime(now: number): Promise<void> {
    await this.#client.query('UPDATE refcheck.simulated_clock SET at = $1', [now])
  }

  /** Leases of processes whose connections are gone are over at once. */
  override async endLeases(): Promise<void> {
    await this.#client.query('UPDATE refcheck.runners SET leased_until = 0')
  }

  /** A server keeps what it has answered. */
  override copy(): void {
    // Nothing is taken away from it.
  }

  override restore(): void {
    // It stands as it was left.
  }

  /** Keeps its state under a name, over what was kept under it before. */
  async keep(name: string): Promise<void> {
    const tables = await this.#names(selectTables)
    await this.#client.query(
      [
        `DROP SCHEMA IF EXISTS ${name} CASCADE; CREATE SCHEMA ${name}`,
        ...[...tables, 'simulated_server'].map(
          (table) => `CREATE TABLE ${name}.${table} AS TABLE refcheck.${table}`,
        ),
      ].join(';'),
    )
  }

  /** Undefined where nothing was kept under the name. `isCut`: every connection ends, as with a server that starts again. */
  async bringBack(name: string, how: Return, isCut: boolean): Promise<Lost | undefined> {
    const { rows } = await this.#client.query(`SELECT to_regclass('${name}.meta') AS kept`)
    if ((rows as { kept: string | null }[])[0]?.kept === null) return undefined
    const before = await this.#names(selectNames)
    if (how === 'failover') await this.keep('old_primary')
    const tables = await this.#names(selectTables)
    const numbers = (await this.#client.query(selectNumbers)).rows as { name: string; number: string }[]
    const server = {
      snapshot: '',
      failover: "UPDATE refcheck.simulated_server SET timeline = nextval('refcheck.simulated_servers')",
      restore: "UPDATE refcheck.simulated_server SET attempts = nextval('refcheck.simulated_servers')",
      'old primary': `DELETE FROM refcheck.simulated_server; INSERT INTO refcheck.simulated_server TABLE ${name}.simulated_server`,
    }[how]
    await this.#client.query(
      [
        `BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE ${tables.map((table) => `refcheck.${table}`).join()}`,
        ...tables.map(
          (table) => `INSERT INTO refcheck.${table} OVERRIDING SYSTEM VALUE TABLE ${name}.${table}`,
        ),
        ...numbers.map(
          (each) =>
            `SELECT setval(pg_get_serial_sequence('refcheck.${each.name}', '${each.number}'), coalesce((SELECT max(${each.number}) FROM refcheck.${each.name}), 0) + 1, false)`,
        ),
        server,
        'COMMIT',
        ...(isCut
          ? [
              'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
            ]
          : []),
      ].join(';'),
    )
    const after = new Set(await this.#names(selectNames))
    return new Set(before.filter((each) => !after.has(each)))
  }

  /** Whether the store has an attempt, under whatever number. */
  override async hasAttempt(id: string): Promise<boolean> {
    return (await this.#client.query('SELECT 1 FROM refcheck.attempts WHERE id = $1', [id])).rows.length > 0
  }

  async #names(sql: string): Promise<string[]> {
    const { rows } = await this.#client.query(sql)
    return (rows as { name: string }[]).map(({ name }) => name)
  }

  override harm(harm: Harm, rng: () => number): void {
    if (harm === 'torn list') super.harm(harm, rng)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
