import type { Batch } from '../../domain/batch/batch.ts'
import { heldElsewhere } from '../../domain/batch/standing.ts'
import { heldWords, sameServiceHint } from '../../domain/submission/duplicate.ts'
import { releasable, type StopReason } from '../../domain/submission/match.ts'
import type { Release } from '../../domain/submission/release.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { Released } from '../../store/ledger/held-rows.ts'
import type { BatchPorts } from './standing.ts'

/** Held rows may be sent after all. Throws a UsageError where a row that is named cannot be. */
export async function releaseRows(
  { batches, waiting, clock }: BatchPorts,
  batch: Batch,
  release: Release,
  by: string,
): Promise<Released> {
  const hold = await batches.hold(batch.id)
  if (hold === undefined) throw heldElsewhere(await batches.find(batch.id))
  try {
    const released = await waiting.release(batch.id, release, { at: clock.now(), by })
    if (release.kind === 'rows') await requireAll(batches, batch, release.rows, released)
    return released
  } finally {
    await hold.release()
  }
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
  if (releasable.includes(why)) {
    throw new UsageError(`row ${first} stays held because of another order: it ${heldWords[why]}${rest}`, {
      hint: `See that order, and release the row again if these are two people: refcheck batch rows ${batchId} --state held`,
    })
  }
  const { value: row } = await batches.rows(batchId, { after: first - 1, limit: 1 }).next()
  const other = row?.matches && (await batches.find(row.matches.batchId))
  throw new UsageError(`row ${first} cannot be released: it ${heldWords[why]}${rest}`, {
    hint: other === undefined ? undefined : firstSettle(why, batch, other),
  })
}

/** What has to be settled or said of the order in the way before the row can go. */
function firstSettle(why: StopReason, { baseUrl }: Batch, other: Batch): string {
  return why === 'other_service'
    ? sameServiceHint(other.baseUrl, baseUrl)
    : `Settle that order first: refcheck batch reconcile ${other.id}`
}
