import type { Batch } from '../../domain/batch/batch.ts'
import { heldElsewhere, formatRow } from '../../domain/batch/batch-status.ts'
import { heldReasonTexts, sameServiceHint } from '../../domain/submission/duplicate.ts'
import { releasableReasons, type ConflictReason, type Release } from '../../domain/submission/conflicts.ts'
import { InterruptedError, UsageError, InvalidInputError, NotFoundError } from '../../errors/kinds.ts'
import { heldQuestion } from '../../domain/batch/held-question.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Services } from '../services.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { Released, Movable } from '../../store/ledger/held-rows.ts'
import { type BatchServices, conflictingRow, findBatch, findRow } from './read-batch.ts'
import { bodyForPackage, moveError, type InvalidRow } from '../../domain/batch/package-replacement.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { linesOfRows } from './results-file.ts'
import { loadSchema, type SchemaServices } from '../form/package.ts'

/** Nothing is changed while another process has the batch. */
async function withLock<T>(batches: Batches, batch: Batch, change: () => Promise<T>): Promise<T> {
  const lock = await batches.acquire(batch.id)
  if (lock === undefined) throw heldElsewhere(await batches.find(batch.id))
  try {
    return await change()
  } finally {
    await lock.release()
  }
}

/** Held rows may be sent after all. Throws a UsageError where a row that is named cannot be. */
export async function releaseRows(
  { batches, waiting, clock }: BatchServices,
  batch: Batch,
  release: Release,
  by: string,
): Promise<Released> {
  return withLock(batches, batch, async () => {
    const released = await waiting.release(batch.id, release, { at: clock.now(), by })
    if (release.kind === 'rows') await requireAll(batches, batch, release.rows, released)
    return released
  })
}

async function requireAll(
  batches: Batches,
  batch: Batch,
  rows: readonly number[],
  { rows: done, left }: Released,
): Promise<void> {
  const batchId = batch.id
  const first = rows.find((row) => !done.includes(row))
  if (first === undefined) return
  const why = left.find(({ row }) => row === first)?.reason
  const rest = done.length === 0 ? '' : `; released: ${done.join(', ')}`
  if (why === undefined) {
    throw new UsageError(`row ${first} of batch ${batchId} is not held${rest}`, {
      hint: `List the held rows with: refcheck batch rows ${batchId} --state held`,
    })
  }
  if (releasableReasons.includes(why)) {
    throw new UsageError(
      `row ${first} stays held because of another order: it ${heldReasonTexts[why]}${rest}`,
      {
        hint: `See that order, and release the row again if these are two people: refcheck batch rows ${batchId} --state held`,
      },
    )
  }
  const row = await findRow(batches, batchId, first)
  const other = row?.matches && (await batches.find(row.matches.batchId))
  throw new UsageError(`row ${first} cannot be released: it ${heldReasonTexts[why]}${rest}`, {
    hint: other === undefined ? undefined : reconcileFirst(why, batch, other),
  })
}

/** What has to be settled or said of the order in the way before the row can go. */
function reconcileFirst(why: ConflictReason, { baseUrl }: Batch, other: Batch): string {
  return why === 'other_service'
    ? sameServiceHint(other.baseUrl, baseUrl)
    : `Settle that order first: refcheck batch reconcile ${other.id}`
}

export interface DecideServices extends BatchServices, Pick<Services, 'api' | 'files' | 'packageNames'> {
  prompter: Prompter
  /** Shows what a question is about: the place of the row, and the two people. */
  onQuestion: (lines: readonly string[]) => void
}

/** How many held rows may be sent from then on, how many never are, and how many were put off. */
interface Decided {
  released: number
  leftOut: number
  later: number
}

/**
 * Asks about the held rows of a batch, one after another, and records each answer. Throws an InterruptedError where the person leaves; the answers given before stay.
 */
export async function decideHeldRows(
  ports: DecideServices,
  batch: Batch,
  verb: 'order' | 'release',
): Promise<Decided> {
  const numbers: number[] = []
  for await (const { row } of ports.batches.rows(batch.id, { states: ['held'] })) numbers.push(row)
  const done = { released: 0, leftOut: 0, later: 0 }
  const lines = await linesOfRows(ports.files, batch)
  for (const [at, number] of numbers.entries()) {
    try {
      const became = await decideHeldRow(ports, batch, {
        number,
        line: lines.get(number),
        place: `${at + 1} of ${numbers.length}`,
        verb,
      })
      if (became === 'pending') done.released += 1
      if (became === 'cancelled' || became === 'duplicate') done.leftOut += 1
      if (became === 'later') done.later += 1
    } catch (error) {
      if (!(error instanceof InterruptedError)) throw error
      throw new InterruptedError('stopped; the answers given before are recorded', {
        hint: `Continue with: refcheck batch resume ${batch.id}`,
      })
    }
  }
  return done
}

