import type { Services } from '../services.ts'
import type { Batch, BatchRow, NewFileBatch } from '../../domain/batch/batch.ts'
import type { ColumnChoices } from '../../domain/batch/columns.ts'
import type { OrderToConfirm } from '../../domain/submission/confirmation.ts'
import {
  ordersToConfirm,
  findEarlierOrders,
  type Plan,
  planFailure,
  allowFlagsOf,
  parsePlan,
  planAgainHint,
  requireUnchanged,
} from '../../domain/batch/plan.ts'
import { type RefcheckError, StoreClosedError, UsageError } from '../../errors/kinds.ts'
import {
  type BatchFile,
  findDefaultPackage,
  readOrders,
  openBatchFile,
  pathExists,
  type ReadingServices,
  createReplacingBatch,
  type ReplacingBatch,
} from './read-file.ts'
import { packageGoneError, readAndLinkPackages, readOrdersToConfirm } from './packages.ts'
import type { BatchEnd } from './start.ts'
import { countFailed } from '../../domain/batch/conflict-counts.ts'
import { areAllOrdered } from '../../domain/batch/verdict.ts'
import type { FileSource } from '../services.ts'
import {
  claimResultsFile,
  isDeletedWithPerson,
  reportLeftOut,
  reportLostFormatting,
  findResultsPath,
  rewriteResults,
} from './results-file.ts'
import { findBatch, findBatchToRun } from './read-batch.ts'
import type { HeldRows, NewExternalResults } from '../../store/ledger/held-rows.ts'
import {
  updateExternalResults,
  openExternalResults,
  ReservedResultsError,
  requireSameResults,
  waitForBatch,
  type ExternalResults,
  type ExternalResultServices,
} from './external-results.ts'
import { type AllowFlags, choicesOf } from '../../domain/batch/file-command.ts'
import type { FileReading, PackedRows } from '../../domain/batch/new-row.ts'
import type { Package } from '../../contract/package.ts'
import { localDay } from '../../domain/wording/time.ts'
import { sharedKey } from '../../domain/submission/identity.ts'
import type { ReadableBatch } from './check-file.ts'

export interface OrderFileServices
  extends
    ReadingServices,
    ExternalResultServices,
    Pick<
      Services,
      | 'api'
      | 'clock'
      | 'random'
      | 'account'
      | 'batches'
      | 'ledger'
      | 'heldRows'
      | 'governor'
      | 'files'
      | 'packageNames'
    > {
  /** The package of the settings, for a file that names none. */
  packageSetting: number | undefined
}

/** Functions that show a file and ask the user before any order is sent. */
export interface OrderFilePrompts {
  /** Called if the file was stored as a batch before; that batch is continued. */
  onKnown: (batch: Batch) => void
  /** Shows the plan of a new batch. */
  onPlan: (plan: Plan) => Promise<void>
  /** Whether the user has confirmed the orders beforehand (--yes). */
  isConfirmed: boolean
  /** Throws if the user does not confirm the orders. */
  confirm: (orders: OrderToConfirm) => Promise<void>
}

interface OrderFileChoices {
  columns: ColumnChoices
  /** Whether flags state how the file is read: a file that was read differently is another batch. */
  isReadingChosen: boolean
  allowances: AllowFlags
  /** Whether invalid rows are skipped; undefined if the command cannot skip them. */
  skipInvalid: boolean | undefined
  isDryRun: boolean
  /** The path of --results as typed. */
  results: string | undefined
  /** Whether a new batch is made of a file whose batch is finished (`--again`). */
  isAgain?: boolean | undefined
  /**
   * Returns the command that writes the invalid rows to a file, with the flags by which the file was finally
   * read.
   */
  errorsCommand: () => string | undefined
}

/** The batch to run, or the reason why there is none. */
export type OrderFileEnd =
  /** No batch was made: for a dry run, because of `failure`, or because all people were ordered before. */
  | { kind: 'unstarted'; plan: Plan; packageId: number | undefined; failure: RefcheckError | undefined }
  /** A dry run of a file that is a batch already, as a run would find it. `notSent`: its duplicates and held rows. */
  | { kind: 'existing-batch'; batch: Batch; notSent: BatchRow[] }
  /**
   * The batch is in the store. `isPlanned`: it is new, and its plan was shown. `finished`: set for an earlier batch
   * whose people are all ordered; its results file is not changed.
   */
  | { kind: 'stored'; batchId: string; isPlanned: boolean; finished?: BatchEnd | undefined }

