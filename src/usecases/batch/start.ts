import type { Services } from '../services.ts'
import { formatRow, type Batch, type BatchRow } from '../../domain/batch/batch.ts'
import type { RunEvent, RunEnd, RunLimits } from '../../domain/batch/run-policy.ts'
import { RefcheckError, InternalError, IoError, StoreClosedError } from '../../errors/kinds.ts'
import type { Lease } from '../../store/ledger/store-part.ts'
import { type BatchFile, type BatchEventListener, findLineOfRow, openFileOfBatch } from './read-file.ts'
import type { OrderServices } from '../request/send.ts'
import {
  createUserLeftQuestion,
  requireSameAccount,
  requireSameOrganisation,
  requireSameService,
} from './same-organisation.ts'
import { isDeletedWithPerson, loadResultsModules, rewriteResults, writeResults } from './results-file.ts'
import { findSecondOrders, reconcile, findReconcilableRows } from './reconcile.ts'
import type { Reconciliation } from '../../domain/batch/reconciliation.ts'
import {
  openOrderKey,
  heldElsewhereError,
  isOrderedOtherwise,
  isPerhapsOrderedOtherwise,
  matchInError,
} from '../../domain/batch/batch-status.ts'
import type { ConflictCounts } from '../../domain/batch/conflict-counts.ts'
import { type BatchResult, type NamedRows, hintWithinBatch, runError } from '../../domain/batch/verdict.ts'
import { updateExternalResults } from './external-results.ts'
import { findPackagesError } from './packages.ts'
import { runWithOtherRunners } from './runner.ts'
import { countOrdered, findRow } from './read-batch.ts'
import { maxNamed } from '../../domain/submission/confirmation.ts'
import { samePersonReason } from '../../domain/submission/duplicate.ts'
import { joinFirst } from '../../domain/wording/text.ts'

/** The services that running a batch uses. */
interface RunServices extends OrderServices, Pick<Services, 'heldRows' | 'files'> {
  /** Called when a read that looks for evidence has to wait for the quota. */
  onQuotaWait?: ((seconds: number) => void) | undefined
}

/** Receives the progress of a run. */
interface RunProgress {
  /** Called with the batch before the first row is sent. */
  onStart: (batch: Batch) => void
  onEvent: (event: RunEvent) => void
}

export interface StartServices
  extends
    RunServices,
    BatchEventListener,
    Pick<Services, 'inbox' | 'unmatched' | 'prompter' | 'packageNames'> {
  progress: RunProgress
  /** The time in ms that all waits of the run together may take; Infinity for no limit. */
  waitBudgetMs: number
}

export interface StartOptions extends Pick<
  RunBatchOptions,
  'onlyRow' | 'isQueued' | 'isOrganisationChecked' | 'lease'
> {
  /** The run stops after this number of orders. */
  maxOrders?: number | undefined
  /** The file from which the batch was made, if the caller has opened it. */
  file?: BatchFile | undefined
  /**
   * Whether the caller has just made the plan of this batch: then its packages are not checked again, nor the results
   * files of other stores.
   */
  isPlanned?: boolean | undefined
  /** False if the caller has reported the results files of other stores that cannot be read. */
  reportsUnreadResults?: boolean | undefined
}

