import type { Services } from '../services.ts'
import type { BatchNotice } from '../../domain/batch/batch-event.ts'

/** For what is worth a word and is no answer. */
export interface NoticeListener {
  onNotice: (notice: BatchNotice) => void
}

/** What understanding the columns of a file needs. */
export type ReadingServices = NoticeListener & Pick<Services, 'api' | 'schemas' | 'mappings' | 'prompter'>
