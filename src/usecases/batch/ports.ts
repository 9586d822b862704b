import type { Api } from '../../api/api.ts'
import type { BatchNotice } from '../../domain/batch/notice.ts'
import type { RunEvent } from '../../domain/batch/run-policy.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Mappings } from '../../store/config/mappings.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { HeldRows } from '../../store/ledger/held-rows.ts'
import type { SchemaCache } from '../form/load-schema.ts'
import type { Governor } from '../quota/governor.ts'
import type { OrderPorts } from '../request/send.ts'

/** What running a batch needs of the world. */
export interface RunPorts extends Omit<OrderPorts, 'onEvent'> {
  batches: Batches
  waiting: HeldRows
  governor: Governor
  cache: SchemaCache
  onEvent?: ((event: RunEvent) => void) | undefined
  /** Called when a read that looks for proof has to wait for a place in the quota. */
  onPaced?: ((seconds: number) => void) | undefined
}

/** Where files are read from. */
export interface FilePlace {
  /** What a relative path starts from. */
  cwd: string
  stdin: { isTTY: boolean; stream: AsyncIterable<Uint8Array | string> }
}

/** For what is worth a word and is no answer. */
export interface NoticePort {
  onNotice: (notice: BatchNotice) => void
}

/** What understanding the columns of a file needs. */
export interface ReadingPorts extends NoticePort {
  api: Api
  cache: SchemaCache
  mappings: Mappings
  /** Undefined where nobody can be asked. */
  prompter: Prompter | undefined
}

/** What a person allows along with a file. */
export type { Allowed as Allowances } from '../../domain/batch/file-command.ts'