/** Continues a batch until no row can be sent any more, and reports the progress. */
export async function startBatch(
  ports: StartServices,
  batchId: string,
  {
    file: openedFile,
    isPlanned,
    reportsUnreadResults = true,
    maxOrders = Number.POSITIVE_INFINITY,
    ...options
  }: StartOptions,
): Promise<BatchEnd> {
  const { inbox, unmatched: _, progress, waitBudgetMs, onBatchEvent, prompter, ...run } = ports
  const { files } = run
  await loadResultsModules()
  const reportedIds = new Set<string>()
  const countsBefore = await run.batches.countRows(batchId)
  const acceptedRows: number[] = []
  let unreadCount = 0
  const onEvent = (event: RunEvent): void => {
    if (event.name === 'row' && event.state === 'accepted' && acceptedRows.length <= maxNamed)
      acceptedRows.push(event.row)
    progress.onEvent(event)
  }
  const outcome = await reconcileAndSend({ ...run, onEvent }, batchId, {
    ...options,
    maxOrders,
    waitBudgetMs,
    shouldCheckPackages: isPlanned !== true,
    describeRow: async (row, batch) =>
      formatRow({
        ...row,
        line: await findLineOfRow(openedFile ?? (await openFileOfBatch(files, batch)), row.row),
      }),
    listUnmatchedIds: () => inbox.listUnmatchedIds(run.api.baseUrl),
    confirmStarterLeft: createUserLeftQuestion(prompter, run.api),
    onStart(batch) {
      const { counts, userEmail: startedAs } = batch
      const currentUser = run.api.userEmail
      if (counts.pending > 0 && startedAs.toLowerCase() !== currentUser.toLowerCase()) {
        onBatchEvent({ name: 'other-user', startedAs, now: currentUser })
      }
      progress.onStart(batch)
    },
    onReconciled: (found) => onBatchEvent({ name: 'reconciled', found }),
    async compareResults(batch) {
      if (batch.kind === 'single' || isPlanned === true) return
      // Of two stores that continue at the same time, one then sees the people who wait in the other. If the file cannot
      // be written, the end of the run reports it.
      const path = openedFile?.path ?? batch.path
      if (batch.counts.pending > 0)
        await rewriteResults({ ...ports, onBatchEvent: () => undefined }, { ...batch, path })
      const onUnread = reportsUnreadResults ? onBatchEvent : () => undefined
      // The holder is this process.
      const unheld = { ...batch, holder: undefined }
      await updateExternalResults({ ...ports, onBatchEvent: onUnread }, files, unheld, openedFile)
    },
    async beforeFirstRow() {
      unreadCount = await reportSecondOrders(ports, reportedIds)
      if (unreadCount > 0) onBatchEvent({ name: 'unread-requests', count: unreadCount })
    },
    async writeResults(batch) {
      const isUnchanged = countsBefore.pending === 0 && batch.counts.accepted === countsBefore.accepted
      if (isUnchanged && (await isDeletedWithPerson(run.batches, batch))) return false
      // The file is read again, and its digest compared: it may have been rewritten in place since it was opened.
      const path = openedFile === undefined ? batch.path : openedFile.path
      const file = path === undefined ? openedFile : await openFileOfBatch(files, { ...batch, path })
      if (file !== undefined) return writeResults(ports, batch, file)
      if (batch.resultsFile !== undefined) {
        onBatchEvent({ name: 'file-changed', file: batch.name, batchId: batch.id })
      }
      return false
    },
    onResultsWriteError: ({ message }, { id }) =>
      onBatchEvent({ name: 'results-unwritten', why: message, batchId: id }),
  })
  await reportSecondOrders(ports, reportedIds)
  return {
    ...outcome,
    result: {
      ...(await readBatchResult(run, outcome.batch, {
        before: countsBefore.accepted,
        accepted: acceptedRows,
      })),
      namedRows: outcome.namedRows,
      unreadCount,
    },
  }
}

/**
 * Returns the result of a run. `before`: the number of rows that were accepted before it. `accepted`: the rows that
 * this process ordered, at most one more than may be named. People are named only if this process alone ordered in the
 * run, and if there are at most `maxNamed` of them.
 */
async function readBatchResult(
  services: Pick<RunServices, 'batches' | 'heldRows'>,
  batch: Batch,
  { before, accepted }: { before: number; accepted: readonly number[] },
): Promise<BatchResult> {
  const { id, counts } = batch
  const orderedInThisRun = counts.accepted - before
  const rows = orderedInThisRun === accepted.length && orderedInThisRun <= maxNamed ? accepted : []
  const found = await Promise.all(rows.map((row) => findRow(services.batches, id, row)))
  const earlierOrders = await countOrdered(services, batch)
  return { counts, earlierOrders, orderedInThisRun, people: found.flatMap((row) => row?.recipient ?? []) }
}

/**
 * Reports second orders: requests that webhook events named, for people that this store has ordered too. It
 * is called before the first row is sent and after the run. An error does not fail the run, unless it is an I/O error,
 * because a request that can never be read would stop every run. Returns the number of requests that were not read.
 * `reportedIds`: the ids of the requests that this run has already reported.
 */
async function reportSecondOrders(
  { inbox, onBatchEvent, ...ports }: StartServices,
  reportedIds: Set<string>,
): Promise<number> {
  if (ports.signal?.aborted === true) return 0
  const ids = await inbox.listUnmatchedIds(ports.api.baseUrl)
  try {
    const { secondOrders, unreadCount } = await findSecondOrders(ports, ids)
    const found = secondOrders.filter(({ requestId }) => !reportedIds.has(requestId))
    for (const { requestId } of found) reportedIds.add(requestId)
    if (found.length > 0) onBatchEvent({ name: 'second-orders', found })
    return unreadCount
  } catch (error) {
    if (!(error instanceof RefcheckError) || error.code === 'io') throw error
    return 0
  }
}

