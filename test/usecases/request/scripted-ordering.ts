import { order } from './answers.ts'
import { ManualClock } from '../../harness/manual-clock.ts'
import { type Script, scriptedApi, type ScriptedApi } from './scripted-api.ts'
import type { RunEvent } from '../../../src/domain/batch/run-policy.ts'
import type { CreateOptions } from '../../../src/domain/request/result.ts'
import { systemRandom } from '../../../src/host/random.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { createRequest } from '../../../src/usecases/request/create.ts'
import type { Governor } from '../../../src/usecases/quota/governor.ts'
import type { OrderServices } from '../../../src/usecases/request/send.ts'

export const defaultCreateOptions: CreateOptions = { allowDuplicate: false, waitBudgetMs: 120_000 }

export interface ScriptedOrderServices extends OrderServices {
  api: ScriptedApi
  clock: ManualClock
  /** The events that were reported. */
  events: RunEvent[]
}

/** Returns a clock that starts at 09:30 and advances only by sleeping. */
export function halfPastNine(): ManualClock {
  return new ManualClock({ now: Date.UTC(2026, 10, 21, 9, 30), auto: true })
}

/** A quota without a limit. */
const unlimited: Governor = {
  account: 'one',
  claim: () => Promise.resolve(),
  claimForCreate: () => ({ account: 'one', decide: () => ({ state: {}, waitMs: 0 }) }),
  count: () => Promise.resolve(),
  recordThrottle: () => Promise.resolve(),
  status: () => Promise.resolve({ windows: [], notBefore: 0 }),
  secondsFor: () => 0,
}

/** Returns the services of an order: a scripted API, a clock that advances by sleeping, constant random numbers. */
export function createScriptedServices(
  { ledger, batches }: Pick<Store, 'ledger' | 'batches'>,
  script: Script,
  changes: { clock?: ManualClock; signal?: AbortSignal } = {},
): ScriptedOrderServices {
  const events: RunEvent[] = []
  return {
    ledger,
    batches,
    governor: unlimited,
    schemas: { get: () => Promise.resolve(undefined), put: () => Promise.resolve() },
    clock: changes.clock ?? halfPastNine(),
    random: { ...systemRandom, fraction: () => 0.5 },
    signal: changes.signal,
    events,
    onEvent: (event) => events.push(event),
    api: scriptedApi(script),
  }
}

/** Returns the error of an order; throws if the order was accepted. */
export async function catchOrderError(
  services: OrderServices,
  options: Partial<CreateOptions> = {},
  body = order,
): Promise<unknown> {
  return createRequest(services, body, { ...defaultCreateOptions, ...options }).then(
    (created) => {
      throw new Error(`it was ordered: ${created.requestId}`)
    },
    (error: unknown) => error,
  )
}
