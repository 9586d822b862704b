import type { Batch } from '../../domain/batch/batch.ts'
import { heldElsewhere } from '../../domain/batch/standing.ts'
import { heldWords } from '../../domain/submission/duplicate.ts'
import { releasable } from '../../domain/submission/match.ts'
import type { Release } from '../../domain/submission/release.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Released } from '../../store/ledger/waiting.ts'
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
    if (release.kind === 'rows') requireAll(batch.id, release.rows, released)
    return released
  } finally {
    await hold.release()
  }
}

function requireAll(batchId: string, rows: readonly number[], { rows: done, left }: Released): void {
  const first = rows.find((row) => !done.includes(row))
  if (first === undefined) return
  const why = left.find(({ row }) => row === first)?.reason
  const rest = done.length === 0 ? '' : `; released: ${done.join(', ')}`
  if (why === undefined) {
    throw new UsageError(`row ${first} of batch ${batchId} is not held${rest}`, {
      hint: `Held rows: refcheck batch rows ${batchId} --state held`,
    })
  }
  if (releasable.includes(why)) {
    throw new UsageError(`row ${first} stays held because of another order: it ${heldWords[why]}${rest}`, {
      hint: `See that order, and release the row again if these are two people: refcheck batch rows ${batchId} --state held`,
    })
  }
  throw new UsageError(`row ${first} cannot be released: it ${heldWords[why]}${rest}`, {
    hint:
      why === 'other_service'
        ? 'Say once whether the two URLs are one service: refcheck store same-service URL URL (or --different)'
        : 'Settle that order first: refcheck batch reconcile',
  })
}
