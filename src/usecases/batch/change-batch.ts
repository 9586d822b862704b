import { formatRow, type Batch, type BatchRow, type Match } from '../../domain/batch/batch.ts'
import { heldElsewhereError, stoppedQuestionsError } from '../../domain/batch/batch-status.ts'
import {
  decisionCommand,
  heldReasonTexts,
  samePersonReason,
  sameServiceHint,
} from '../../domain/submission/duplicate.ts'
import { releasableReasons, type ConflictReason, type Release } from '../../domain/submission/conflicts.ts'
import {
  DuplicateError,
  InterruptedError,
  InvalidInputError,
  NotFoundError,
  UsageError,
} from '../../errors/kinds.ts'
import { capitalize, joinFirst } from '../../domain/wording/text.ts'
import { heldQuestion, perhapsSentError } from '../../domain/batch/held-question.ts'
import type { Package } from '../../contract/package.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Services } from '../services.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { ReleaseResult, MovableRow } from '../../store/ledger/held-rows.ts'
import { type BatchServices, findConflictingRow, findBatch, findRow } from './read-batch.ts'
import {
  bodyForPackage,
  moveError,
  unrelatedPackagesText,
  type InvalidRow,
} from '../../domain/batch/package-replacement.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { readLinesOfRows } from './read-file.ts'
import { type DecisionServices, recordAnswer, requestIdProblem, requireDecidable } from './record-answer.ts'
import { loadSchema, type SchemaServices } from '../form/package.ts'

/** Runs `change` with the lease of the batch, so that no other process changes the batch meanwhile. */
async function withLease<T>(batches: Batches, batch: Batch, change: () => Promise<T>): Promise<T> {
  const lease = await batches.acquire(batch.id)
  if (lease === undefined) throw heldElsewhereError(await batches.find(batch.id))
  try {
    return await change()
  } finally {
    await lease.release()
  }
}

/** Releases held rows. Throws a UsageError if a row that `release` names cannot be released. */
export async function releaseRows(
  { batches, heldRows, clock }: BatchServices,
  batch: Batch,
  release: Release,
  by: string,
): Promise<ReleaseResult> {
  return withLease(batches, batch, async () => {
    const released = await heldRows.release(batch.id, release, { at: clock.now(), by })
    if (release.kind === 'rows') await requireAllReleased(batches, batch, release.rows, released)
    return released
  })
}

async function requireAllReleased(
  batches: Batches,
  batch: Batch,
  rows: readonly number[],
  { rows: releasedRows, left }: ReleaseResult,
): Promise<void> {
  const batchId = batch.id
  const firstMissing = rows.find((row) => !releasedRows.includes(row))
  if (firstMissing === undefined) return
  const reason = left.find(({ row }) => row === firstMissing)?.reason
  const releasedText = releasedRows.length === 0 ? '' : `; released: ${releasedRows.join(', ')}`
  if (reason === undefined) {
    throw new UsageError(`row ${firstMissing} of batch ${batchId} is not held${releasedText}`, {
      hint: `List the held rows with: refcheck batch rows ${batchId} --state held`,
    })
  }
  if (releasableReasons.includes(reason)) {
    throw new UsageError(
      `row ${firstMissing} stays held because of another order: it ${heldReasonTexts[reason]}${releasedText}`,
      {
        hint: `See that order, and release the row again if these are two people: refcheck batch rows ${batchId} --state held`,
      },
    )
  }
  const order = (await findRow(batches, batchId, firstMissing))?.matches
  const conflictingBatch = order && (await batches.find(order.batchId))
  throw new UsageError(
    `row ${firstMissing} cannot be released: it ${heldReasonTexts[reason]}${releasedText}`,
    {
      hint:
        order === undefined || conflictingBatch === undefined
          ? undefined
          : reconcileFirstHint(reason, batch, conflictingBatch, order),
    },
  )
}

/**
 * Returns the hint that says what the user has to do about the conflicting order before the row can be
 * released.
 */
function reconcileFirstHint(reason: ConflictReason, { baseUrl }: Batch, other: Batch, order: Match): string {
  return reason === 'other_service'
    ? sameServiceHint(other.baseUrl, baseUrl)
    : `Settle that order first: ${decisionCommand(order)}`
}

export interface DecideServices
  extends
    BatchServices,
    Omit<DecisionServices, 'batches'>,
    Pick<Services, 'account' | 'files' | 'packageNames'> {
  prompter: Prompter
  /** Shows the facts for a question: the position of the row, and the two people. */
  onQuestion: (lines: readonly string[]) => void
}

