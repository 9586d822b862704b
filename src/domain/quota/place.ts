/** What one key's use of its quota has come to, as the governor writes it: JSON, opaque to the store. */
export type QuotaState = unknown

/**
 * Reads a state and says what it becomes. Called within a transaction, so it decides and does nothing else. `now`: the
 * wall time of all who share the state, where that is not this machine's.
 */
export type QuotaDecision = (state: QuotaState, now?: number) => { state: QuotaState; waitMs: number }

/** A place in the quota that is taken together with what needs it. */
export interface QuotaPlace {
  /** Names a key without telling it: see `Quota.account`. */
  account: string
  /** `waitMs` above 0: there is no place yet, and nothing else is done. */
  decide: QuotaDecision
}