export interface RunBatchOptions extends RunLimits {
  /** Describes a row by the person's name and its line in the file. */
  describeRow?: ((row: BatchRow, batch: Batch) => Promise<string>) | undefined
  /** Whether to check first that the packages of the batch can still be ordered. Costs one read. */
  shouldCheckPackages?: boolean | undefined
  /** Ids of requests that webhook events named and that belong to no stored order. */
  listUnmatchedIds: () => Promise<Iterable<string>>
  /** Writes the results file from the current rows. Returns true if there is a file afterwards. */
  writeResults: (batch: Batch) => Promise<boolean>
  /** Called when the results file could not be written. */
  onResultsWriteError?: ((error: RefcheckError, batch: Batch) => void) | undefined
  /** Whether the caller has checked that the API key belongs to the batch's organisation. */
  isOrganisationChecked?: boolean | undefined
  /** Asks the user whether the user who started the batch has left the organisation; undefined without a terminal. */
  confirmStarterLeft?: ((batch: Batch) => Promise<boolean>) | undefined
  onReconciled?: ((found: Reconciliation) => void) | undefined
  /** Compares the rows with results files of other stores, which may have ordered people meanwhile. */
  compareResults?: ((batch: Batch) => Promise<void>) | undefined
  /** Called before the first row is sent, after the checks that allow sending. */
  beforeFirstRow?: (() => Promise<void>) | undefined
  /**
   * Whether this process is a worker that runs the batch from the queue. If not, the run removes the batch from the
   * queue.
   */
  isQueued?: boolean | undefined
  /** The lease of the batch, if the caller has already acquired it; it is released at the end. */
  lease?: Lease | undefined
  /** Called with the batch before the first row is sent. */
  onStart?: ((batch: Batch) => void) | undefined
}

/** The outcome of a run, with its counts and the people that it ordered. */
export type BatchEnd = RunOutcome & { result: BatchResult }

/** A batch after a run, and the error of the run. */
export interface RunOutcome {
  batch: Batch
  failure: RefcheckError | undefined
  namedRows?: NamedRows
}

/**
 * Reconciles the unknown rows of a batch, sends its pending rows, reconciles again and writes the results. Throws an
 * IncompleteError, before anything is sent, if another process runs the batch. Throws a StoreClosedError if the store
 * accepts no orders until a user has checked it. If the batch has unknown rows, the failure about these rows is
 * returned instead of the StoreClosedError, except to a worker.
 */