/**
 * Counts of held rows by answer: released, recorded as ordered, left out (never sent), and postponed until later.
 * `unasked`: rows that no answer releases.
 */
interface DecisionCounts {
  released: number
  recorded: number
  cancelled: number
  postponed: number
  unasked: number
  /** The last person who was left out, with the line of the row. */
  lastCancelled?: string | undefined
  /** Other batches in which rows with the same questions were changed by these answers. */
  otherBatches: Batch[]
}

/**
 * Asks about the held rows of a batch, one after another, and records each answer. Throws an InterruptedError if the
 * user leaves; answers given before are recorded. `verb`: what happens to a row after the answer Yes, in the words of
 * the questions.
 */
export async function decideHeldRows(
  ports: DecideServices,
  batch: Batch,
  verb: 'order' | 'release',
): Promise<DecisionCounts> {
  const heldRowNumbers: number[] = []
  for await (const { row } of ports.batches.rows(batch.id, { states: ['held'] })) heldRowNumbers.push(row)
  const counts: DecisionCounts = {
    released: 0,
    recorded: 0,
    cancelled: 0,
    postponed: 0,
    unasked: 0,
    otherBatches: [],
  }
  const lines = await readLinesOfRows(ports.files, batch)
  for (const [index, number] of heldRowNumbers.entries()) {
    try {
      const newState = await decideHeldRow(ports, batch, {
        number,
        lines,
        position: `${index + 1} of ${heldRowNumbers.length}`,
        verb,
        otherBatches: counts.otherBatches,
      })
      if (newState === 'pending') counts.released += 1
      if (newState === 'accepted') counts.recorded += 1
      if (newState === 'cancelled' || newState === 'duplicate') {
        counts.cancelled += 1
        const row = await findRow(ports.batches, batch.id, number)
        counts.lastCancelled = row && formatRow({ ...row, line: lines.get(number) })
      }
      if (newState === 'later') counts.postponed += 1
      if (newState === 'held') counts.unasked += 1
    } catch (error) {
      if (!(error instanceof InterruptedError)) throw error
      // A resumed batch asks about its held rows too, after it has sent the others.
      const hasRowsToSend = verb === 'order' && batch.counts.pending + counts.released > 0
      const nextCommand = `refcheck batch ${hasRowsToSend ? 'resume' : 'release'} ${batch.id}`
      throw stoppedQuestionsError(counts.released + counts.recorded + counts.cancelled, nextCommand)
    }
  }
  return counts
}

/**
 * Asks until the row is no longer held or is postponed. Each answer applies to one order that the row conflicts with.
 */
async function decideHeldRow(
  ports: DecideServices,
  batch: Batch,
  {
    number,
    lines,
    position,
    verb,
    otherBatches,
  }: {
    number: number
    lines: ReadonlyMap<number, number>
    position: string
    verb: 'order' | 'release'
    otherBatches: Batch[]
  },
): Promise<SubmissionState | 'later' | undefined> {
  const { batches, prompter, heldRows, clock, api, packageNames } = ports
  const packages = await packageNames.get(batch)
  let lastConflictKey: string | undefined
  for (;;) {
    const row = await findRow(batches, batch.id, number)
    if (row?.state !== 'held') return row?.state
    const { matches } = row
    const other = await findConflictingRow(batches, row, lines)
    const conflictKey = `${row.heldFor} ${matches?.batchId} ${matches?.row}`
    const question = heldQuestion({ held: row, other }, verb, packages)
    if (question === undefined || conflictKey === lastConflictKey) return 'held'
    lastConflictKey = conflictKey
    ports.onQuestion([
      `${formatRow({ ...row, line: lines.get(number) })} of ${batch.name} is held (${position})`,
      ...question.details,
    ])
    const answer = await prompter.select({ message: question.message, choices: question.choices })
    if (answer === 'later') return answer
    const decision = { at: clock.now(), by: api.userEmail }
    if (answer === 'leave-out') {
      const reason = row.heldFor === 'similar' ? samePersonReason : 'left out by a person’s decision'
      await cancelBatch(ports, batch, [number], reason)
      otherBatches.push(...(await leaveOutOfOtherBatches(ports, batch, row, reason)))
    } else if (answer === 'send-instead') {
      if (other === undefined || !(await sendInsteadOf(ports, row, other, otherBatches))) return 'later'
      // If the other row was sent meanwhile, the question is asked again with its order.
      lastConflictKey = undefined
    } else if (answer === 'has-request') {
      const requestId = question.requestId ?? (await askRequestId(ports))
      if (requestId === '') return 'later'
      const rowWithLine = { ...row, line: lines.get(number) }
      // If the request is refused, the question is asked again.
      if (!(await recordRequest(ports, batch, rowWithLine, requestId))) lastConflictKey = undefined
    } else if (row.heldFor === 'other_service') {
      await heldRows.recordSameService(
        [other?.baseUrl ?? row.baseUrl, row.baseUrl],
        answer === 'same-service',
        decision,
      )
      await heldRows.recheck(batch.id, decision.at)
    } else {
      await withLease(batches, batch, () =>
        heldRows.release(batch.id, { kind: 'rows', rows: [number] }, decision),
      )
    }
  }
}

