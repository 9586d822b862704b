import type { Quota, QuotaPlace, QuotaState } from '../quota.ts'
import type { Database } from './database.ts'
import { fingerprinting } from './fingerprints.ts'

const select = 'SELECT state FROM quota WHERE account = :account'
const upsert = `
INSERT INTO quota (account, state) VALUES (:account, :state)
ON CONFLICT (account) DO UPDATE SET state = :state`

/** Quota windows in an SQLite file. */
export class SqliteQuota implements Quota {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  account(baseUrl: string, apiKey: string): string {
    return fingerprinting(this.#database)(JSON.stringify(['quota', new URL(baseUrl).origin, apiKey]))
  }

  async update(place: QuotaPlace): Promise<{ waitMs: number }> {
    return this.#database.transaction(() => ({ waitMs: takePlace(this.#database, place) }))
  }

  async read(account: string): Promise<QuotaState> {
    return stateOf(this.#database, account)
  }
}

/** Milliseconds to wait, or 0 where the place is taken. Within its caller's transaction. */
export function takePlace(database: Database, { account, decide }: QuotaPlace): number {
  const { state, waitMs } = decide(stateOf(database, account))
  database.run(upsert, { account, state: JSON.stringify(state) })
  return waitMs
}

function stateOf(database: Database, account: string): QuotaState {
  const row = database.get(select, { account }) as { state: string } | undefined
  return row === undefined ? undefined : (JSON.parse(row.state) as QuotaState)
}