export async function reconcileAndSend(
  ports: RunServices,
  batchId: string,
  options: RunBatchOptions,
): Promise<RunOutcome> {
  let lease = options.lease
  try {
    lease ??= await lockAndRecover(ports, batchId)
    const batch = await requireBatch(ports, batchId)
    requireSameService(batch, ports.api)
    requireSameAccount(batch, ports.account)
    const shouldLeaveQueue = batch.queuedAt !== undefined && options.isQueued !== true
    if (shouldLeaveQueue) await ports.batches.recordNotQueued(batchId)
    const mustCheckOrganisation = batch.counts.pending > 0 && options.isOrganisationChecked !== true
    const organisationError = mustCheckOrganisation
      ? await requireSameOrganisation(ports, batch, options.confirmStarterLeft)
      : undefined
    const mustCheckPackages =
      organisationError === undefined && options.shouldCheckPackages === true && batch.counts.pending > 0
    const error = organisationError ?? (mustCheckPackages ? await findPackagesError(ports, batch) : undefined)
    if (error === undefined) {
      await options.compareResults?.(batch)
      await reconcileUnknown(ports, batch, options)
      if (batch.counts.pending > 0) await options.beforeFirstRow?.()
    }
    await ports.batches.recordHalt(batchId, undefined)
    const currentBatch = await requireBatch(ports, batchId)
    options.onStart?.(currentBatch)
    const { unknown, pending } = currentBatch.counts
    const limits = { ...options, afterUnknown: unknown > 0 && pending > 0 }
    const end: RunEnd =
      error === undefined ? await runWithOtherRunners(ports, batchId, limits) : { kind: 'halted', error }
    if (end.kind === 'halted') {
      const { code, message, hint } = end.error
      await ports.batches.recordHalt(batchId, {
        at: ports.clock.now(),
        code,
        message,
        hint: hintWithinBatch(hint),
      })
    }
    await reconcileUnknown(ports, await requireBatch(ports, batchId), options)
    const writeResult = await tryToWriteResults(await requireBatch(ports, batchId), options)
    const writeError = typeof writeResult === 'boolean' ? undefined : writeResult
    const finalBatch = await requireBatch(ports, batchId)
    const conflicts = await ports.heldRows.countConflicts(batchId)
    const namedRows = {
      ...(await readNamedRows(ports, finalBatch, options.describeRow, conflicts)),
      waitingOthers: await findWaitingOthers(ports, batchId, conflicts.waiting.batchId),
      waitingCount: conflicts.waiting.count,
    }
    const failure = runError(batchId, finalBatch.counts, end, conflicts, namedRows)
    // The write error becomes the failure of the run only if it is an I/O error and the run has no other failure. In
    // all other cases it is only reported.
    const isWriteErrorFailure = failure === undefined && writeError?.code === 'io'
    if (writeError !== undefined && !isWriteErrorFailure)
      options.onResultsWriteError?.(writeError, finalBatch)
    // The `holder` that was read is this process, which releases the lease of the batch below.
    return {
      batch: {
        ...finalBatch,
        holder: undefined,
        resultsFile: writeResult === true ? finalBatch.resultsFile : undefined,
      },
      failure: isWriteErrorFailure ? resultsUnwrittenError(batchId, writeError) : failure,
      namedRows,
    }
  } catch (error) {
    if (!(error instanceof StoreClosedError) || options.isQueued === true) throw error
    const batch = await requireBatch(ports, batchId)
    if (batch.counts.unknown === 0) throw error
    const end: RunEnd = { kind: 'halted', error }
    const namedRows = await readNamedRows(ports, batch, options.describeRow)
    const failure = runError(batchId, batch.counts, end, undefined, namedRows)
    return { batch: { ...batch, holder: undefined }, failure, namedRows }
  } finally {
    await lease?.release()
  }
}

/** Returns the first rows in some states, the rows that the user left out, and those that count as ordered otherwise. */
async function readNamedRows(
  services: RunServices,
  batch: Batch,
  describeRow: RunBatchOptions['describeRow'] = async (row) => formatRow(row),
  conflicts?: ConflictCounts,
): Promise<NamedRows> {
  const { batches } = services
  const { id, counts } = batch
  const readFirst = async (state: 'held' | 'unknown' | 'duplicate'): Promise<BatchRow | undefined> => {
    if (counts[state] === 0) return undefined
    const { value } = await batches.rows(id, { states: [state], limit: 1 }).next()
    return value ?? undefined
  }
  const duplicate = (await readFirst('duplicate'))?.matches
  const held = await readFirst('held')
  const unknownCount = conflicts?.unknown.count ?? 0
  return {
    held: held && {
      row: held.row,
      heldFor: held.heldFor,
      rowText: await describeRow(held, batch),
      matches: held.matches,
    },
    unknown: (await readFirst('unknown'))?.row,
    duplicate: duplicate && matchInError(duplicate),
    ...(counts.cancelled + counts.dropped + unknownCount === 0
      ? {}
      : await describeLeftOut(batches, batch, describeRow, unknownCount > 0)),
  }
}

/**
 * Finds the people who wait in the batch in which duplicates of a batch wait, and who are not in the file of the latter,
 * for example because their line was deleted from a corrected copy.
 */
async function findWaitingOthers(
  { batches }: RunServices,
  batchId: string,
  otherId: string | undefined,
): Promise<NamedRows['waitingOthers']> {
  if (otherId === undefined) return undefined
  const known = new Set<number | string>()
  for await (const { matches, person } of batches.rows(batchId)) {
    if (matches?.batchId === otherId) known.add(matches.row)
    known.add((person.email ?? '').toLowerCase())
  }
  const others: BatchRow[] = []
  for await (const row of batches.rows(otherId, { states: ['pending'] }))
    if (!known.has(row.row) && !known.has(row.recipient?.email.toLowerCase() ?? '')) others.push(row)
  if (others.length === 0) return undefined
  const names = joinFirst(others.slice(0, maxNamed).map(formatRow), maxNamed, others.length)
  return { names, rows: others.map(({ row }) => row) }
}

