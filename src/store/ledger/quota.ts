import type { QuotaPriority, QuotaState } from '../../domain/quota/windows.ts'
import { get, insertRows, resolveAmbiguousCommit, run, type Values, type Work } from './engine.ts'
import { StorePart } from './store-part.ts'

interface Stored {
  state: string | undefined
  /** By the clock that all processes share; undefined where each machine's own is right. */
  now: number | undefined
}

/** The clock is read once the row is locked: waiting for the lock must not make a window appear older than it is. */
const lockState = `
SELECT state, {clock} AS now
FROM (SELECT state FROM quota WHERE account = :account {lockRows quota}) AS locked`

const selectState = `
SELECT (SELECT state FROM quota WHERE account = :account) AS state, {clock} AS now`

const updateState = 'UPDATE quota SET state = :state WHERE account = :account'

/** The use of each key's windows, shared by all processes on one store. */
export class Quota extends StorePart {
  /** A name for a key at a service, keyed by the store's own secret. */
  account(baseUrl: string, apiKey: string): string {
    return this.key.fingerprint(JSON.stringify(['quota', new URL(baseUrl).origin, apiKey]))
  }

  /** One step for all processes. */
  async update(priority: QuotaPriority): Promise<{ waitMs: number }> {
    return resolveAmbiguousCommit(
      () =>
        this.engine.transaction(function* () {
          const { waitMs, update } = decideSlot(priority, yield* lockQuota(priority))
          if (update !== undefined) yield* run(...update)
          return { waitMs }
        }),
      // A place that is reserved once more only sends one call less.
      () => Promise.resolve(undefined),
    )
  }

  /** `now`: as QuotaDecision is given it. */
  async read(account: string): Promise<{ state: QuotaState; now: number | undefined }> {
    const found = await this.engine.run(get<Stored>(selectState, { account }))
    return { state: parseState(found?.state), now: found?.now }
  }
}

/** The use of a key's windows, which no other process changes until the transaction ends. */
export function* lockQuota({ account }: QuotaPriority): Work<Stored | undefined> {
  const stored = yield* get<Stored>(lockState, { account })
  if (stored !== undefined) return stored
  // A row to lock.
  yield* insertRows('quota', [{ account, state: 'null' }], 'ON CONFLICT (account) DO NOTHING')
  return yield* get<Stored>(lockState, { account })
}

/** With the statement that records it; none where nothing changes, as for most processes that have to wait. */
export function decideSlot(
  { account, decide }: QuotaPriority,
  stored: Stored | undefined,
): { waitMs: number; update?: [sql: string, values: Values] | undefined } {
  const { state, waitMs } = decide(parseState(stored?.state), stored?.now)
  const text = JSON.stringify(state)
  return { waitMs, update: text === stored?.state ? undefined : [updateState, { account, state: text }] }
}

function parseState(text = 'null'): QuotaState {
  return (JSON.parse(text) as QuotaState) ?? undefined
}
