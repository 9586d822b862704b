import type { Batch } from '../../domain/batch/batch.ts'
import type { RunEvent } from '../../domain/batch/run-policy.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Hold } from '../../store/ledger/holds.ts'
import type { UnmatchedRequests } from '../../store/ledger/unmatched-requests.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { CarriedOut } from './carry-out.ts'
import type { BatchFile } from './read-file.ts'
import type { FilePlace, NoticePort, RunPorts } from './ports.ts'
import { confirmStarterLeft } from './same-organisation.ts'
import { fileOfBatch, loadForResults, writeResults } from './results-file.ts'
import { secondOrders } from './second-orders.ts'

/** Shows how far a run has come. */
export interface Meter {
  /** The batch as it stands before the first row goes out. */
  onStart: (batch: Batch) => void
  onEvent: (event: RunEvent) => void
}

export interface StartPorts extends RunPorts, NoticePort {
  inbox: Pick<Inbox, 'unclaimed'>
  orphans: UnmatchedRequests
  place: FilePlace
  /** Undefined where nobody can be asked. */
  prompter: Prompter | undefined
  meter: Meter
  /** Milliseconds that all waits together may take; Infinity for no limit. */
  waitBudgetMs: number
}

export interface StartOptions {
  /** The file the batch was made from, if at hand. */
  file?: BatchFile | undefined
  /** It was planned just now, so its package can be ordered. */
  isPlanned?: boolean | undefined
  /** Stop after so many orders. */
  max?: number | undefined
  /** Send this row alone. */
  only?: number | undefined
  /** Run by a worker: see CarryOut. */
  isQueued?: boolean | undefined
  /** The caller has checked that the key belongs to the batch's organisation. */
  isOrganisationChecked?: boolean | undefined
  /** The right to run it, where the caller has it already. */
  held?: Hold | undefined
}

/** Runs a batch from where it stands, telling how far it has come. */
export async function startBatch(
  ports: StartPorts,
  batchId: string,
  { file: given, max, only, held, isPlanned, isQueued, isOrganisationChecked }: StartOptions,
): Promise<CarriedOut> {
  const { inbox, orphans: _, place, meter, waitBudgetMs, onNotice, prompter, ...run } = ports
  const { carryOut } = await import('./carry-out.ts')
  await loadForResults()
  const told = new Set<string>()
  const done = await carryOut({ ...run, onEvent: meter.onEvent }, batchId, {
    max: max ?? Number.POSITIVE_INFINITY,
    only,
    checksPackage: isPlanned !== true,
    held,
    isQueued,
    waitBudgetMs,
    unclaimed: () => inbox.unclaimed(run.api.baseUrl),
    isOrganisationChecked,
    confirmStarterLeft: confirmStarterLeft(prompter, run.api),
    onStart(batch) {
      const { counts, userEmail: begunAs } = batch
      const now = run.api.userEmail
      if (counts.pending > 0 && begunAs.toLowerCase() !== now.toLowerCase()) {
        onNotice({ name: 'other-user', begunAs, now })
      }
      meter.onStart(batch)
    },
    onReconciled: (found) => onNotice({ name: 'reconciled', found }),
    beforeFirst: () => lookForSecondOrders(ports, told),
    async writeResults(batch) {
      const file = given ?? (await fileOfBatch(place, batch))
      if (file !== undefined) return writeResults(run.batches, batch, file)
      if (batch.resultsFile !== undefined) {
        onNotice({ name: 'file-changed', file: batch.name, batchId: batch.id })
      }
      return false
    },
    onUnwritten: ({ message }, { id }) => onNotice({ name: 'results-unwritten', why: message, batchId: id }),
  })
  await lookForSecondOrders(ports, told)
  return done
}

/**
 * "Read while reconciling": also when a run starts and at its end. What becomes of the rows does not hang on it, so nothing
 * of it fails that. `told`: requests that this run has told of.
 */
async function lookForSecondOrders(
  { inbox, onNotice, ...ports }: StartPorts,
  told: Set<string>,
): Promise<void> {
  if (ports.signal?.aborted === true) return
  const ids = await inbox.unclaimed(ports.api.baseUrl)
  try {
    const found = (await secondOrders(ports, ids)).filter(({ requestId }) => !told.has(requestId))
    for (const { requestId } of found) told.add(requestId)
    if (found.length > 0) onNotice({ name: 'second-orders', found })
  } catch (error) {
    if (!(error instanceof RefcheckError) || error.code === 'io') throw error
  }
}