/** Asks until the row is no longer held, or is to be decided later: an answer covers one order that it conflicts with. */
async function decideHeldRow(
  ports: DecideServices,
  batch: Batch,
  {
    number,
    line,
    place,
    verb,
  }: { number: number; line: number | undefined; place: string; verb: 'order' | 'release' },
): Promise<SubmissionState | 'later' | undefined> {
  const { batches, prompter, waiting, clock, api, packageNames } = ports
  const packages = await packageNames.get(batch)
  let last: string | undefined
  for (;;) {
    const row = await findRow(batches, batch.id, number)
    if (row?.state !== 'held') return row?.state
    const { matches } = row
    const other = await conflictingRow(batches, row)
    const conflict = `${row.heldFor} ${matches?.batchId} ${matches?.row}`
    const question = heldQuestion({ held: row, other }, verb, packages)
    if (question === undefined || conflict === last) return 'held'
    last = conflict
    ports.onQuestion([`${formatRow(row, line)} of ${batch.name} is held (${place})`, ...question.details])
    const answer = await prompter.select({ message: question.message, choices: question.choices })
    if (answer === 'later') return answer
    const by = { at: clock.now(), by: api.userEmail }
    if (answer === 'leave-out') await cancelBatch(ports, batch, [number])
    else if (row.heldFor === 'other_service') {
      await waiting.sayService([other?.baseUrl ?? row.baseUrl, row.baseUrl], answer === 'same-service', by)
      await waiting.recheck(batch.id, by.at)
    } else {
      await withLock(batches, batch, () => waiting.release(batch.id, { kind: 'rows', rows: [number] }, by))
    }
  }
}

/** Rejected rows, or some of them, are queued again. How many. */
export async function retryBatch(
  { batches, clock }: BatchServices,
  batch: Batch,
  rows: readonly number[] | undefined,
): Promise<number> {
  return withLock(batches, batch, async () => {
    for (const row of rows ?? []) await requireRejected(batches, batch.id, row)
    return batches.requeue(batch.id, clock.now(), rows)
  })
}

/** A row that was named is one that can be queued: above all none whose outcome is unknown. */
async function requireRejected(batches: Batches, batchId: string, number: number): Promise<void> {
  const row = await findRow(batches, batchId, number)
  if (row === undefined) {
    throw new UsageError(`row ${number} is not in batch ${batchId}`, {
      hint: `List the rejected rows with: refcheck batch rows ${batchId} --state rejected`,
    })
  }
  if (row.state === 'rejected') return
  throw new UsageError(`row ${number} is ${row.state}; only rejected rows can be queued again`, {
    hint:
      row.state === 'unknown'
        ? `It may have been ordered. Settle it first with: refcheck batch reconcile ${batchId}`
        : `List the rejected rows with: refcheck batch rows ${batchId} --state rejected`,
  })
}

/** Every row that was not sent is `cancelled`, or those of some numbers. How many. A batch that runs is left alone. */
export async function cancelBatch(
  { batches, clock }: BatchServices,
  batch: Batch,
  rows?: readonly number[],
): Promise<number> {
  const reason = 'cancelled before it was sent'
  return withLock(batches, batch, async () => {
    if (rows === undefined) return batches.cancelWaiting(batch.id, clock.now(), reason)
    for (const row of rows) {
      if ((await batches.cancelWaiting(batch.id, clock.now(), reason, row)) === 1) continue
      throw new UsageError(`row ${row} of batch ${batch.id} is not waiting to be sent`, {
        hint: `Rows that can be cancelled: refcheck batch rows ${batch.id} --state pending,held,duplicate`,
      })
    }
    return rows.length
  })
}

/**
 * What is left of a batch goes on under the package that replaced its own. Every row is checked against the new schema first;
 * where one is invalid there, nothing is moved. The two packages are one from then on. How many rows moved.
 */
export async function moveBatch(
  parts: BatchServices & SchemaServices,
  batch: Batch,
  packageId: number,
): Promise<number> {
  const { batches, waiting, clock, api } = parts
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
  if (batch.packageId === packageId) {
    throw new UsageError(`batch ${batch.id} is already for package ${packageId}`, {
      hint: 'Nothing was moved.',
    })
  }
  await requireActive(parts, packageId)
  const schema = await loadSchema(packageId, { ...parts, refresh: true })
  return withLock(batches, batch, async () => {
    const rows: Movable[] = []
    const invalid: InvalidRow[] = []
    for (const row of await waiting.movable(batch.id)) {
      const { body, problems } = bodyForPackage(row.body, schema)
      if (body === undefined) invalid.push({ row: row.row, problems })
      else rows.push({ ...row, body })
    }
    const refused = moveError(batch, packageId, invalid)
    if (refused !== undefined) throw refused
    // The two would be one package from then on, for everybody, and no row would say why.
    if (rows.length === 0) {
      throw new UsageError(`batch ${batch.id} has no rows left to move`, { hint: 'Nothing was moved.' })
    }
    const moved = await waiting.move(batch.id, packageId, rows, clock.now())
    // What halted it was the package that is gone.
    await batches.recordHalt(batch.id, undefined)
    return moved
  })
}

async function requireActive({ api, signal }: SchemaServices, packageId: number): Promise<void> {
  const pack = (await api.listPackages({ id: packageId }, signal)).find(({ id }) => id === packageId)
  if (pack?.status === 'ACTIVE') return
  const details = {
    field: 'package_id',
    hint: 'Nothing was moved. List what can be ordered with: refcheck packages list --status active',
  }
  throw pack === undefined
    ? new NotFoundError(`there is no package ${packageId} for this user`, details)
    : new InvalidInputError(`package ${packageId} (${pack.name}) is ${pack.status}`, details)
}

/** Leaves a batch for a worker; what halted it before does no more. */
export async function queueBatch(ports: BatchServices, batchId: string): Promise<Batch> {
  await ports.batches.recordHalt(batchId, undefined)
  await ports.batches.recordQueued(batchId, ports.clock.now())
  return findBatch(ports, batchId)
}