/**
 * Cancels the row of another batch that waits for the same person, so that the held row can be sent. Returns false, and
 * changes nothing, if another process runs that batch, and may be sending the row.
 */
async function sendInsteadOf(
  { batches, heldRows, ledger, clock, onQuestion }: DecideServices,
  row: BatchRow,
  other: BatchRow,
  otherBatches: Batch[],
): Promise<boolean> {
  const otherBatch = await batches.find(other.batchId)
  if (otherBatch === undefined) return false
  const lease = await ledger.acquire(otherBatch)
  if (lease === undefined) {
    const { message, hint } = heldElsewhereError(await batches.find(otherBatch.id))
    onQuestion([capitalize(message), ...(hint?.split('\n') ?? [])])
    return false
  }
  const inBatch = `${otherBatch.name} (batch ${otherBatch.id.slice(0, 8)})`
  try {
    const result = await heldRows.sendInstead(row, other, clock.now())
    if (result !== 'sent') {
      const changedText =
        result === 'other-gone'
          ? `${formatRow(other)} does not wait any more in ${otherBatch.name}; nothing was changed there`
          : `${formatRow(row)} was changed by another command; nothing was changed in ${inBatch}`
      onQuestion([changedText])
      return true
    }
  } finally {
    await lease.release()
  }
  const emailText = other.recipient === undefined ? '' : ` (${other.recipient.email})`
  onQuestion([`${formatRow(other)}${emailText} is cancelled in ${inBatch}`])
  otherBatches.push(otherBatch)
  return true
}

/** Returns a text that is equal for held rows with the same person and the same question. */
const questionKey = ({ recipient, baseUrl, packageId, heldFor, matches }: BatchRow): string =>
  JSON.stringify([recipient, baseUrl, packageId, heldFor, matches?.batchId, matches?.row])

/**
 * Leaves the person of a row out of other batches too that ask the same question, such as the batch of an earlier version
 * of the file. Returns these batches, without those that a process runs.
 */
async function leaveOutOfOtherBatches(
  ports: DecideServices,
  { id, account = '' }: Batch,
  row: BatchRow,
  reason: string,
): Promise<Batch[]> {
  if (row.recipient === undefined) return []
  const { batches, ledger } = ports
  const { email } = row.recipient
  const changedBatches: Batch[] = []
  for (const { batchId, row: number } of await ledger.list({ email, account, states: ['held'] })) {
    const [other, otherRow] = [await batches.find(batchId), await findRow(batches, batchId, number)]
    if (batchId === id || other === undefined || other.holder !== undefined) continue
    if (otherRow === undefined || questionKey(otherRow) !== questionKey(row)) continue
    await cancelBatch(ports, other, [number], reason)
    ports.onQuestion([`${formatRow(row)} is left out of ${other.name} (batch ${batchId.slice(0, 8)}) too`])
    changedBatches.push(other)
  }
  return changedBatches
}

/** Asks for the id of the provider's request; empty if the user does not know it yet. */
function askRequestId({ prompter }: DecideServices): Promise<string> {
  return prompter.text({
    message: 'Id of their request:',
    help: 'Empty: decide later. The row stays held until the request is recorded.',
    check: (text) => (text === '' ? undefined : requestIdProblem(text)),
  })
}

/** Records the provider's request for a held row. Returns whether it was recorded; if not, the reason was shown. */
async function recordRequest(
  ports: DecideServices,
  batch: Batch,
  row: BatchRow,
  requestId: string,
): Promise<boolean> {
  try {
    const answer = { kind: 'has', requestId } as const
    requireDecidable(ports, batch, row, answer)
    await recordAnswer(ports, batch, row, answer, undefined)
    ports.onQuestion([`${formatRow(row)} is ordered: request ${requestId.toLowerCase()}`])
    return true
  } catch (error) {
    const canAskAgain =
      error instanceof UsageError ||
      error instanceof InvalidInputError ||
      error instanceof NotFoundError ||
      error instanceof DuplicateError
    if (!canAskAgain) throw error
    ports.onQuestion([capitalize(error.message), ...(error.hint?.split('\n') ?? [])])
    return false
  }
}

