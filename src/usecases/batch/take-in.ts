import { checkedBatch } from './check.ts'
import type { NewRow } from '../../domain/batch/batch.ts'
import { type CheckedFile, newRow } from '../../domain/batch/new-row.ts'
import type { ReadableBatch } from './read-columns.ts'
import type { Witnesses } from './witnesses.ts'

/** Checks every row and makes of each what the store keeps of it. */
export async function checkFile(orders: ReadableBatch, witnesses?: Witnesses): Promise<CheckedFile> {
  const rows: NewRow[] = []
  const check = await checkedBatch(orders, (reading, ordinal) => {
    rows.push(newRow(reading))
    witnesses?.collect(reading, ordinal)
  })
  await witnesses?.attach(rows)
  return { check, rows }
}
