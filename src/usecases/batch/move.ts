import type { Batch } from '../../domain/batch/batch.ts'
import { movedBody, notMovable, type InvalidRow } from '../../domain/batch/moving.ts'
import { heldElsewhere } from '../../domain/batch/standing.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { InvalidInputError, NotFoundError, UsageError } from '../../errors/kinds.ts'
import { loadSchema, type SchemaPorts } from '../form/load-schema.ts'
import type { Movable } from '../../store/ledger/held-rows.ts'
import type { BatchPorts } from './standing.ts'

export interface MovePorts extends BatchPorts, SchemaPorts {}

/**
 * What is left of a batch goes on under the package that replaced its own. Every row is checked against the new schema first;
 * where one is invalid there, nothing is moved. The two packages are one from then on. How many rows moved.
 */
export async function moveBatch(parts: MovePorts, batch: Batch, packageId: number): Promise<number> {
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
  const hold = await batches.hold(batch.id)
  if (hold === undefined) throw heldElsewhere(await batches.find(batch.id))
  try {
    const rows: Movable[] = []
    const invalid: InvalidRow[] = []
    for (const row of await waiting.movable(batch.id)) {
      const { body, problems } = movedBody(row.body, schema)
      if (body === undefined) invalid.push({ row: row.row, problems })
      else rows.push({ ...row, body })
    }
    const refused = notMovable(batch, packageId, invalid)
    if (refused !== undefined) throw refused
    // The two would be one package from then on, for everybody, and no row would say why.
    if (rows.length === 0) {
      throw new UsageError(`batch ${batch.id} has no rows left to move`, { hint: 'Nothing was moved.' })
    }
    const moved = await waiting.move(batch.id, packageId, rows, clock.now())
    // What halted it was the package that is gone.
    await batches.recordHalt(batch.id, undefined)
    return moved
  } finally {
    await hold.release()
  }
}

async function requireActive({ api, signal }: MovePorts, packageId: number): Promise<void> {
  const pack = (await api.listPackages({ id: packageId }, signal)).find(({ id }) => id === packageId)
  if (pack === undefined) {
    throw new NotFoundError(`there is no package ${packageId} for this user`, {
      field: 'package_id',
      hint: 'Nothing was moved. List what can be ordered with: refcheck packages list --status active',
    })
  }
  if (pack.status === 'ACTIVE') return
  throw new InvalidInputError(`package ${packageId} (${pack.name}) is ${pack.status}`, {
    field: 'package_id',
    hint: 'Nothing was moved. List what can be ordered with: refcheck packages list --status active',
  })
}
