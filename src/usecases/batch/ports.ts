import type { Services } from '../services.ts'
import type { BatchEvent } from '../../domain/batch/run-policy.ts'

/** For what is worth a word and is no answer. */
export interface BatchEventListener {
  onBatchEvent: (event: BatchEvent) => void
}

/** What understanding the columns of a file needs. */
export type ReadingServices = BatchEventListener & Pick<Services, 'api' | 'schemas' | 'mappings' | 'prompter'>
