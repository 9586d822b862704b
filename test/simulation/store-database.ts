import { Client } from 'pg'

import { makeStore } from '../harness/made-store.ts'
import { type Harm, StoreFiles } from './store-files.ts'

/** What statements ask in a simulation, in the place of `clock_timestamp()`. */
const makeClock = `
CREATE SCHEMA refcheck;
CREATE TABLE refcheck.simulated_clock (at double precision NOT NULL);
INSERT INTO refcheck.simulated_clock VALUES (0);
CREATE FUNCTION refcheck.simulated_now() RETURNS timestamptz LANGUAGE sql VOLATILE
AS 'SELECT to_timestamp(at / 1000) FROM refcheck.simulated_clock'`

/** A store on PostgreSQL, with the lists of its machine in a folder of settings. */
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
    // A seed that fails is told by its own error, whatever ends with it.
    client.on('error', () => undefined)
    await client.connect()
    await client.query(makeClock)
    await makeStore(url)
    return new StoreDatabase(url, client)
  }

  override async tellTime(now: number): Promise<void> {
    await this.#client.query('UPDATE refcheck.simulated_clock SET at = $1', [now])
  }

  /** Nobody waits for the leases of processes whose connections are gone. */
  override async endLeases(): Promise<void> {
    await this.#client.query('UPDATE refcheck.runners SET leased_until = 0')
  }

  /** A server keeps what it has answered. */
  override copy(): void {
    // Nothing is taken away from it.
  }

  override putBack(): void {
    // It stands as it was left.
  }

  override harm(harm: Harm, rng: () => number): void {
    if (harm === 'torn list') super.harm(harm, rng)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
