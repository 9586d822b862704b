import type { Services } from '../services.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import type { Package } from '../../contract/package.ts'
import { heldElsewhereError } from '../../domain/batch/batch-status.ts'
import {
  findSuccessors,
  likelySuccessor,
  schemaChanges,
  stepsWithoutMove,
} from '../../domain/batch/package-replacement.ts'
import { RefcheckError, NotFoundError, IncompleteError } from '../../errors/kinds.ts'
import { maxNamed, type OrderToConfirm } from '../../domain/submission/confirmation.ts'
import { readPendingOrders } from './read-batch.ts'
import { type SchemaServices, loadSchema } from '../form/package.ts'
import { readJson } from '../../domain/form/json-text.ts'
import { problemText } from '../../domain/form/problem.ts'
import { validateBody } from '../../domain/form/validate.ts'

interface LinkServices extends Pick<Services, 'api' | 'heldRows' | 'clock'> {
  signal?: AbortSignal | undefined
}

/**
 * Reads the service's packages, and stores the replaced ones with their likely successors, for conflict detection.
 * Costs one read. Throws if the packages cannot be read: nothing is ordered then, since people may have been ordered
 * under a package that was replaced.
 */
export async function readAndLinkPackages({
  api,
  heldRows,
  clock,
  signal,
}: LinkServices): Promise<readonly Package[]> {
  const packages = await api.listPackages(undefined, signal)
  await heldRows.recordLikelySuccessors(api.baseUrl, findSuccessors(packages), clock.now())
  return packages
}

/**
 * Returns a NotFoundError about the first of `packageIds` that cannot be ordered, according to the service's
 * `packages`; undefined if all can be ordered. The error names the likely successor ("a new required field creates a
 * new package version with a new `id`") and what differs in its schema; with `batch` also the command that moves
 * the batch, or the steps instead of a move that would be refused.
 */
export async function packageGoneError(
  ports: SchemaServices,
  packages: readonly Package[],
  packageIds: readonly number[],
  batch?: Parameters<typeof stepsWithoutMove>[0],
): Promise<NotFoundError | undefined> {
  const active = new Set(packages.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id))
  const packageId = packageIds.find((id) => !active.has(id))
  if (packageId === undefined) return undefined
  const unavailable = packages.find(({ id }) => id === packageId)
  const message =
    unavailable === undefined
      ? `package ${packageId} is no longer available to this user`
      : `package ${packageId} ("${unavailable.name}") is ${unavailable.status} and can no longer be ordered`
  const successor = unavailable && likelySuccessor(unavailable, packages)
  const { text, canMove } =
    successor === undefined
      ? {
          text: 'List the packages that can be ordered with: refcheck packages list --status active',
          canMove: true,
        }
      : await describeSuccessor(ports, packageId, successor)
  if (batch === undefined) return new NotFoundError(message, { hint: text })
  const steps =
    canMove || successor === undefined
      ? ` Move what is left of the batch to it with: refcheck batch move ${batch.id} --package ${successor?.id ?? 'N'}`
      : `\n${stepsWithoutMove(batch, successor.id).join('\n')}`
  return new NotFoundError(message, { hint: `${text}${steps}` })
}

type PendingServices = SchemaServices & LinkServices & Pick<Services, 'batches'>

/**
 * Returns the error that prevents ordering the pending rows: the service has no such package any more, or the packages
 * cannot be read. Undefined if the rows can be ordered. Throws an I/O error, and any error after an interruption.
 */
export async function findPackagesError(
  ports: PendingServices,
  batch: Batch,
): Promise<RefcheckError | undefined> {
  const packageIds = new Set<number>()
  if (batch.packageId !== undefined) packageIds.add(batch.packageId)
  else {
    const pending = ports.batches.bodies(batch.id, { states: ['pending'] })
    for await (const { packageId } of pending) packageIds.add(packageId)
  }
  try {
    return await packageGoneError(ports, await readAndLinkPackages(ports), [...packageIds], batch)
  } catch (error) {
    if (error instanceof RefcheckError && error.code !== 'io' && ports.signal?.aborted !== true) return error
    throw error
  }
}

