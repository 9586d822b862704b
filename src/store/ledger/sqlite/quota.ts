import type { Database } from './connection.ts'
import type { QuotaPlace, QuotaState } from '../../../domain/quota/place.ts'
import { fingerprinting } from './fingerprints.ts'
import type { Quota } from '../quota.ts'

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

  async read(account: string): Promise<{ state: QuotaState }> {
    return { state: parsed(textOf(this.#database, account)) }
  }
}

/** Milliseconds to wait, or 0 where the place is taken. Within its caller's transaction. */
export function takePlace(database: Database, { account, decide }: QuotaPlace): number {
  const kept = textOf(database, account)
  const { state, waitMs } = decide(parsed(kept))
  const text = JSON.stringify(state)
  // Most who are told to wait change nothing, and need no fsync.
  if (text !== kept) database.run(upsert, { account, state: text })
  return waitMs
}

function textOf(database: Database, account: string): string | undefined {
  return (database.get(select, { account }) as { state: string } | undefined)?.state
}

function parsed(text: string | undefined): QuotaState {
  return text === undefined ? undefined : (JSON.parse(text) as QuotaState)
}