/** Stores a file as a batch, or finds the batch that was made from it before. Sends nothing. */
export async function orderFile(
  ports: OrderFileServices,
  prompts: OrderFilePrompts,
  file: BatchFile,
  choices: OrderFileChoices,
): Promise<OrderFileEnd> {
  const { columns, allowances, isDryRun } = choices
  const packageId = await findDefaultPackage(ports, file, columns)
  // Stored in the choices, so that the user is not asked for the package again if the file has to be read
  // again.
  columns.packageId = packageId
  const continueKnown = (known: Batch): Promise<OrderFileEnd> =>
    continueBatch(ports, prompts, known, { file, choices })
  const batchOfSameFile = await findBatchOfFile(ports, file, packageId)
  const knownBatch =
    batchOfSameFile !== undefined && choices.isReadingChosen
      ? await findBatchReadAsChosen(ports, file, columns, batchOfSameFile)
      : batchOfSameFile
  const isAgain = choices.isAgain === true && knownBatch !== undefined && knownBatch !== 'another'
  if (isAgain) requireFinished(knownBatch)
  else if (knownBatch !== undefined && knownBatch !== 'another') return continueKnown(knownBatch)
  const orders = await readOrders(ports, file, columns, packageId)
  const planned = await planBatch(ports, file, orders, {
    choices: columns,
    allowances,
    packageId,
    isReadOtherwise: knownBatch === 'another' || (isAgain && knownBatch.id !== batchOfSameFile?.id),
    replaces: isAgain ? knownBatch.id : undefined,
  }).catch(async (error: unknown) => {
    // A store that was restored does not have the empty results file of its own run.
    if (!isDryRun) await requireOpenStore(ports, { id: ports.random.uuid() })
    const isReserved = error instanceof ReservedResultsError && !isAgain
    const added = isReserved
      ? await waitForBatch(ports.clock, () => findBatchOfFile(ports, file, packageId))
      : undefined
    if (added === undefined) throw error
    return added
  })
  if ('counts' in planned) return continueKnown(planned)
  const resultsFile = await findResultsPath(ports, file, choices.results, { batch: replacingBatch(planned) })
  const batchAddedMeanwhile = await ports.batches.findByIdentity(planned.batch.identity)
  if (batchAddedMeanwhile !== undefined && !isAgain) return continueKnown(batchAddedMeanwhile)
  const { plan } = planned
  const packageIds = plan.packages.map(({ package_id }) => package_id)
  const failure =
    planFailure(plan, file.name, {
      skip: choices.skipInvalid,
      errorsCommand: choices.errorsCommand(),
      isDryRun,
    }) ??
    (isDryRun || planned.packages === undefined
      ? undefined
      : await packageGoneError(ports, planned.packages, packageIds))
  // A batch whose people are ordered by what results files say is stored, so that later orders are compared with it.
  const isUnneeded =
    findEarlierOrders(plan) !== undefined &&
    plan.matches.every(({ conflict }) => conflict.externalResult === undefined)
  if (failure !== undefined || isDryRun || isUnneeded) return { kind: 'unstarted', plan, packageId, failure }
  await requireOpenStore(ports, planned.batch)
  await prompts.onPlan(plan)
  if (resultsFile !== undefined) {
    reportLostFormatting(ports, resultsFile, file.sheet)
    reportLeftOut(ports, resultsFile, plan.check)
  }
  if (plan.counts.pending > 0) await prompts.confirm(ordersToConfirm(plan))
  return addBatch(ports, file, { typed: choices.results, chosen: resultsFile }, planned, continueKnown)
}

const replacingBatch = ({ batch, rows }: Planned): ReplacingBatch => createReplacingBatch(batch, () => rows)

/**
 * Throws a UsageError if rows of the batch may still be ordered: they would conflict with the same rows of the new
 * batch.
 */
function requireFinished({ id, name, counts: { pending, sending, unknown, held } }: Batch): void {
  if (pending + sending + unknown + held === 0) return
  throw new UsageError(`--again: ${name} is batch ${id}, which is not finished`, {
    hint: `Nothing was sent. Continue that batch with: refcheck batch resume ${id}`,
  })
}

/**
 * Throws a StoreClosedError if the store does not allow orders, before a plan is shown: acquiring a batch
 * checks that.
 */
