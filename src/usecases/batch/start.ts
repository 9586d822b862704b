import type { Services } from '../services.ts'
import type { Batch, BatchRow } from '../../domain/batch/batch.ts'
import type { RunEvent, RunEnd, RunLimits } from '../../domain/batch/run-policy.ts'
import { RefcheckError, InternalError, IoError, StoreClosedError } from '../../errors/kinds.ts'
import type { Lease } from '../../store/ledger/store-part.ts'
import type { BatchFile, BatchEventListener } from './read-file.ts'
import type { OrderServices } from '../request/send.ts'
import {
  confirmUserLeft,
  requireSameAccount,
  requireSameOrganisation,
  requireSameService,
} from './same-organisation.ts'
import { fileOfBatch, lineOfRow, loadForResults, writeResults } from './results-file.ts'
import { secondOrders, reconcile, unknownRows } from './reconcile.ts'
import type { Reconciliation } from '../../domain/batch/reconciliation.ts'
import { heldElsewhere, matchInError, formatRow } from '../../domain/batch/batch-status.ts'
import { type BatchResult, type FirstRows, verdict } from '../../domain/batch/verdict.ts'
import { readAndLinkPackages, packageGoneError } from './packages.ts'
import { runWithOthers } from './runner.ts'
import { findRow } from './read-batch.ts'
import { maxNamed } from '../../domain/submission/confirmation.ts'

/** What running a batch works with. */
interface RunServices extends OrderServices, Pick<Services, 'waiting'> {
  /** Called when a read that looks for evidence has to wait for the quota. */
  onPaced?: ((seconds: number) => void) | undefined
}

/** Shows how far a run has come. */
interface RunProgress {
  /** The batch as it stands before the first row goes out. */
  onStart: (batch: Batch) => void
  onEvent: (event: RunEvent) => void
}

export interface StartServices
  extends
    RunServices,
    BatchEventListener,
    Pick<Services, 'inbox' | 'unmatched' | 'files' | 'prompter' | 'packageNames'> {
  meter: RunProgress
  /** Milliseconds that all waits together may take; Infinity for no limit. */
  waitBudgetMs: number
}

export interface StartOptions extends Pick<
  CarryOut,
  'only' | 'isQueued' | 'isOrganisationChecked' | 'lease'
> {
  /** Stop after so many orders. */
  max?: number | undefined
  /** The file the batch was made from, if at hand. */
  file?: BatchFile | undefined
  /** It was planned just now, so its package can be ordered. */
  isPlanned?: boolean | undefined
}

/** Runs a batch from where it stands, and shows how far it has come. */
export async function startBatch(
  ports: StartServices,
  batchId: string,
  { file: given, isPlanned, max = Number.POSITIVE_INFINITY, ...options }: StartOptions,
): Promise<BatchEnd> {
  const { inbox, unmatched: _, files, meter, waitBudgetMs, onBatchEvent, prompter, ...run } = ports
  await loadForResults()
  const reported = new Set<string>()
  const before = await run.batches.counts(batchId)
  const accepted: number[] = []
  const onEvent = (event: RunEvent): void => {
    if (event.name === 'row' && event.state === 'accepted' && accepted.length <= maxNamed)
      accepted.push(event.row)
    meter.onEvent(event)
  }
  const done = await carryOut({ ...run, onEvent }, batchId, {
    ...options,
    max,
    waitBudgetMs,
    checksPackage: isPlanned !== true,
    describeRow: async (row, batch) =>
      formatRow(row, await lineOfRow(given ?? (await fileOfBatch(files, batch)), row.row)),
    unclaimed: () => inbox.unclaimed(run.api.baseUrl),
    confirmStarterLeft: confirmUserLeft(prompter, run.api),
    onStart(batch) {
      const { counts, userEmail: startedAs } = batch
      const now = run.api.userEmail
      if (counts.pending > 0 && startedAs.toLowerCase() !== now.toLowerCase()) {
        onBatchEvent({ name: 'other-user', startedAs, now })
      }
      meter.onStart(batch)
    },
    onReconciled: (found) => onBatchEvent({ name: 'reconciled', found }),
    beforeFirst: () => reportSecondOrders(ports, reported),
    async writeResults(batch) {
      const file = given ?? (await fileOfBatch(files, batch))
      if (file !== undefined) return writeResults(run.batches, batch, file)
      if (batch.resultsFile !== undefined) {
        onBatchEvent({ name: 'file-changed', file: batch.name, batchId: batch.id })
      }
      return false
    },
    onUnwritten: ({ message }, { id }) =>
      onBatchEvent({ name: 'results-unwritten', why: message, batchId: id }),
  })
  await reportSecondOrders(ports, reported)
  return { ...done, result: await resultOf(run, done.batch, { before: before.accepted, accepted }) }
}

