import type { Api } from '../../api/api.ts'
import type { CreateEvent } from '../../domain/request/events.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'
import type { Governor } from '../quota/governor.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'

/** What ordering needs of the world. */
export interface OrderPorts {
  api: Api
  ledger: Ledger
  /** Whose people are ordered; '' where nobody named an account. */
  account?: string | undefined
  clock: Clock
  random: Random
  /** Where the quota is shared with other commands; without one the service’s own 429s set the pace. */
  governor?: Governor | undefined
  /** Ctrl-C. An exchange under way is finished and journaled first. */
  signal?: AbortSignal | undefined
  onEvent?: ((event: CreateEvent) => void) | undefined
}
