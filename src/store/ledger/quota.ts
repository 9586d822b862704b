/** What one key's use of its quota has come to, as the governor writes it: JSON, opaque to the store. */
export type QuotaState = unknown

/** Reads a state and says what it becomes. Called within a transaction, so it decides and does nothing else. */
export type QuotaDecision = (state: QuotaState) => { state: QuotaState; waitMs: number }

/** A place in the quota that is taken together with what needs it. */
export interface QuotaPlace {
  /** Names a key without telling it: see `Quota.account`. */
  account: string
  /** `waitMs` above 0: there is no place yet, and nothing else is done. */
  decide: QuotaDecision
}

/** The use of each key's windows, shared by all processes on one store. */
export interface Quota {
  /** A name for a key at a service, keyed by the store's own secret. */
  account(baseUrl: string, apiKey: string): string
  /** One step for all processes. */
  update(place: QuotaPlace): Promise<{ waitMs: number }>
  read(account: string): Promise<QuotaState>
}
