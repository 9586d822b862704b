import type { QuotaPlace, QuotaState } from '../../../domain/quota/place.ts'
import { NoAnswerError } from '../../../errors/kinds.ts'
import type { Quota } from '../quota.ts'
import type { Database, Sql } from './connection.ts'

/** By the database's clock, read once the row is ours: machines' own clocks, seconds apart, would overfill a window. */
const lock = `
SELECT state, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
FROM (SELECT state FROM quota WHERE account = :account FOR UPDATE) AS kept`
const insert = `INSERT INTO quota (account, state) VALUES (:account, 'null') ON CONFLICT (account) DO NOTHING`
const update = 'UPDATE quota SET state = :state WHERE account = :account'
const select = `
SELECT (SELECT state FROM quota WHERE account = :account) AS state,
  floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`

interface Kept {
  state: string | null
  now: number
}

/** Quota windows in a PostgreSQL database: shared by all machines that use it. */
export class PostgresQuota implements Quota {
  readonly #database: Database
  readonly #fingerprint: (identity: string) => string

  constructor(database: Database, fingerprint: (identity: string) => string) {
    this.#database = database
    this.#fingerprint = fingerprint
  }

  account(baseUrl: string, apiKey: string): string {
    return this.#fingerprint(JSON.stringify(['quota', new URL(baseUrl).origin, apiKey]))
  }

  async update(place: QuotaPlace): Promise<{ waitMs: number }> {
    const take = (): Promise<number> => this.#database.transaction((sql) => takePlace(sql, place))
    try {
      return { waitMs: await take() }
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
      // Taken twice at worst, which sends one call less.
      return { waitMs: await take() }
    }
  }

  async read(account: string): Promise<{ state: QuotaState; now: number }> {
    const { state, now } = (await this.#database.get(select, { account })) as Kept
    return { state: parsed(state), now }
  }
}

/** Milliseconds to wait, or 0 where the place is taken. Within its caller's transaction. */
export async function takePlace(sql: Sql, { account, decide }: QuotaPlace): Promise<number> {
  const { state: kept, now } = (await locked(sql, account)) as Kept
  const { state, waitMs } = decide(parsed(kept), now)
  const text = JSON.stringify(state)
  // Most who are told to wait change nothing.
  if (text !== kept) await sql.run(update, { account, state: text })
  return waitMs
}

async function locked(sql: Sql, account: string): Promise<unknown> {
  const row = await sql.get(lock, { account })
  if (row !== undefined) return row
  await sql.run(insert, { account })
  return sql.get(lock, { account })
}

function parsed(text: string | null): QuotaState {
  return text === null ? undefined : ((JSON.parse(text) as QuotaState) ?? undefined)
}