/** `before`: how many rows were accepted before the run; `accepted`: the first rows that it ordered. */
async function resultOf(
  { batches, waiting }: Pick<RunServices, 'batches' | 'waiting'>,
  { id, counts }: Batch,
  { before, accepted }: { before: number; accepted: readonly number[] },
): Promise<BatchResult> {
  const now = counts.accepted - before
  const rows = now === accepted.length && now <= maxNamed ? accepted : []
  const found = await Promise.all(rows.map((row) => findRow(batches, id, row)))
  const { ordered } = await waiting.countConflicts(id)
  return { counts, ordered, now, people: found.flatMap((row) => row?.recipient ?? []) }
}

/**
 * Reports second orders ("read while reconciling"), also at the start and the end of a run. The rows do not
 * depend on it, so its failure does not fail the run. `reported`: requests that this run has reported.
 */
async function reportSecondOrders(
  { inbox, onBatchEvent, ...ports }: StartServices,
  reported: Set<string>,
): Promise<void> {
  if (ports.signal?.aborted === true) return
  const ids = await inbox.unclaimed(ports.api.baseUrl)
  try {
    const found = (await secondOrders(ports, ids)).filter(({ requestId }) => !reported.has(requestId))
    for (const { requestId } of found) reported.add(requestId)
    if (found.length > 0) onBatchEvent({ name: 'second-orders', found })
  } catch (error) {
    if (!(error instanceof RefcheckError) || error.code === 'io') throw error
  }
}

export interface CarryOut extends RunLimits {
  /** Describes a row by the person's name and its line in the file. */
  describeRow?: ((row: BatchRow, batch: Batch) => Promise<string>) | undefined
  /** Whether to ask first if its package can still be ordered; one read. */
  checksPackage?: boolean | undefined
  /** Ids of requests that webhook events named and that belong to no stored order. */
  unclaimed: () => Promise<Iterable<string>>
  /** Writes the results file from the current rows; true if there is a file afterwards. */
  writeResults: (batch: Batch) => Promise<boolean>
  /** The results file could not be written. */
  onUnwritten?: ((error: RefcheckError, batch: Batch) => void) | undefined
  /** The caller has checked that the key belongs to the batch's organisation. */
  isOrganisationChecked?: boolean | undefined
  /** Asks whether the user who began it has left; undefined without a terminal. */
  confirmStarterLeft?: ((batch: Batch) => Promise<boolean>) | undefined
  onReconciled?: ((found: Reconciliation) => void) | undefined
  /** Called before the first row is sent, after the checks that allow sending. */
  beforeFirst?: (() => Promise<void>) | undefined
  /**
   * This process is a worker and runs it from the queue; if not set, the run removes the batch from the
   * queue.
   */
  isQueued?: boolean | undefined
  /** The lease of the batch, where the caller has acquired it already; it is released at the end. */
  lease?: Lease | undefined
  /** The batch as it stands before the first row goes out. */
  onStart?: ((batch: Batch) => void) | undefined
}

/** A run of a batch as it ended, with what became of its people. */
export type BatchEnd = CarriedOut & { result: BatchResult }

/** A batch as a run has left it, and the error or message of the run. */
export interface CarriedOut {
  batch: Batch
  failure: RefcheckError | undefined
}

/**
 * Runs a batch from where it stands: reconciles unknown rows, sends pending rows, reconciles again, writes
 * the results. Throws an IncompleteError, with nothing sent, where another process runs it, and the
 * StoreClosedError of a closed store; if the batch has unknown rows, it returns the failure about them instead.
 */
export async function carryOut(ports: RunServices, batchId: string, options: CarryOut): Promise<CarriedOut> {
  let lock = options.lease
  try {
    lock ??= await lockAndRecover(ports, batchId)
    const batch = await requireBatch(ports, batchId)
    requireSameService(batch, ports.api)
    requireSameAccount(batch, ports.account)
    const leavesQueue = batch.queuedAt !== undefined && options.isQueued !== true
    if (leavesQueue) await ports.batches.recordQueued(batchId, undefined)
    const mustCheck = batch.counts.pending > 0 && options.isOrganisationChecked !== true
    const organisationError = mustCheck
      ? await requireSameOrganisation(ports, batch, options.confirmStarterLeft)
      : undefined
    const checks =
      organisationError === undefined && options.checksPackage === true && batch.counts.pending > 0
    const error = organisationError ?? (checks ? await packageOfBatchGone(ports, batch) : undefined)
    if (error === undefined) {
      await reconcileUnknown(ports, batch, options)
      if (batch.counts.pending > 0) await options.beforeFirst?.()
    }
    await ports.batches.recordHalt(batchId, undefined)
    const current = await requireBatch(ports, batchId)
    options.onStart?.(current)
    const { unknown, pending } = current.counts
    const limits = { ...options, afterUnknown: unknown > 0 && pending > 0 }
    const end: RunEnd =
      error === undefined ? await runWithOthers(ports, batchId, limits) : { kind: 'halted', error }
    if (end.kind === 'halted') {
      const { code, message, hint } = end.error
      await ports.batches.recordHalt(batchId, { at: ports.clock.now(), code, message, hint })
    }
    await reconcileUnknown(ports, await requireBatch(ports, batchId), options)
    const written = await tryToWriteResults(await requireBatch(ports, batchId), options)
    const unwritten = typeof written === 'boolean' ? undefined : written
    const left = await requireBatch(ports, batchId)
    const conflicts = await ports.waiting.countConflicts(batchId)
    const failure = verdict(
      batchId,
      left.counts,
      end,
      conflicts,
      await firstRows(ports, left, options.describeRow),
    )
    // Only an I/O error fails the run; a file of people that was changed meanwhile is only reported.
    const isFailure = failure === undefined && unwritten?.code === 'io'
    if (unwritten !== undefined && !isFailure) options.onUnwritten?.(unwritten, left)
    // The `holder` is this process, which releases the batch below.
    return {
      batch: { ...left, holder: undefined, resultsFile: written === true ? left.resultsFile : undefined },
      failure: isFailure ? resultsUnwritten(batchId, unwritten) : failure,
    }
  } catch (error) {
    if (!(error instanceof StoreClosedError) || options.isQueued === true) throw error
    const batch = await requireBatch(ports, batchId)
    if (batch.counts.unknown === 0) throw error
    const end: RunEnd = { kind: 'halted', error }
    const failure = verdict(
      batchId,
      batch.counts,
      end,
      undefined,
      await firstRows(ports, batch, options.describeRow),
    )
    return { batch: { ...batch, holder: undefined }, failure }
  } finally {
    await lock?.release()
  }
}

