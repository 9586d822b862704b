import type { QuotaClaim, QuotaState } from '../../domain/quota/windows.ts'
import { get, insertRows, resolveAmbiguousCommit, run, type Values, type Work } from './engine.ts'
import { StorePart } from './store-part.ts'

interface StoredQuota {
  state: string | undefined
  /** The time of the clock that all processes share; undefined if the clock of each machine is used. */
  now: number | undefined
}

/** The clock is read once the row is locked: waiting for the lock must not make a window appear older than it is. */
const lockState = `
SELECT state, {clock} AS now
FROM (SELECT state FROM quota WHERE account = :account {lockRows quota}) AS locked`

const selectState = `
SELECT (SELECT state FROM quota WHERE account = :account) AS state, {clock} AS now`

const updateState = 'UPDATE quota SET state = :state WHERE account = :account'

/** The use of the quota windows of each API key, shared by all processes on one store. */
export class Quota extends StorePart {
  /**
   * Returns the `account` of the quota windows: a fingerprint of an API key at a service, under the store's own key. It
   * is not one of the store's accounts.
   */
  account(baseUrl: string, apiKey: string): string {
    return this.key.fingerprint(JSON.stringify(['quota', new URL(baseUrl).origin, apiKey]))
  }

  /**
   * Reserves a call in a transaction that excludes other processes. Returns the milliseconds to wait if it has to be
   * made later.
   */
  async update(quotaClaim: QuotaClaim): Promise<{ waitMs: number }> {
    return resolveAmbiguousCommit(
      () =>
        this.engine.transaction(function* () {
          const { waitMs, update } = decideSlot(quotaClaim, yield* lockQuota(quotaClaim))
          if (update !== undefined) yield* run(...update)
          return { waitMs }
        }),
      // If the reservation was committed after all, one call less can be made, which does no harm.
      () => Promise.resolve(undefined),
    )
  }

  /** Returns the use of the windows and the time, as QuotaDecision expects them. */
  async read(account: string): Promise<{ state: QuotaState; now: number | undefined }> {
    const selected = await this.engine.run(get<StoredQuota>(selectState, { account }))
    return { state: parseState(selected?.state), now: selected?.now }
  }
}

/** Reads the use of an API key's windows and locks it until the transaction ends. */
export function* lockQuota({ account }: QuotaClaim): Work<StoredQuota | undefined> {
  const stored = yield* get<StoredQuota>(lockState, { account })
  if (stored !== undefined) return stored
  // Adds the row that is to be locked.
  yield* insertRows('quota', [{ account, state: 'null' }], 'ON CONFLICT (account) DO NOTHING')
  return yield* get<StoredQuota>(lockState, { account })
}

/**
 * Decides whether a call may be made now. `update`: the statement that records the new state; undefined if nothing
 * changes, as for most processes that have to wait.
 */
export function decideSlot(
  { account, decide }: QuotaClaim,
  stored: StoredQuota | undefined,
): { waitMs: number; update?: [sql: string, values: Values] | undefined } {
  const { state: newState, waitMs } = decide(parseState(stored?.state), stored?.now)
  const text = JSON.stringify(newState)
  return { waitMs, update: text === stored?.state ? undefined : [updateState, { account, state: text }] }
}

function parseState(text = 'null'): QuotaState {
  return (JSON.parse(text) as QuotaState) ?? undefined
}