/**
 * Returns the pending rows of a batch as the confirmation shows them. Throws if they cannot be ordered, so that the user
 * is not asked in vain; the error also names the people who were ordered under another package meanwhile.
 */
export async function readOrdersToConfirm(
  ports: PendingServices & Parameters<typeof readPendingOrders>[0],
  batch: Batch,
): Promise<OrderToConfirm> {
  if (batch.holder !== undefined && !ports.batches.allowsSeveralRunners) throw heldElsewhereError(batch)
  const error = await findPackagesError(ports, batch)
  const orders = await readPendingOrders(ports, batch)
  if (error === undefined) return orders
  if (!(error instanceof NotFoundError) || orders.note === undefined) throw error
  const { message, hint = '' } = error
  const { note, noteRows = [], count } = orders
  const cancel = `refcheck batch cancel ${batch.id}`
  if (noteRows.length === count && batch.counts.held + batch.counts.rejected === 0) {
    const instruction = count === 1 ? 'Take the row' : 'Take the rows'
    throw new NotFoundError(message, { hint: `${note}. ${instruction} out of the batch: ${cancel}` })
  }
  const rows = noteRows.length > maxNamed ? ' --row N' : noteRows.map((row) => ` --row ${row}`).join('')
  throw new NotFoundError(message, { hint: `${note}. Take such rows out with: ${cancel}${rows}\n${hint}` })
}

/** Returns what is known about a successor, and whether rows of the earlier package may be valid for it. */
async function describeSuccessor(
  ports: SchemaServices,
  packageId: number,
  successor: Package,
): Promise<{ text: string; canMove: boolean }> {
  const successorName = `Its likely successor is package ${successor.id} (same name, newer id).`
  try {
    const [oldSchema, newSchema] = [
      await ports.schemas.get(packageId),
      await loadSchema(successor.id, { ...ports, refresh: true }),
    ]
    if (oldSchema === undefined) return { text: successorName, canMove: true }
    const changes = schemaChanges(oldSchema, newSchema)
    const changesText =
      changes.length === 0
        ? 'It has the same fields'
        : changes.map(({ field, change }) => `${field}: ${change}`).join('; ')
    return {
      text: `${successorName} ${changesText}.`,
      canMove: changes.every(({ isMissing }) => isMissing !== true),
    }
  } catch (error) {
    // An unreadable schema of the successor must not hide the error about the package.
    if (error instanceof RefcheckError) return { text: successorName, canMove: true }
    throw error
  }
}

/**
 * "A 400 for an unknown or missing field: read the schema again, check the remaining rows against it, and halt if
 * they no longer fit" (src/docs/ordering.md, section 2). Returns the error, or undefined if all rows are valid.
 */
export async function schemaMismatchError(
  ports: SchemaServices & Pick<Services, 'batches'>,
  batchId: string,
  packageId: number,
): Promise<IncompleteError | undefined> {
  const schema = await loadSchema(packageId, { ...ports, refresh: true })
  let invalid = 0
  let first: string | undefined
  for await (const { row, packageId: packageOfRow, body } of ports.batches.bodies(batchId, {
    states: ['pending'],
  })) {
    if (packageOfRow !== packageId) continue
    const { problems } = validateBody(readJson(new TextDecoder().decode(body)).value, schema)
    const problem = problems?.[0]
    if (problem === undefined) continue
    invalid += 1
    first ??= `row ${row}: ${problemText(problem)}`
  }
  if (first === undefined) return undefined
  return new IncompleteError(
    `the schema of package ${packageId} has changed: ${invalid} of the rows not sent no longer match it (${first})`,
    {
      hint: `Show its fields with: refcheck schema show ${packageId}`,
    },
  )
}