/**
 * Describes the cancelled rows whose people are not ordered, those that were left out as the same person, and the
 * cancelled and dropped rows and the duplicates of dropped orders of other batches, whose people may have been ordered.
 */
async function describeLeftOut(
  batches: RunServices['batches'],
  batch: Batch,
  describeRow: NonNullable<RunBatchOptions['describeRow']>,
  readsDuplicates: boolean,
): Promise<Pick<NamedRows, 'leftOut' | 'samePerson' | 'perhapsOrdered' | 'dropped' | 'openElsewhereCount'>> {
  const openElsewhere = new Set<string>()
  const leftOut: BatchRow[] = []
  const samePerson: BatchRow[] = []
  const perhapsOrdered: BatchRow[] = []
  const states = ['cancelled', 'dropped', ...(readsDuplicates ? (['duplicate'] as const) : [])] as const
  for await (const row of batches.rows(batch.id, { states })) {
    if (row.state === 'duplicate') {
      const order = openOrderKey(row)
      if (order === undefined || openElsewhere.has(order)) continue
      openElsewhere.add(order)
      perhapsOrdered.push(row)
    } else if (row.state === 'dropped' || isPerhapsOrderedOtherwise(row)) perhapsOrdered.push(row)
    else if (!isOrderedOtherwise(row)) leftOut.push(row)
    else if (row.reason === samePersonReason) samePerson.push(row)
  }
  const describe = async (rows: readonly BatchRow[]): Promise<string | undefined> => {
    const named = await Promise.all(rows.slice(0, maxNamed).map((row) => describeRow(row, batch)))
    return rows.length === 0 ? undefined : joinFirst(named, maxNamed, rows.length)
  }
  const dropped = perhapsOrdered.find(({ state }) => state === 'dropped')
  return {
    leftOut: await describe(leftOut),
    samePerson: await describe(samePerson),
    perhapsOrdered: await describe(perhapsOrdered),
    openElsewhereCount: openElsewhere.size,
    dropped: dropped && { row: dropped.row, rowText: await describeRow(dropped, batch) },
  }
}

/**
 * Writes the results file; returns whether there is a file afterwards. An error of this program is returned and not
 * thrown, because a failure to write the file must not prevent the report of the rows' outcomes.
 */
async function tryToWriteResults(batch: Batch, options: RunBatchOptions): Promise<RefcheckError | boolean> {
  try {
    return await options.writeResults(batch)
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    return error
  }
}

function resultsUnwrittenError(batchId: string, { message }: RefcheckError): IoError {
  return new IoError(`the results file was not written: ${message}`, {
    hint: `What became of each row is in the store. Write it to a file with: refcheck batch export ${batchId} --output results.csv`,
  })
}

/** Acquires the lease of the batch. First changes rows in `sending` of a process that has ended to `unknown`. */
async function lockAndRecover({ batches, ledger, clock }: RunServices, batchId: string): Promise<Lease> {
  for (let tries = 0; tries < 3; tries += 1) {
    await ledger.recover(clock.now())
    const lease = await batches.acquire(batchId, 'sending')
    if (lease === undefined) throw heldElsewhereError(await batches.find(batchId))
    // In a shared store, rows in `sending` may be those of other processes.
    if (batches.allowsSeveralRunners) return lease
    const { sending } = await batches.countRows(batchId)
    if (sending === 0) return lease
    await lease.release()
  }
  throw new InternalError(`batch ${batchId} has a row in flight that no process sends`)
}

async function requireBatch({ batches }: RunServices, batchId: string): Promise<Batch> {
  const batch = await batches.find(batchId)
  if (batch === undefined) throw new InternalError(`batch ${batchId} is gone from the store`)
  return batch
}

/** Reconciles the unknown rows, at the start and at the end of a run. An unreachable service does not stop the run. */
async function reconcileUnknown(ports: RunServices, batch: Batch, options: RunBatchOptions): Promise<void> {
  const { unknown: unknownCount, dropped, pending } = batch.counts
  if (unknownCount + dropped + pending === 0 || ports.signal?.aborted === true) return
  const reconcilableRows = await findReconcilableRows(ports.ledger, batch.id)
  if (reconcilableRows.length === 0) return
  const ids = await options.listUnmatchedIds()
  try {
    const reconciled = await reconcile(ports, reconcilableRows, ids)
    options.onReconciled?.(reconciled)
  } catch (error) {
    if (!(error instanceof RefcheckError) || error.code === 'io') throw error
  }
}
