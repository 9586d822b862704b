import type { QuotaPlace, QuotaState } from '../../domain/quota/place.ts'

/** The use of each key's windows, shared by all processes on one store. */
export interface Quota {
  /** A name for a key at a service, keyed by the store's own secret. */
  account(baseUrl: string, apiKey: string): string
  /** One step for all processes. */
  update(place: QuotaPlace): Promise<{ waitMs: number }>
  /** `now`: as QuotaDecision is given it. */
  read(account: string): Promise<{ state: QuotaState; now?: number }>
}