async function requireOpenStore({ batches }: OrderFileServices, { id }: Pick<Batch, 'id'>): Promise<void> {
  const lease = await batches.acquire(id)
  await lease?.release()
}

/**
 * Adds the batch to the store. Another process may have added the same file meanwhile; then that batch is continued.
 */
async function addBatch(
  ports: OrderFileServices,
  file: BatchFile,
  resultsPaths: { typed: string | undefined; chosen: string | undefined },
  planned: Planned,
  continueKnown: (known: Batch) => Promise<OrderFileEnd>,
): Promise<OrderFileEnd> {
  const { batch, rows, externalResults } = planned
  const { typed, chosen } = resultsPaths
  const claim = await claimResultsFile(ports, file, typed, chosen, replacingBatch(planned))
  const add = async (): Promise<Batch | undefined> => {
    // The results file is reserved before, so that of two stores that order at the same time, one sees the other.
    const findAdded = (): Promise<Batch | undefined> => ports.batches.findByIdentity(batch.identity)
    const added = await requireSameResults(ports, ports.files, file, externalResults, claim.path, findAdded)
    return added ?? ports.batches.add({ ...batch, resultsFile: claim.path }, rows)
  }
  const existingBatch = await add().catch(async (error: unknown) => {
    // The store may lack the batch, and would then take the empty file for the one of another store.
    await claim.deleteEmptyFile().catch(() => undefined)
    throw error
  })
  if (existingBatch !== undefined) {
    await claim.deleteEmptyFile()
    return continueKnown(existingBatch)
  }
  // The results of the earlier batch do not show to other stores whom this batch is going to order.
  if (claim.isReplacing) await rewriteResults(ports, await findBatch(ports, batch.id))
  return { kind: 'stored', batchId: batch.id, isPlanned: true }
}

/**
 * Returns the result of a batch whose people are all ordered and whose results file exists or must not be made again;
 * undefined for any other batch.
 */
async function findFinishedEnd(ports: OrderFileServices, batch: Batch): Promise<BatchEnd | undefined> {
  const { id, counts, resultsFile } = batch
  const conflicts = await ports.heldRows.countConflicts(id)
  if (!areAllOrdered(counts, conflicts)) return undefined
  const isFileMissing = resultsFile !== undefined && !(await pathExists(resultsFile))
  if (isFileMissing && !(await isDeletedWithPerson(ports.batches, batch))) return undefined
  let { firstSentAt = Number.POSITIVE_INFINITY, lastSentAt = 0 } = conflicts.orderedBefore
  const { failedByStatus } = conflicts.orderedBefore
  for await (const { attemptedAt, changedAt, requestStatus } of ports.batches.rows(id, {
    states: ['accepted'],
  })) {
    firstSentAt = Math.min(firstSentAt, attemptedAt ?? changedAt)
    lastSentAt = Math.max(lastSentAt, attemptedAt ?? changedAt)
    countFailed(failedByStatus, requestStatus)
  }
  return {
    batch,
    failure: undefined,
    result: {
      counts,
      earlierOrders: { ...conflicts.orderedBefore, firstSentAt, lastSentAt },
      orderedInThisRun: 0,
      people: [],
    },
  }
}

/** Returns services that print no warnings about results files if these are ignored. */
const resultPortsOf = (ports: OrderFileServices, { ignoreResults }: AllowFlags): OrderFileServices =>
  ignoreResults ? { ...ports, onBatchEvent: () => undefined } : ports