/** Why the rows that were not sent cannot be ordered: their package is gone, or the packages cannot be read. */
async function packageOfBatchGone(ports: RunServices, batch: Batch): Promise<RefcheckError | undefined> {
  const packageIds = new Set<number>()
  if (batch.packageId !== undefined) packageIds.add(batch.packageId)
  else {
    const pending = ports.batches.bodies(batch.id, { states: ['pending'] })
    for await (const { packageId } of pending) packageIds.add(packageId)
  }
  try {
    return await packageGoneError(ports, await readAndLinkPackages(ports), [...packageIds], batch.id)
  } catch (error) {
    if (error instanceof RefcheckError && error.code !== 'io' && ports.signal?.aborted !== true) return error
    throw error
  }
}

/** The first rows that wait for a person, and what the first duplicate matches. */
async function firstRows(
  { batches }: RunServices,
  batch: Batch,
  whoIs: CarryOut['describeRow'] = async (row) => formatRow(row, undefined),
): Promise<FirstRows> {
  const { id, counts } = batch
  const first = async (state: 'held' | 'unknown' | 'duplicate'): Promise<BatchRow | undefined> => {
    if (counts[state] === 0) return undefined
    const { value } = await batches.rows(id, { states: [state], limit: 1 }).next()
    return value ?? undefined
  }
  const duplicate = (await first('duplicate'))?.matches
  const held = await first('held')
  return {
    held: held && { row: held.row, heldFor: held.heldFor, who: await whoIs(held, batch) },
    unknown: (await first('unknown'))?.row,
    duplicate: duplicate && matchInError(duplicate),
  }
}

/**
 * Returns an error in place of throwing it: a failure to write the file must not hide the outcomes of the
 * rows.
 */
async function tryToWriteResults(batch: Batch, options: CarryOut): Promise<RefcheckError | boolean> {
  try {
    return await options.writeResults(batch)
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    return error
  }
}

function resultsUnwritten(batchId: string, { message }: RefcheckError): IoError {
  return new IoError(`the results file was not written: ${message}`, {
    hint: `What became of each row is in the store. Write it to a file with: refcheck batch export ${batchId} --output results.csv`,
  })
}

/** Locks the batch. First turns rows in `sending` of a runner that died into `unknown`. */
async function lockAndRecover({ batches, ledger, clock }: RunServices, batchId: string): Promise<Lease> {
  for (let tries = 0; tries < 3; tries += 1) {
    await ledger.recover(clock.now())
    const lock = await batches.acquire(batchId, 'sending')
    if (lock === undefined) throw heldElsewhere(await batches.find(batchId))
    // In a shared store, rows in `sending` may be those of other processes.
    if (batches.isShared) return lock
    const { sending } = await batches.counts(batchId)
    if (sending === 0) return lock
    await lock.release()
  }
  throw new InternalError(`batch ${batchId} has a row in flight that no process sends`)
}

async function requireBatch({ batches }: RunServices, batchId: string): Promise<Batch> {
  const batch = await batches.find(batchId)
  if (batch === undefined) throw new InternalError(`batch ${batchId} is gone from the store`)
  return batch
}

/**
 * "The runner reconciles by itself at the end and when it starts." An unreachable service does not stop the
 * run.
 */
async function reconcileUnknown(ports: RunServices, batch: Batch, options: CarryOut): Promise<void> {
  const { unknown: unknownCount, dropped, pending } = batch.counts
  if (unknownCount + dropped + pending === 0 || ports.signal?.aborted === true) return
  const unknown = await unknownRows(ports.ledger, batch.id)
  if (unknown.length === 0) return
  const ids = await options.unclaimed()
  try {
    const reconciled = await reconcile(ports, unknown, ids)
    options.onReconciled?.(reconciled)
  } catch (error) {
    if (!(error instanceof RefcheckError) || error.code === 'io') throw error
  }
}