/**
 * Sets rejected rows to pending again: all, or those whose numbers are in `rows`. Returns the number of rows
 * changed.
 */
export async function retryBatch(
  { batches, clock }: BatchServices,
  batch: Batch,
  rows: readonly number[] | undefined,
): Promise<number> {
  return withLease(batches, batch, async () => {
    for (const row of rows ?? []) await requireRejected(batches, batch.id, row)
    return batches.requeue(batch.id, clock.now(), rows)
  })
}

/**
 * Throws a UsageError unless the row is rejected. A row whose outcome is unknown may have been ordered
 * already.
 */
async function requireRejected(batches: Batches, batchId: string, number: number): Promise<void> {
  const row = await findRow(batches, batchId, number)
  if (row === undefined) {
    throw new UsageError(`row ${number} is not in batch ${batchId}`, {
      hint: `List the rejected rows with: refcheck batch rows ${batchId} --state rejected`,
    })
  }
  if (row.state === 'rejected') return
  throw new UsageError(`row ${number} is ${row.state}; only rejected rows can be sent again`, {
    hint:
      row.state === 'unknown'
        ? `It may have been ordered. Settle it first with: refcheck batch reconcile ${batchId}`
        : `List the rejected rows with: refcheck batch rows ${batchId} --state rejected`,
  })
}

/**
 * Cancels all rows that were not sent, or those of them whose numbers are in `rows`. Returns the number of
 * cancelled rows. Throws if a process runs the batch, and for a row of `rows` that may have been sent, because the store
 * had lost attempts: after its cancellation, its person could be ordered again.
 */
export async function cancelBatch(
  { batches, clock }: BatchServices,
  batch: Batch,
  rows?: readonly number[],
  reason = 'cancelled before it was sent',
): Promise<number> {
  return withLease(batches, batch, async () => {
    if (rows === undefined) return batches.cancelWaiting(batch.id, clock.now(), reason)
    for (const row of rows) {
      if ((await batches.cancelWaiting(batch.id, clock.now(), reason, row)) === 1) continue
      const left = await findRow(batches, batch.id, row)
      if (left?.state === 'held' && left.heldFor === 'store_forgot') throw perhapsSentError(left)
      throw new UsageError(`row ${row} of batch ${batch.id} is not waiting to be sent`, {
        hint: `Rows that can be cancelled: refcheck batch rows ${batch.id} --state pending,held,duplicate`,
      })
    }
    return rows.length
  })
}

/**
 * Returns, for each batch with rows that were not sent because of cancelled rows of a batch, their people and the command
 * that orders them, or, for rows of the same batch, which its next run orders, the command that cancels them too.
 */
export async function describeFreedRows(
  services: Pick<Services, 'batches' | 'heldRows' | 'files'>,
  cancelledBatch: string,
): Promise<string[]> {
  const texts: string[] = []
  const batches = (await services.batches.list()).filter(({ counts }) => counts.duplicate + counts.held > 0)
  const ids = batches.map(({ id }) => id)
  const freed = await services.heldRows.findFreed(ids, cancelledBatch)
  for (const batch of batches) {
    const { id, name } = batch
    const numbers = freed.get(id) ?? []
    if (numbers.length === 0) continue
    const people = await nameFirstRows(services, batch, numbers)
    const rowsText = numbers.length === 1 ? 'this row' : 'these rows'
    texts.push(
      id === cancelledBatch
        ? `The next run of ${name} orders, instead of the cancelled rows: ${people}. To leave out ${rowsText} too: refcheck batch cancel ${id} --row ${numbers.join(' --row ')}`
        : `Left out of ${name} because of these rows: ${people}. To order ${rowsText} now: refcheck batch resume ${id}`,
    )
  }
  return texts
}

/** Maximum number of people whom a message names. */
const maxNamed = 3

/** Returns the people of the first of these rows with their lines, and the number of the others. */
async function nameFirstRows(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
  numbers: readonly number[],
): Promise<string> {
  const lines = await readLinesOfRows(files, batch)
  const people: string[] = []
  for (const number of numbers.slice(0, maxNamed)) {
    const row = await findRow(batches, batch.id, number)
    if (row !== undefined) people.push(formatRow({ ...row, line: lines.get(number) }))
  }
  return joinFirst(people, maxNamed, numbers.length)
}