async function continueBatch(
  ports: OrderFileServices,
  prompts: OrderFilePrompts,
  foundBatch: Batch,
  { file, choices }: { file: BatchFile; choices: OrderFileChoices },
): Promise<OrderFileEnd> {
  if (choices.isDryRun) return previewKnown(ports, prompts, foundBatch.id, { file, choices })
  const resultPorts = resultPortsOf(ports, choices.allowances)
  await updateExternalResults(resultPorts, ports.files, foundBatch, file)
  if (choices.allowances.ignoreResults) await ports.heldRows.ignoreResults(foundBatch.id)
  try {
    await requireOpenStore(ports, foundBatch)
  } catch (error) {
    if (!(error instanceof StoreClosedError) || foundBatch.counts.unknown === 0) throw error
    // The run sends nothing either, and reports the unknown rows first.
    return { kind: 'stored', batchId: foundBatch.id, isPlanned: false }
  }
  const batch = await findBatchToRun(ports, foundBatch.id)
  prompts.onKnown(batch)
  const { results, allowances } = choices
  if (allowances.allowSimilar || allowances.shared.length > 0)
    ports.onBatchEvent({ name: 'similar-too-late', batchId: batch.id, held: batch.counts.held })
  if (allowances.allowDuplicate && !batch.allowDuplicate && batch.counts.duplicate > 0) {
    ports.onBatchEvent({ name: 'duplicates-too-late', batchId: batch.id })
  }
  const finished = results === undefined ? await findFinishedEnd(ports, batch) : undefined
  if (finished !== undefined) return { kind: 'stored', batchId: batch.id, isPlanned: false, finished }
  // Without the question, the run itself checks the packages, and its output shows the halted batch.
  if (batch.counts.pending > 0 && !prompts.isConfirmed)
    await prompts.confirm(await readOrdersToConfirm(ports, batch))
  if (results !== undefined) {
    const path = await findResultsPath(ports, file, results, { currentPath: batch.resultsFile })
    if (path !== undefined) await ports.batches.recordResultsFile(batch.id, path)
  }
  return { kind: 'stored', batchId: batch.id, isPlanned: false }
}

/** Returns the batch as a run would find it, after its comparisons. The store is not changed. */
async function previewKnown(
  ports: OrderFileServices,
  prompts: OrderFilePrompts,
  id: string,
  { file, choices }: { file: BatchFile; choices: OrderFileChoices },
): Promise<OrderFileEnd> {
  const batch = await findBatch(ports, id)
  let results: NewExternalResults | undefined
  const heldRows: Pick<HeldRows, 'updateExternalResults'> = {
    async updateExternalResults(_, rows, files) {
      results = { rows, files }
    },
  }
  // Without the external results, the rows to send would include some that a run does not send.
  const resultPorts = { ...resultPortsOf(ports, choices.allowances), heldRows }
  await updateExternalResults(resultPorts, ports.files, batch, file)
  const preview = { at: ports.clock.now(), isIgnored: choices.allowances.ignoreResults }
  const { counts, notSent } = await ports.heldRows.previewRecheck(id, results, preview)
  const previewed = { ...batch, counts }
  prompts.onKnown(previewed)
  return { kind: 'existing-batch', batch: previewed, notSent }
}

/** Finds the batch that was made from this file; with `reading`, only if the file was read in this way. */
async function findBatchOfFile(
  { api: { baseUrl }, account, batches }: OrderFileServices,
  { sha256 }: BatchFile,
  packageId: number | undefined,
  reading?: FileReading,
): Promise<Batch | undefined> {
  const { fileIdentity } = await import('../../domain/batch/new-row.ts')
  return batches.findByIdentity(fileIdentity({ account, baseUrl }, sha256, packageId, reading))
}

/**
 * Finds the batch that was made from the file when it was read as the flags state now. Returns 'another' if there is no
 * such batch, so that another one has to be made ("Read otherwise it is another", src/docs/ordering.md, section 4).
 */
async function findBatchReadAsChosen(
  ports: OrderFileServices,
  file: BatchFile,
  choices: ColumnChoices,
  known: Batch,
): Promise<Batch | 'another'> {
  const { readingText } = await import('../../domain/batch/new-row.ts')
  const { mapping } = await readOrders(ports, file, choices, known.packageId)
  const reading = readingOf(choices, mapping)
  if (readingText(reading) === known.reading) return known
  return (await findBatchOfFile(ports, file, known.packageId, reading)) ?? 'another'
}

/** A file, the choices for reading it, and the allowances for its orders. */
export interface FileToOrder {
  file: BatchFile
  columns: ColumnChoices
  allowances: AllowFlags
}

/**
 * Opens the file of a stored plan with the plan's choices for reading. `text`: the plan's JSON; `name`: the plan's
 * name for messages; `replanHint`: how to make a new plan; `allowances`: allowances in addition to the plan's.
 * Throws if the file has changed or the plan is for another service.
 */
