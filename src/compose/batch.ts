import type { Services } from '../cli/services.ts'
import type { Running } from '../usecases/batch/ports.ts'

/** What running, resuming and settling need; made once a command. */
export async function batchRunning(services: Services, signal: AbortSignal): Promise<Running> {
  const { api, ledger, clock, random, cache } = await services.ordering(signal)
  const governor = await services.governor()
  const { batches } = await services.store()
  return { api, ledger, clock, random, signal, cache, batches, governor }
}

/** Ids of requests that events told of and no order holds. */
export async function unclaimedRequests(services: Services): Promise<string[]> {
  return (await services.store()).inbox.unclaimed()
}
