import { checkedBatch } from './check.ts'
import type { NewRow } from '../../domain/batch/batch.ts'
import { type CheckedFile, newRow } from '../../domain/batch/new-row.ts'
import type { ReadableBatch } from './read-columns.ts'

/** Checks every row and makes of each what the store keeps of it. */
export async function checkFile(orders: ReadableBatch): Promise<CheckedFile> {
  const rows: NewRow[] = []
  const check = await checkedBatch(orders, (reading) => rows.push(newRow(reading)))
  return { check, rows }
}