export async function openPlannedFile(
  files: FileSource,
  { baseUrl }: { baseUrl: string },
  { text, name, replanHint }: { text: string; name: string; replanHint?: string | undefined },
  allowances: AllowFlags,
): Promise<FileToOrder> {
  const plan = parsePlan(text, name)
  if (plan.base_url !== baseUrl) {
    throw new UsageError(`the plan is for ${plan.base_url}, but this profile is for ${baseUrl}`, {
      hint: 'Nothing was sent. Run it again with the profile it was made with: --profile NAME',
    })
  }
  const columns = choicesOf(plan.reading, plan.package_id)
  const file = await openBatchFile(files, plan.file, columns)
  const plannedAllowances = allowFlagsOf(plan)
  requireUnchanged(plan, file.sha256, replanHint ?? planAgainHint(plan, name))
  return {
    file,
    columns,
    allowances: {
      allowDuplicate: allowances.allowDuplicate || plannedAllowances.allowDuplicate,
      allowSimilar: allowances.allowSimilar || plannedAllowances.allowSimilar,
      shared: [...allowances.shared, ...plannedAllowances.shared],
      ignoreResults: allowances.ignoreResults || plannedAllowances.ignoreResults,
    },
  }
}

/** A file that was checked and compared with the store. None of its rows was sent. */
interface Planned {
  plan: Plan
  rows: PackedRows
  batch: NewFileBatch
  reading: FileReading
  externalResults: ExternalResults
  /** Packages of the service; undefined if the file is only checked. */
  packages: readonly Package[] | undefined
}

interface PlanOptions {
  choices: ColumnChoices
  allowances: AllowFlags
  packageId: number | undefined
  /** Whether the file is only checked. The packages of the service are then not read. */
  isCheck?: boolean | undefined
  /** Whether the same file is already a batch that was read differently. */
  isReadOtherwise?: boolean | undefined
  /** The batch that the new one replaces, as in `NewFileBatch`. */
  replaces?: string | undefined
}

/** Checks a file and compares it with the store. */
export async function planBatch(
  ports: OrderFileServices,
  file: BatchFile,
  orders: ReadableBatch,
  { choices, allowances, packageId, replaces, isCheck = false, isReadOtherwise = false }: PlanOptions,
): Promise<Planned> {
  const [{ checkBatch }, { fileIdentity, newRow, PackedRows, readingText }, { createPlan }] =
    await Promise.all([
      import('./check-file.ts'),
      import('../../domain/batch/new-row.ts'),
      import('../../domain/batch/plan.ts'),
    ])
  const { clock, random, batches, governor, account } = ports
  const { baseUrl, userEmail } = ports.api
  const { ignoreResults } = allowances
  const externalResults = await openExternalResults(ports, ports.files, file, ignoreResults)
  const rows = new PackedRows({ ignoresResults: ignoreResults })
  const check = await checkBatch(orders, localDay(clock.now()), (row, ordinal) => {
    rows.push(newRow(row))
    externalResults.collect(row, ordinal)
  })
  await externalResults.attach(rows)
  const reading = readingOf(choices, orders.mapping)
  const batch: NewFileBatch = {
    id: random.uuid(),
    addedAt: clock.now(),
    baseUrl,
    userEmail,
    identity: fileIdentity(
      { account, baseUrl },
      file.sha256,
      packageId,
      isReadOtherwise ? reading : undefined,
    ),
    name: file.name,
    sha256: file.sha256,
    packageId,
    path: file.path,
    resultsFile: undefined,
    reading: readingText(reading),
    account,
    allowDuplicate: allowances.allowDuplicate,
    allowSimilar: allowances.allowSimilar,
    shared: allowances.shared.map(sharedKey),
    replaces,
  }
  const packages = isCheck ? undefined : await readAndLinkPackages(ports)
  const preview = await batches.preview(batch, rows)
  const packageNames = new Map(packages?.map(({ id, name }) => [id, name]))
  // Reads the recorded use of the quota from the store, on which `secondsFor` depends.
  if (!isCheck) await governor.status()
  const seconds = isCheck ? 0 : governor.secondsFor(preview.counts.pending)
  return {
    plan: createPlan(check, preview, { batchId: batch.id, seconds, now: clock.now(), packageNames }),
    rows,
    batch,
    reading,
    externalResults,
    packages,
  }
}

function readingOf(
  choices: ColumnChoices,
  { map, ignore }: Pick<FileReading, 'map' | 'ignore'>,
): FileReading {
  return {
    sheet: choices.sheet ?? null,
    map,
    ignore,
    default_country: choices.defaultCountry ?? null,
    header_row: choices.headerRow ?? null,
    encoding: choices.encoding ?? null,
    hidden: choices.hidden ?? null,
    accept_lines: choices.acceptLines ?? [],
  }
}
