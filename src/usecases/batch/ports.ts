import type { Services } from '../services.ts'
import type { BatchNotice } from '../../domain/batch/notice.ts'
import type { OrderServices } from '../request/send.ts'

/** What running a batch needs of the world. */
export interface RunServices extends OrderServices, Pick<Services, 'waiting'> {
  /** Called when a read that looks for proof has to wait for a place in the quota. */
  onPaced?: ((seconds: number) => void) | undefined
}

/** For what is worth a word and is no answer. */
export interface NoticeListener {
  onNotice: (notice: BatchNotice) => void
}

/** What understanding the columns of a file needs. */
export type ReadingServices = NoticeListener & Pick<Services, 'api' | 'schemas' | 'mappings' | 'prompter'>

/** What a person allows along with a file. */
export type { Allowed as Allowances } from '../../domain/batch/file-command.ts'
