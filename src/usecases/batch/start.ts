import type { Services } from '../services.ts'
import type { Batch, BatchRow } from '../../domain/batch/batch.ts'
import type { RunEvent, RunEnd, RunLimits } from '../../domain/batch/run-policy.ts'
import { RefcheckError } from '../../errors/base.ts'
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
import { InternalError, IoError, StoreClosedError } from '../../errors/kinds.ts'
import { linkedPackages, packageGone } from './packages.ts'
import { runWithOthers } from './runner.ts'
import { findRow } from './read-batch.ts'
import { maxNamed } from '../../domain/submission/confirmation.ts'

/** What running a batch works with. */
interface RunServices extends OrderServices, Pick<Services, 'waiting'> {
  /** Called when a read that looks for evidence has to wait for the quota. */
  onPaced?: ((seconds: number) => void) | undefined
}

/** Shows how far a run has come. */
interface Meter {
  /** The batch as it stands before the first row goes out. */
  onStart: (batch: Batch) => void
  onEvent: (event: RunEvent) => void
}

export interface StartServices
  extends
    RunServices,
    BatchEventListener,
    Pick<Services, 'inbox' | 'unmatched' | 'files' | 'prompter' | 'packageNames'> {
  meter: Meter
  /** Milliseconds that all waits together may take; Infinity for no limit. */
  waitBudgetMs: number
}

export interface StartOptions extends Pick<CarryOut, 'only' | 'isQueued' | 'isOrganisationChecked' | 'held'> {
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
    whoIs: async (row, batch) =>
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
 * "Read while reconciling": also when a run starts and at its end. What becomes of the rows does not hang on it, so nothing
 * of it fails that. `reported`: requests that this run has reported.
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
  /** A row by name and line, as a person finds it. */
  whoIs?: ((row: BatchRow, batch: Batch) => Promise<string>) | undefined
  /** Whether to ask first if its package can still be ordered; one read. */
  checksPackage?: boolean | undefined
  /** Ids of requests that events reported and no order has. */
  unclaimed: () => Promise<Iterable<string>>
  /** Writes the results file of what stands now; whether there is one then. */
  writeResults: (batch: Batch) => Promise<boolean>
  /** The results file could not be written. */
  onUnwritten?: ((error: RefcheckError, batch: Batch) => void) | undefined
  /** The caller has checked that the key belongs to the batch's organisation. */
  isOrganisationChecked?: boolean | undefined
  /** Asks whether the user who began it has left; undefined without a terminal. */
  confirmStarterLeft?: ((batch: Batch) => Promise<boolean>) | undefined
  onReconciled?: ((found: Reconciliation) => void) | undefined
  /** Done before the first row goes out, once it is clear that rows may. */
  beforeFirst?: (() => Promise<void>) | undefined
  /** Left for workers, of which this is one; else the process that runs it takes it from them. */
  isQueued?: boolean | undefined
  /** The right to run it, where the caller has it already; it is released in the end. */
  held?: Lease | undefined
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
 * Runs a batch from where it stands: settles what can be settled, sends what is pending, settles again,
 * writes the results. Throws an IncompleteError, with nothing sent, where another process runs it, and IoError for a closed store,
 * unless rows of the batch are unknown: those come first.
 */
export async function carryOut(ports: RunServices, batchId: string, options: CarryOut): Promise<CarriedOut> {
  let lock = options.held
  try {
    lock ??= await lockAndRecover(ports, batchId)
    const batch = await requireBatch(ports, batchId)
    requireSameService(batch, ports.api)
    requireSameAccount(batch, ports.account)
    const isTaken = batch.queuedAt !== undefined && options.isQueued !== true
    if (isTaken) await ports.batches.recordQueued(batchId, undefined)
    const mustCheck = batch.counts.pending > 0 && options.isOrganisationChecked !== true
    const foreign = mustCheck
      ? await requireSameOrganisation(ports, batch, options.confirmStarterLeft)
      : undefined
    const checks = foreign === undefined && options.checksPackage === true && batch.counts.pending > 0
    const error = foreign ?? (checks ? await packageOfBatchGone(ports, batch) : undefined)
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
    const failure = verdict(batchId, left.counts, end, conflicts, await firstRows(ports, left, options.whoIs))
    // A file of people that was changed meanwhile is a person's doing, and no fault.
    const ends = failure === undefined && unwritten?.code === 'io'
    if (unwritten !== undefined && !ends) options.onUnwritten?.(unwritten, left)
    // This process is about to let go of it.
    return {
      batch: { ...left, holder: undefined, resultsFile: written === true ? left.resultsFile : undefined },
      failure: ends ? resultsUnwritten(batchId, unwritten) : failure,
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
      await firstRows(ports, batch, options.whoIs),
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
    return await packageGone(ports, await linkedPackages(ports), [...packageIds], batch.id)
  } catch (error) {
    if (error instanceof RefcheckError && error.code !== 'io' && ports.signal?.aborted !== true) return error
    throw error
  }
}

/** The first rows that wait for a person, and what the first duplicate matches. */
async function firstRows(
  { batches }: RunServices,
  batch: Batch,
  whoIs: CarryOut['whoIs'] = async (row) => formatRow(row, undefined),
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

/** The results file only tells what the store knows: a failure of it never hides what became of the rows. */
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

/** Holds the batch with no row in `sending`: rows of a runner that died become `unknown` first. */
async function lockAndRecover({ batches, ledger, clock }: RunServices, batchId: string): Promise<Lease> {
  for (let tries = 0; tries < 3; tries += 1) {
    await ledger.recover(clock.now())
    const lock = await batches.acquire(batchId, 'sending')
    if (lock === undefined) throw heldElsewhere(await batches.find(batchId))
    // Other processes send theirs at the same time.
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

/** "The runner reconciles by itself at the end and when it starts." A service that is away then is no reason to stop. */
async function reconcileUnknown(ports: RunServices, batch: Batch, options: CarryOut): Promise<void> {
  const { unknown: doubtful, dropped, pending } = batch.counts
  if (doubtful + dropped + pending === 0 || ports.signal?.aborted === true) return
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
