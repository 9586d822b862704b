import type { RunEvent } from '../../domain/batch/run.ts'
import type { SchemaCache } from '../form/load-schema.ts'
import type { Governor } from '../quota/governor.ts'
import type { Ordering } from '../request/ports.ts'
import type { Batches } from '../../store/ledger/batches.ts'

/** What running a batch needs of the world. */
export interface Running extends Omit<Ordering, 'onEvent'> {
  batches: Batches
  governor: Governor
  cache: SchemaCache
  onEvent?: ((event: RunEvent) => void) | undefined
}