export interface MoveServices extends BatchServices, SchemaServices, Pick<Services, 'files'> {
  /**
   * Called with a sentence about the effect before rows are moved to a package that did not replace the one of the
   * batch. Throws if the user declines. Without it, the rows are moved.
   */
  onUnrelatedPackage?: (effect: string, rowCount: number) => Promise<void>
}

/**
 * Moves the rows that were not sent to the package that replaced the batch's package. Every row is checked against
 * the new schema first; if one is invalid, nothing is moved. Conflict detection then treats the two packages as one.
 * Returns the number of moved rows.
 */
export async function moveBatch(ports: MoveServices, batch: Batch, packageId: number): Promise<number> {
  const { batches, heldRows, clock, api } = ports
  if (serviceOf(batch.baseUrl) !== serviceOf(api.baseUrl)) {
    throw new UsageError(
      `batch ${batch.id} is for ${batch.baseUrl}, and this profile is for ${api.baseUrl}`,
      {
        hint: 'Nothing was moved. Choose the profile it was made with: --profile NAME',
      },
    )
  }
  if (batch.packageId === undefined) {
    throw new UsageError(`the rows of batch ${batch.id} name packages of their own`, {
      hint: 'Nothing was moved. Change package_id in the file and run that; what was accepted is not ordered twice.',
    })
  }
  // A row whose outcome was unknown during a move keeps its package, and can be moved when it is pending or rejected.
  const isMoved = (await heldRows.readMovable(batch.id)).every((row) => row.packageId === packageId)
  if (batch.packageId === packageId && isMoved) {
    throw new UsageError(`batch ${batch.id} is already for package ${packageId}`, {
      hint: 'Nothing was moved.',
    })
  }
  const packages = await api.listPackages(undefined, ports.signal)
  requireActive(packages, packageId)
  const schema = await loadSchema(packageId, { ...ports, refresh: true })
  const { relatedIds } = await heldRows.readPackageRelations(batch.baseUrl, batch.packageId)
  const effect = relatedIds.has(packageId)
    ? undefined
    : unrelatedPackagesText(packages, batch.packageId, packageId)
  if (effect !== undefined) {
    // The rows are read again after the answer, because another process may change the batch meanwhile.
    const { length } = await readRowsForPackage(ports, batch, schema)
    await ports.onUnrelatedPackage?.(effect, length)
  }
  return withLease(batches, batch, async () => {
    const rows = await readRowsForPackage(ports, batch, schema)
    const movedCount = await heldRows.moveRows(batch.id, packageId, rows, clock.now())
    // The batch was halted because the package was gone.
    await batches.recordHalt(batch.id, undefined)
    return movedCount
  })
}

/** Reads the rows that can be moved, with their bodies for another package. Throws if there is none, or if one is invalid. */
async function readRowsForPackage(
  { heldRows, files }: Pick<MoveServices, 'heldRows' | 'files'>,
  batch: Batch,
  schema: PackageSchema,
): Promise<MovableRow[]> {
  const rows: MovableRow[] = []
  const invalid: InvalidRow[] = []
  for (const row of await heldRows.readMovable(batch.id)) {
    const { body, problems } = bodyForPackage(row.body, schema)
    if (body === undefined) invalid.push({ row: row.row, problems })
    else rows.push({ ...row, body })
  }
  const lines = invalid.length === 0 ? undefined : await readLinesOfRows(files, batch)
  const error = moveError(batch, schema.id, invalid, lines)
  if (error !== undefined) throw error
  // Without rows, the store would treat the two packages as one for all orders, and no row would state the reason.
  if (rows.length === 0) {
    throw new UsageError(`batch ${batch.id} has no rows left to move`, { hint: 'Nothing was moved.' })
  }
  return rows
}

function requireActive(packages: readonly Package[], packageId: number): void {
  const pack = packages.find(({ id }) => id === packageId)
  if (pack?.status === 'ACTIVE') return
  const details = {
    field: 'package_id',
    hint: 'Nothing was moved. List what can be ordered with: refcheck packages list --status active',
  }
  throw pack === undefined
    ? new NotFoundError(`there is no package ${packageId} for this user`, details)
    : new InvalidInputError(`package ${packageId} (${pack.name}) is ${pack.status}`, details)
}

/** Queues a batch for a worker and removes the halt of its last run. */
export async function queueBatch(ports: BatchServices, batchId: string): Promise<Batch> {
  await ports.batches.recordHalt(batchId, undefined)
  await ports.batches.recordQueued(batchId, ports.clock.now())
  return findBatch(ports, batchId)
}
